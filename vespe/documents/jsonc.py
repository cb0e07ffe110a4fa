"""JSON with comments and trailing commas, as editors keep it: reading it, with the place of every member."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from vespe.errors import InvalidDocument
from vespe.models import JsonObject, JsonValue

_SPACE: Final = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_WORD: Final = re.compile(r"[-+.\w]+")
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
    """One member of an object: its key begins at `start`; `comma` is the place of the comma behind it, or None."""

    key: str
    start: int
    node: Node
    comma: int | None = None


def parse(text: str, *, path: str = "") -> Node:
    """Read a whole document; raises InvalidDocument with the line and column of what is wrong."""
    return _Parser(text, path).document()


def find(node: Node, steps: Sequence[str], *, path: str = "") -> Member | None:
    """Give the member that the keys of `steps` lead to, or None.

    Raises InvalidDocument where something on the way is no object, or has the key twice.
    """
    member: Member | None = None
    for number, key in enumerate(steps):
        at = "".join(f"/{step}" for step in steps[:number])
        if not isinstance(node.value, dict):
            raise InvalidDocument("must hold an object here", path=path, pointer=at)
        same = [candidate for candidate in node.members if candidate.key == key]
        if len(same) > 1:
            raise InvalidDocument(f"has the key {json.dumps(key)} twice in one object", path=path, pointer=at)
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
            self.fail(end, "holds more than one value")
        return node

    def space(self, at: int) -> int:
        found = _SPACE.match(self.text, at)
        end = found.end() if found else at
        if self.text.startswith("/*", end):
            self.fail(end, "holds a comment that does not end")
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
            self.fail(at, f"has {start!r} where a value should be" if start else "ends where a value should be")
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
                self.fail(at, f"needs a : behind the key {json.dumps(key)}")
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
            self.fail(at, "holds a text that does not end on its line")
        return str(self.loaded(found[0], at)), found.end()

    def loaded(self, text: str, at: int) -> JsonValue:
        try:
            return json.loads(text)
        except ValueError:
            self.fail(at, f"holds {text[:60]!r}, which JSON cannot say")

    def fail(self, at: int, reason: str) -> NoReturn:
        line = self.text.count("\n", 0, at) + 1
        column = at - self.text.rfind("\n", 0, at)
        raise InvalidDocument(reason, path=self.path, line=line, column=column)


def as_object(node: Node, *, path: str = "") -> JsonObject:
    """Give the document's root object; raises InvalidDocument where it is anything else."""
    if not isinstance(node.value, dict):
        raise InvalidDocument("must hold a JSON object", path=path, line=1)
    return node.value
