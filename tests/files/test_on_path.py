"""A program is there if PATH has it; what has a slash is a path."""

from vespe.files.on_path import is_on_path


def test_a_program_is_looked_for_on_path() -> None:
    assert is_on_path("sh") and is_on_path("./anything")
    assert not is_on_path("no-program-has-this-name")
