"""Setting and removing one member of a JSON file with comments; every other byte of it stays."""

import json
import re
from collections.abc import Sequence
from typing import Final

from vespe.documents import jsonc
from vespe.documents.jsonc import Member, Node
from vespe.models import JsonValue

_REST_OF_LINE: Final = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/)?[ \t]*(?=\r?\n|\Z)")
_INDENT: Final = "  "


def with_member(text: str, steps: Sequence[str], value: JsonValue, *, path: str = "") -> str:
    """Give `text` with the member at `steps` set to `value`; objects on the way are made where they are missing.

    A new member comes last in its object, laid out as its neighbours are. Blank text stands for `{}`. Raises as `jsonc.parse` and `find`.
    """
    if not text.strip("\ufeff \t\r\n"):
        text = f"{text.strip(' ')}{{}}\n" if text.startswith("\ufeff") else "{}\n"
    node = jsonc.parse(text, path=path)
    jsonc.as_object(node, path=path)
    layout = _Layout(text, node)
    known = jsonc.find(node, steps, path=path)
    if known is not None:
        written = layout.value(value, layout.indent_at(known.start))
        return text if known.node.value == value else text[: known.node.start] + written + text[known.node.end :]
    depth = max(number for number in range(len(steps)) if not number or jsonc.find(node, steps[:number], path=path))
    parent = jsonc.find(node, steps[:depth], path=path) if depth else None
    for key in reversed(steps[depth + 1 :]):
        value = {key: value}
    return _inserted(layout, parent.node if parent else node, steps[depth], value)


def without_member(text: str, steps: Sequence[str], *, path: str = "") -> str:
    """Give `text` without the member at `steps`; the same text where there is none. Raises as `with_member` does."""
    if not text.strip("\ufeff \t\r\n"):
        return text
    node = jsonc.parse(text, path=path)
    member = jsonc.find(node, steps, path=path)
    if member is None:
        return text
    above = jsonc.find(node, steps[:-1], path=path)
    return _removed(text, above.node if above else node, member)


class _Layout:
    """How a file is laid out: its line ends, and by what its members are indented; one line stays one line."""

    def __init__(self, text: str, root: Node) -> None:
        self.text = text
        self.newline = "\r\n" if "\r\n" in text else "\n"
        body = text[root.start : root.end]
        self.one_line = "\n" not in body and bool(root.members)
        first = root.members[0].start if root.members else root.start
        self.unit = (self.indent_at(first) if "\n" in text[root.start : first] else "") or _INDENT

    def indent_at(self, place: int) -> str:
        """Give the white space that the line of `place` begins with."""
        line = self.text.rfind("\n", 0, place) + 1
        rest = self.text[line:place].lstrip("\ufeff")
        return rest[: len(rest) - len(rest.lstrip(" \t"))]

    def value(self, value: JsonValue, indent: str) -> str:
        """Write a value whose first line stands in a line that is indented by `indent`."""
        if self.one_line:
            return json.dumps(value, ensure_ascii=False)
        written = json.dumps(value, ensure_ascii=False, indent=self.unit)
        return written.replace("\n", self.newline + indent)


def _inserted(layout: _Layout, parent: Node, key: str, value: JsonValue) -> str:
    text, inner_end = layout.text, parent.end - 1
    if not parent.members:
        outer = layout.indent_at(parent.start)
        if layout.one_line:
            return f"{text[: parent.start + 1]}{json.dumps(key)}: {layout.value(value, '')}{text[inner_end:]}"
        indent = outer + layout.unit
        kept = text[parent.start + 1 : inner_end].rstrip()
        member = f"{layout.newline}{indent}{json.dumps(key)}: {layout.value(value, indent)}{layout.newline}{outer}"
        return text[: parent.start + 1] + kept + member + text[inner_end:]
    last = parent.members[-1]
    place = last.node.end if last.comma is None else last.comma + 1
    comma = "," if last.comma is None else ""
    trailing = "" if last.comma is None else ","
    if "\n" not in text[parent.start : last.start]:
        member = f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}{trailing}"
        return text[:place] + comma + member + text[place:]
    indent = layout.indent_at(last.start)
    rest = _REST_OF_LINE.match(text, place)
    after = rest.end() if rest else place
    member = f"{layout.newline}{indent}{json.dumps(key)}: {layout.value(value, indent)}{trailing}"
    return text[:place] + comma + text[place:after] + member + text[after:]


def _removed(text: str, parent: Node, member: Member) -> str:
    index, end = parent.members.index(member), member.node.end if member.comma is None else member.comma + 1
    before = parent.members[index - 1] if index else None
    line = text.rfind("\n", 0, member.start) + 1
    rest = _REST_OF_LINE.match(text, end)
    if len(parent.members) == 1 and not (text[parent.start + 1 : member.start] + text[end : parent.end - 1]).strip():
        return text[: parent.start + 1] + text[parent.end - 1 :]
    if rest is not None and not text[line : member.start].strip(" \t"):
        cut = text[: line - 1].removesuffix("\r") + text[rest.end() :]
        dangling = before.comma if before is not None and member.comma is None else None
        return cut if dangling is None else cut[:dangling] + cut[dangling + 1 :]
    if member is not parent.members[-1]:
        return text[: member.start] + text[parent.members[index + 1].start :]
    return text[: member.start] + text[end:] if before is None else text[: before.node.end] + text[member.node.end :]
