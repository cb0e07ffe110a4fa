"""A small part of the sweep over large results; `./dev acceptance results` does all of it."""

import pytest

from tests.acceptance.results import referred, swept


@pytest.mark.usefixtures("home")
def test_no_result_is_over_its_bound_and_none_is_lost() -> None:
    found = swept(10, 300_000)
    assert (found["results"], found["over"], found["lost"]) == (10, 0, 0)
    assert found["tokens"]["told"] < found["tokens"]["whole"]


@pytest.mark.usefixtures("home")
def test_no_wrong_reference_comes_to_a_tool_and_every_right_one_does() -> None:
    assert referred(50) == {"references": 50, "through": 0, "honest": 50}
