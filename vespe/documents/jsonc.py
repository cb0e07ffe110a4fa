"""JSON with comments and trailing commas, as editors keep it: reading it, with the place of every
member.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from vespe.errors import InvalidDocument
from vespe.lazy import pattern
from vespe.models import JsonObject, JsonValue

_SPACE: Final = pattern(r"(?:[ \t\r\n\ufeff]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING: Final = pattern(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_WORD: Final = pattern(r"[-+.\w]+")
_MAX_DEPTH: Final = 200


@dataclass(slots=True, kw_only=True)
class Node:
    """A value and where it stands: `text[start:end]`; `members` are an object's, in their order."""

    start: int
    end: int = 0
    value: JsonValue = None
    members: list["Member"] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Member:
    """One member of an object: its key begins at `start`; `comma` is the place of the comma behind
    it, or None.
    """

    key: str
    start: int
    node: Node
    comma: int | None = None


def parse(text: str, *, path: str = "") -> Node:
    """Read a whole document; raises InvalidDocument with the line and column of what is wrong."""
    return _Parser(text, path).document()


def find(node: Node, steps: Sequence[str], *, path: str = "") -> Member | None:
    """Return the member that the keys of `steps` lead to, or None.

    Raises InvalidDocument where something on the way is no object, or has the key twice.
    """
    member: Member | None = None
    for number, key in enumerate(steps):
        at = "".join(f"/{step}" for step in steps[:number])
        if not isinstance(node.value, dict):
            raise InvalidDocument("must contain an object here", path=path, pointer=at)
        same = [candidate for candidate in node.members if candidate.key == key]
        if len(same) > 1:
            raise InvalidDocument(
                f"has the key {json.dumps(key)} twice in one object", path=path, pointer=at
            )
        if not same:
            return None
        member, node = same[0], same[0].node
    return member


class _Parser:
    def __init__(self, text: str, path: str) -> None:
        self.text, self.path, self.depth = text, path, 0

    def document(self) -> Node:
        node = self.value(self.space(0))
        end = self.space(node.end)
        if end < len(self.text):
            self.fail(end, "contains more than one value")
        return node

    def space(self, at: int) -> int:
        found = _SPACE.match(self.text, at)
        end = found.end() if found else at
        if self.text.startswith("/*", end):
            self.fail(end, "contains a comment that does not end")
        return end

    def value(self, at: int) -> Node:
        start = self.text[at : at + 1]
        if start in ("{", "["):
            self.depth += 1
            if self.depth > _MAX_DEPTH:
                self.fail(at, f"is nested deeper than {_MAX_DEPTH} levels")
            node = self.object(at) if start == "{" else self.array(at)
            self.depth -= 1
            return node
        if start == '"':
            text, end = self.string(at)
            return Node(start=at, end=end, value=text)
        word = _WORD.match(self.text, at)
        if word is None:
            self.fail(
                at,
                f"has {start!r} where a value should be"
                if start
                else "ends where a value should be",
            )
        return Node(start=at, end=word.end(), value=self.loaded(word[0], at))

    def object(self, start: int) -> Node:
        node, at = Node(start=start, value={}), self.space(start + 1)
        while not self.text.startswith("}", at):
            if not self.text.startswith('"', at):
                self.fail(at, "needs a key in double quotes here, or the } that ends the object")
            begin = at
            key, at = self.string(at)
            at = self.space(at)
            if not self.text.startswith(":", at):
                self.fail(at, f"needs a : after the key {json.dumps(key)}")
            member = Member(key=key, start=begin, node=self.value(self.space(at + 1)))
            node.members.append(member)
            node.value[key] = member.node.value
            at = self.space(member.node.end)
            if self.text.startswith(",", at):
                member.comma, at = at, self.space(at + 1)
            elif not self.text.startswith("}", at):
                self.fail(at, "needs a comma or the } that ends the object")
        node.end = at + 1
        return node

    def array(self, start: int) -> Node:
        items: list[Any] = []
        at = self.space(start + 1)
        while not self.text.startswith("]", at):
            item = self.value(at)
            items.append(item.value)
            at = self.space(item.end)
            if self.text.startswith(",", at):
                at = self.space(at + 1)
            elif not self.text.startswith("]", at):
                self.fail(at, "needs a comma or the ] that ends the array")
        return Node(start=start, end=at + 1, value=items)

    def string(self, at: int) -> tuple[str, int]:
        found = _STRING.match(self.text, at)
        if found is None:
            self.fail(at, "contains a string that does not end on its line")
        return str(self.loaded(found[0], at)), found.end()

    def loaded(self, text: str, at: int) -> JsonValue:
        try:
            return json.loads(text)
        except ValueError:
            self.fail(at, f"holds {text[:60]!r}, which JSON cannot represent")

    def fail(self, at: int, reason: str) -> NoReturn:
        line = self.text.count("\n", 0, at) + 1
        column = at - self.text.rfind("\n", 0, at)
        raise InvalidDocument(reason, path=self.path, line=line, column=column)


