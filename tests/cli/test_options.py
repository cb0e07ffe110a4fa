"""Options that several verbs share."""

import pytest

from vespe.cli.options import confirm
from vespe.errors import Refused


def test_a_yes_asks_nothing() -> None:
    confirm("Delete it?", yes=True)


def test_without_a_terminal_the_question_is_a_refusal_that_names_the_option() -> None:
    with pytest.raises(Refused, match="Delete it") as refused:
        confirm("Delete it?", yes=False)
    assert "--yes" in refused.value.hint
