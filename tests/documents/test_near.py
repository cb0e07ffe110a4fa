"""The words that a mistyped one may have meant."""

import pytest

from vespe.documents.near import choice, join_words, near, suggest

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
    assert (
        suggest("claude", ["claude-code", "claude-desktop", "zed"])
        == "did you mean claude-code or claude-desktop?"
    )
    assert suggest("emacs", ["claude-code", "zed"]) == ""


def test_a_list_that_is_cut_says_how_many_are_left_out() -> None:
    assert (
        join_words("abc", most=3, see="see FILE") == "a, b, c"
        and join_words("abcde", most=3) == "a, b, c and 2 more"
    )
    assert (
        join_words("abcde", most=3, see="see FILE", apart="; ") == "a; b; c and 2 more (see FILE)"
    )


def test_a_hint_names_the_nearest_word_else_every_word() -> None:
    assert choice("http", TYPES) == "did you mean http_request?"
    assert choice("zzz", TYPES) == "there are python_script, shell_command, http_request"


def test_the_case_of_letters_makes_no_difference() -> None:
    assert near("LST", ["lst", "calc"]) == ["lst"] and near("lst", ["LST"]) == ["LST"]
    assert near("calx", ["Calc", "calc", "other"]) == ["Calc", "calc"]
