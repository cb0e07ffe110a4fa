"""Words that every import shares."""

import pytest

from vespe.features.imports.made import plain, short, slug, uid_of
from vespe.tools.names import NAME_PATTERN, UID_PATTERN


@pytest.mark.parametrize("text", ["", "a", "a b", "ü", "x" * 100, "-a", "9", "a/b", "\n"])
def test_a_slug_is_a_tools_name(text: str) -> None:
    assert NAME_PATTERN.fullmatch(slug(text))


@pytest.mark.parametrize("name", ["a", "A" * 64, "a_b-c", "_"])
def test_a_uid_is_one_and_says_which_tool_of_which_kit(name: str) -> None:
    assert UID_PATTERN.fullmatch(uid_of("kit", name))
    assert uid_of("kit", name) != uid_of("other", name)


def test_a_text_is_cut_at_the_end_of_a_sentence() -> None:
    assert short("One. Two. Three is long.", most=12) == "One. Two."
    assert short("short") == "short"


def test_what_nobody_sees_is_not_taken_over() -> None:
    assert plain(" a\u200bb\r\n\ud800 ${env:X} ") == "a b\n  $ {env:X}"
    assert plain(None) == ""
