from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict, Union

Json = Union[dict[str, "Json"], list["Json"], str, int, float, bool, None]
Loop = "Loop"
Left = Union["Right", int]
Right = Union["Left", str]


@dataclass
class Node:
    value: int
    children: list[Node]
    parent: Node | None = None


class Odd(TypedDict):
    even: Even | None


class Even(TypedDict):
    odd: Odd | None


def recursive(node: Node, json: Json, odd: Odd, loop: Loop, left: Left, second: Node | None = None) -> Node:
    return node
