"""Where what was found stands: the file of a definition, from a part of it to a pointer, a line and
a column; and its ignores.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Final, NamedTuple

from vespe.documents import positions
from vespe.documents.positions import Position
from vespe.errors import InvalidDocument, StorageError
from vespe.features.lint.base import AnyRule, Found
from vespe.features.lint.findings import Finding
from vespe.files import atomic
from vespe.models import Severity
from vespe.records import dataclass

_VESPE: Final = {
    "": "",
    "name": "/name",
    "description": "/description",
    "input_schema": "/schema/input",
    "output_schema": "/schema/output",
    "annotations": "/annotations",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The file that a definition stands in.

    `kind` is as in `positions.locate`; `text` is None until it is read, which only a finding needs.
    `pointers` are the places of the definition's parts in it; those of a config.json unless said.
    """

    path: str
    kind: str = "json"
    text: str | None = None
    pointers: Mapping[str, str] = field(default_factory=lambda: _VESPE)

    def read(self) -> str:
        """Return the text; "" where it cannot be read any more."""
        if self.text is not None:
            return self.text
        try:
            return atomic.read_bytes(self.path).decode("utf-8", "replace")
        except (InvalidDocument, StorageError):
            return ""

    def pointer(self, found: Found) -> str:
        """Return the place of what was found: of the whole where its part is not there."""
        if found.file is not None:
            return ""
        if found.part in self.pointers:
            return self.pointers[found.part] + found.pointer
        return self.pointers[""] + ("" if found.part else found.pointer)

    def beside(self, file: str) -> str:
        """Return the path of another file of the same directory."""
        return os.path.normpath(os.path.join(os.path.dirname(self.path), file))


class Told(NamedTuple):
    """What one rule found in one definition, before its line is known."""

    rule: AnyRule
    found: Found
    severity: Severity
    source: Source
    tool: str | None


@dataclass(slots=True)
class Ignores:
    """What one file asks to let be, and what of it was needed."""

    source: Source
    reasons: Mapping[str, str]
    tool: str | None = None
    used: set[str] = field(default_factory=set)

    def holds(self, code: str) -> bool:
        """Whether a code is let be; it is then needed."""
        if code in self.reasons:
            self.used.add(code)
        return code in self.reasons


def placed(told: Iterable[Told]) -> Iterator[Finding]:
    """Return the findings with their lines; the text of each file is scanned once, however many
    there are in it.
    """
    by_file: dict[str, list[Told]] = {}
    for one in told:
        by_file.setdefault(one.source.path, []).append(one)
    for items in by_file.values():
        source = items[0].source
        pointers = {one.source.pointer(one.found) for one in items}
        places = positions.locate(
            source.read() if pointers != {""} else "", pointers, kind=source.kind
        )
        for one in items:
            yield _finding(one, places[one.source.pointer(one.found)])


def position_of(found: Found, place: Position) -> Position:
    """Return the line and column of what was found; `place` is that of its pointer."""
    if found.line:
        return found.line, found.column or 1
    return place if found.file is None else positions.START


def _finding(one: Told, place: Position) -> Finding:
    return finding(one, one.source.pointer(one.found), position_of(one.found, place))


def finding(one: Told, pointer: str, place: Position) -> Finding:
    """Return what was found as it is told, at its place."""
    return Finding(
        rule=one.rule.code,
        severity=one.severity,
        message=one.found.message,
        path=one.source.path if one.found.file is None else one.source.beside(one.found.file),
        pointer=pointer,
        line=place[0],
        column=place[1],
        tool=one.tool,
        fix=one.found.fix,
    )
