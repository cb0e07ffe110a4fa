"""Markdown as a model streams it, its headings, code and emphasis coloured; every mark stays, so
that it is copied as it was written.
"""

from typing import Final

import click

from vespe.lazy import pattern

_PIECES: Final = pattern(r"\n|`+|\*+|#+|[^\n`*#]+")


class Painter:
    """Colours one answer; a mark that could still grow waits for what comes behind it, and whatever
    a line opened ends with it.
    """

    def __init__(self) -> None:
        self._held = ""
        self._fenced = False
        self._begin()

    def paint(self, text: str) -> str:
        """Return what can be shown of the text so far, with colours; `end` gives the rest."""
        pieces = _PIECES.findall(self._held + text)
        self._held = pieces.pop() if pieces and pieces[-1][0] in "`*#" else ""
        return "".join(map(self._painted, pieces))

    def end(self) -> str:
        """Return what still waits; the next text begins a new answer."""
        rest = self._painted(self._held) if self._held else ""
        self._held, self._fenced = "", False
        self._begin()
        return rest

    def _begin(self) -> None:
        self._fresh, self._heading, self._code, self._strong = True, False, "", False

    def _painted(self, piece: str) -> str:
        if piece == "\n":
            self._begin()
            return piece
        fresh, self._fresh = self._fresh, self._fresh and piece.isspace()
        if fresh and piece.startswith("```"):
            self._fenced = not self._fenced
            self._code = piece  # the line of the fence itself is code, whichever it is
            return click.style(piece, fg="cyan")
        if self._fenced or self._code.startswith("```"):
            return click.style(piece, fg="cyan")
        return self._in_text(piece, fresh=fresh)

    def _in_text(self, piece: str, *, fresh: bool) -> str:
        self._heading = self._heading or (fresh and piece[0] == "#")
        was_code, was_strong = self._code, self._strong
        if piece[0] == "`" and was_code in ("", piece):
            self._code = "" if was_code else piece
        elif piece.startswith("**") and not was_code:
            self._strong = not was_strong
        if was_code or self._code:
            return click.style(piece, fg="cyan")
        return (
            click.style(piece, bold=True) if self._heading or was_strong or self._strong else piece
        )