def as_object(node: Node, *, path: str = "") -> JsonObject:
    """Return the document's root object; raises InvalidDocument where it is anything else."""
    if not isinstance(node.value, dict):
        raise InvalidDocument("must be a JSON object", path=path, line=1)
    return node.value


_REST_OF_LINE: Final = pattern(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/)?[ \t]*(?=\r?\n|\Z)")
_INDENT: Final = "  "


def with_member(text: str, steps: Sequence[str], value: JsonValue, *, path: str = "") -> str:
    """Return `text` with the member at `steps` set to `value`; objects on the way are made where
    they are missing.

    A new member comes last in its object, laid out as its neighbours are. Blank text stands for
    `{}`. Raises as `parse` and `find`.
    """
    if not text.strip("\ufeff \t\r\n"):
        text = f"{text.strip(' ')}{{}}\n" if text.startswith("\ufeff") else "{}\n"
    node = parse(text, path=path)
    as_object(node, path=path)
    layout = _Layout(text, node)
    known = find(node, steps, path=path)
    if known is not None:
        written = layout.value(value, layout.indent_at(known.start))
        return (
            text
            if known.node.value == value
            else text[: known.node.start] + written + text[known.node.end :]
        )
    depth = max(
        number
        for number in range(len(steps))
        if not number or find(node, steps[:number], path=path)
    )
    parent = find(node, steps[:depth], path=path) if depth else None
    for key in reversed(steps[depth + 1 :]):
        value = {key: value}
    return _inserted(layout, parent.node if parent else node, steps[depth], value)


def without_member(text: str, steps: Sequence[str], *, path: str = "") -> str:
    """Return `text` without the member at `steps`; the same text where there is none. Raises as
    `with_member` does.
    """
    if not text.strip("\ufeff \t\r\n"):
        return text
    node = parse(text, path=path)
    member = find(node, steps, path=path)
    if member is None:
        return text
    above = find(node, steps[:-1], path=path)
    return _removed(text, above.node if above else node, member)


class _Layout:
    """How a file is laid out: its line ends, and by what its members are indented; one line stays
    one line.
    """

    def __init__(self, text: str, root: Node) -> None:
        self.text = text
        self.newline = "\r\n" if "\r\n" in text else "\n"
        body = text[root.start : root.end]
        self.one_line = "\n" not in body and bool(root.members)
        first = root.members[0].start if root.members else root.start
        self.unit = (self.indent_at(first) if "\n" in text[root.start : first] else "") or _INDENT

    def indent_at(self, place: int) -> str:
        """Return the white space that the line of `place` begins with."""
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
            return (
                f"{text[: parent.start + 1]}{json.dumps(key)}: "
                f"{layout.value(value, '')}{text[inner_end:]}"
            )
        indent = outer + layout.unit
        kept = text[parent.start + 1 : inner_end].rstrip()
        member = (
            f"{layout.newline}{indent}{json.dumps(key)}: "
            f"{layout.value(value, indent)}{layout.newline}{outer}"
        )
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
    index, end = (
        parent.members.index(member),
        member.node.end if member.comma is None else member.comma + 1,
    )
    before = parent.members[index - 1] if index else None
    line = text.rfind("\n", 0, member.start) + 1
    rest = _REST_OF_LINE.match(text, end)
    if (
        len(parent.members) == 1
        and not (text[parent.start + 1 : member.start] + text[end : parent.end - 1]).strip()
    ):
        return text[: parent.start + 1] + text[parent.end - 1 :]
    if rest is not None and not text[line : member.start].strip(" \t"):
        cut = text[: line - 1].removesuffix("\r") + text[rest.end() :]
        dangling = before.comma if before is not None and member.comma is None else None
        return cut if dangling is None else cut[:dangling] + cut[dangling + 1 :]
    if member is not parent.members[-1]:
        return text[: member.start] + text[parent.members[index + 1].start :]
    return (
        text[: member.start] + text[end:]
        if before is None
        else text[: before.node.end] + text[member.node.end :]
    )
