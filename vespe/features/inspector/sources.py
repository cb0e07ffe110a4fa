"""The files of a tool's directory as a page shows them: text, cut where it is long, and never
through a link.
"""

import os
import stat
from typing import Final

from vespe.files import walk
from vespe.records import dataclass

MAX_SHOWN: Final = 128 * 1024
"""Bytes of one file that are shown."""
MAX_FILES: Final = 60
_FIRST: Final = ("config.json", "description.md")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One file: its path in the directory, its size in bytes, and its text, None where it is none;
    `is_cut` where that goes on.
    """

    path: str
    size: int
    text: str | None
    is_cut: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """The files of one directory; `odd` says of each path that is not shown why, `more` counts the
    files that are too many.
    """

    files: tuple[Source, ...]
    odd: dict[str, str]
    more: int


def sources_of(directory: str) -> Sources:
    """Read a tool's directory: its script first, then the rest by name."""
    found: dict[str, Source] = {}

    def visit(path: str, descriptor: int, status: os.stat_result) -> str:
        found[path] = (
            _read(path, descriptor, status)
            if len(found) < MAX_FILES
            else Source(path=path, size=0, text=None, is_cut=False)
        )
        return ""

    tree = walk.scan(os.path.dirname(directory), os.path.basename(directory), visit=visit)
    ordered = sorted(found.values(), key=lambda file: (file.path in _FIRST, file.path))
    return Sources(
        files=tuple(ordered[:MAX_FILES]), odd=dict(tree.odd), more=max(0, len(ordered) - MAX_FILES)
    )


def _read(path: str, descriptor: int, status: os.stat_result) -> Source:
    data = b""
    while (
        len(data) <= MAX_SHOWN
        and stat.S_ISREG(status.st_mode)
        and (piece := os.read(descriptor, MAX_SHOWN + 1 - len(data)))
    ):
        data += piece
    is_cut = len(data) > MAX_SHOWN
    return Source(
        path=path, size=status.st_size, text=_text(data[:MAX_SHOWN], is_cut=is_cut), is_cut=is_cut
    )


def _text(data: bytes, *, is_cut: bool) -> str | None:
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        return (
            data[: error.start].decode("utf-8") if is_cut and error.start > len(data) - 4 else None
        )
