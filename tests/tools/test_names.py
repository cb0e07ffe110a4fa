"""`vespe.tools.names`: what a tool can be called."""

import pytest

from vespe.tools.names import NAME_PATTERN, UID_PATTERN


@pytest.mark.parametrize("name", ["a", "_a", "read_file", "read-file", "A9", "a" * 64])
def test_a_name_is_letters_digits_and_two_signs(name: str) -> None:
    assert NAME_PATTERN.fullmatch(name)


@pytest.mark.parametrize("name", ["", "9a", "-a", "a b", "a.b", "ä", "a\n", "a" * 65])
def test_what_a_model_api_would_refuse_is_no_name(name: str) -> None:
    assert not NAME_PATTERN.fullmatch(name)


@pytest.mark.parametrize("uid", ["tool-a", "tool-0", "tool-uid_write_file", "tool-" + "a" * 59])
def test_a_uid_is_the_name_of_a_directory(uid: str) -> None:
    assert UID_PATTERN.fullmatch(uid)


@pytest.mark.parametrize("uid", ["", "tool-", "tool-A", "tool-a/..", "tool-.", "a", "tool-a\n"])
def test_a_uid_cannot_lead_out_of_its_directory(uid: str) -> None:
    assert not UID_PATTERN.fullmatch(uid)
