"""The words that a mistyped one may have meant."""

import pytest

from vespe.cli.near import meant, near

TYPES = ["python_script", "shell_command", "http_request"]


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("python", ["python_script"]),
        ("HTTP", ["http_request"]),
        ("shell_comand", ["shell_command"]),
        ("p", []),
        ("zzz", []),
        ("", []),
    ],
)
def test_a_beginning_or_a_slip_of_the_keys_finds_the_word(word: str, found: list[str]) -> None:
    assert near(word, TYPES) == found


def test_what_is_near_is_said_as_a_question_and_nothing_is_said_of_what_is_not() -> None:
    assert meant("claude", ["claude-code", "claude-desktop", "zed"]) == "did you mean claude-code or claude-desktop?"
    assert meant("emacs", ["claude-code", "zed"]) == ""
