"""Sentences at the width of a terminal: broken between words, with commands in backticks whole,
so that they can be copied.
"""

import os
from typing import Any, Final

from vespe.lazy import pattern, unicodedata

_STYLE: Final = pattern(r"\x1b\[[0-9;]*m")
_WORD: Final = pattern(r"( *)((?:[^\s`]*`[^`\n]*`)+[^\s`]*|\S+)")
"""A word with the spaces before it; what stands in backticks is one."""
_SECOND: Final = pattern(r"( *)\S+(?: \S+)* {2,}(?=\S)")
"""What stands before the second column of a line that has one."""
_LEAST: Final = 20
"""Below this width the terminal itself breaks lines better."""


def width_of(stream: Any) -> int:
    """Return the columns of the terminal that a stream is, 0 where it is none or does not say."""
    if not stream.isatty():
        return 0
    if (said := os.environ.get("COLUMNS", "")).isdigit():
        return int(said)
    try:
        return os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        return 0


def wrap(text: str, stream: Any, *, hanging: int | None = 2) -> str:
    """Return the text with each line that is wider than the stream's terminal broken between words;
    what follows stands `hanging` columns further in than the line, with None beneath its second
    column. In a pipe the text stays as it is.
    """
    width = width_of(stream)
    if width < _LEAST:
        return text
    return "\n".join(
        line if _columns(line) <= width else _broken(line, width, _hanging(line, hanging))
        for line in text.split("\n")
    )


def _hanging(line: str, said: int | None) -> int:
    if said is not None:
        return said
    bare = _STYLE.sub("", line)
    second = _SECOND.match(bare)
    return 0 if second is None else second.end() - len(second[1])


def _broken(line: str, width: int, hanging: int) -> str:
    bare = _STYLE.sub("", line)
    further = min(len(bare) - len(bare.lstrip(" ")) + hanging, width // 2)
    lines, used = [""], 0
    for spaces, word in _words(line):
        taken = _columns(word)
        if used and used + len(spaces) + taken > width and lines[-1].strip():
            lines.append(" " * further)
            used, spaces = further, ""
        lines[-1] += spaces + word
        used += len(spaces) + taken
    return "\n".join(lines)


def _words(line: str) -> list[tuple[str, str]]:
    """Return each word with the spaces before it. A quoted command is one word: broken by the
    terminal itself it can still be copied.
    """
    return [(place[1], place[2]) for place in _WORD.finditer(line)]


def _columns(text: str) -> int:
    """Return how many columns a terminal shows a text in."""
    bare = _STYLE.sub("", text)
    if bare.isascii():
        return len(bare)
    return sum(
        0 if unicodedata.combining(one) else 2 if unicodedata.east_asian_width(one) in "WF" else 1
        for one in bare
    )
