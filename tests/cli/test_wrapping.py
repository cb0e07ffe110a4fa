"""Where the lines of a terminal break."""

import io

import pytest

from vespe.cli.wrapping import wrap


class Terminal(io.StringIO):
    """A terminal of as many columns as COLUMNS says."""

    def isatty(self) -> bool:
        return True


def at(columns: int, text: str, monkeypatch: pytest.MonkeyPatch, hanging: int | None = 2) -> str:
    monkeypatch.setenv("COLUMNS", str(columns))
    return wrap(text, Terminal(), hanging=hanging)


def test_lines_break_between_words_and_go_on_further_in(monkeypatch: pytest.MonkeyPatch) -> None:
    assert at(24, "one two three four five six", monkeypatch) == "one two three four five\n  six"
    assert at(24, "   one two three four five", monkeypatch) == "   one two three four\n     five"


def test_a_line_that_fits_and_a_pipe_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "ok       one  two\n\nthree"
    assert at(24, text, monkeypatch) == text
    assert wrap("word " * 100, io.StringIO()) == "word " * 100


def test_a_quoted_command_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (
        at(30, "hint: to see all (`vespe tool list --all`) now", monkeypatch)
        == "hint: to see all\n  (`vespe tool list --all`)\n  now"
    )
    long = "`vespe kit remove srv --project '/a b/c d'`"
    assert at(20, f"or say {long} there", monkeypatch) == f"or say\n  {long}\n  there"


def test_styles_have_no_width_and_wide_characters_have_two(monkeypatch: pytest.MonkeyPatch) -> None:
    assert at(20, "\x1b[31merror:\x1b[0m 1234567890123 x", monkeypatch).count("\n") == 1
    assert at(20, "\x1b[31merror:\x1b[0m 1234567890123", monkeypatch).count("\n") == 0
    assert at(20, "字" * 5 + " " + "字" * 5, monkeypatch) == "字" * 5 + "\n  " + "字" * 5


def test_what_goes_on_can_stand_beneath_the_second_column(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (
        at(22, "  NO  any value: without", monkeypatch, None) == "  NO  any value:\n      without"
    )
    assert at(20, "a line of one column alone", monkeypatch, None) == "a line of one column\nalone"


@pytest.mark.parametrize("columns", ["0", "5", "many"])
def test_a_width_that_says_nothing_breaks_nothing(
    columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert wrap("word " * 100, Terminal()) == "word " * 100
