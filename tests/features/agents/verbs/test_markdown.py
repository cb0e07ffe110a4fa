"""Markdown is coloured as it streams, and stays what it is."""

import re

import pytest

from vespe.features.agents.verbs.markdown import Painter

ANSWER = (
    "# Title of it\n\nUse **two** of `a * b`, not ``x`y``.\n\n```python\n# no heading: "
    "**p\nx = `1`\n```\n* an item, 2 * 3\n"
)
STYLE = re.compile(r"(\x1b\[[0-9;]*m)")


def cells(painted: str) -> list[tuple[str, str]]:
    """Each character with the style that it is shown in."""
    found, style = list[tuple[str, str]](), ""
    for piece in STYLE.split(painted):
        if STYLE.fullmatch(piece):
            style = "" if piece == "\x1b[0m" else piece
        else:
            found += [(one, style) for one in piece]
    return found


def painted(*pieces: str) -> list[tuple[str, str]]:
    painter = Painter()
    return cells("".join(map(painter.paint, pieces)) + painter.end())


def styled(text: str) -> str:
    return "".join(one for one, style in painted(text) if style)


@pytest.mark.parametrize(
    ("text", "coloured"),
    [
        ("plain, 2 * 3 # 4", ""),
        ("## Title\nplain", "## Title"),
        ("a **b** c", "**b**"),
        ("a `b **c**` d", "`b **c**`"),
        ("a ``b`c`` d", "``b`c``"),
        ("```sh\nls `x`\n```\nplain", "```shls `x````"),
        ("**open\nplain", "**open"),
        ("`", "`"),
    ],
)
def test_headings_code_and_emphasis_are_coloured_and_nothing_else(text: str, coloured: str) -> None:
    assert styled(text).replace("\n", "") == coloured
    assert "".join(one for one, _ in painted(text)) == text


def test_however_an_answer_is_cut_into_pieces_it_looks_the_same() -> None:
    whole = painted(ANSWER)
    assert "".join(one for one, _ in whole) == ANSWER
    assert painted(*ANSWER) == whole
    assert all(painted(ANSWER[:cut], ANSWER[cut:]) == whole for cut in range(len(ANSWER)))


def test_an_answer_begins_anew_whatever_the_one_before_left_open() -> None:
    painter = Painter()
    painter.paint("```\ncode\n")
    painter.end()
    assert painter.paint("plain") == "plain"


def test_words_are_shown_as_they_come() -> None:
    painter = Painter()
    assert [painter.paint(piece) for piece in ("Hel", "lo ", "you")] == ["Hel", "lo ", "you"]
