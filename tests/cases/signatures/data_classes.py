import dataclasses
from dataclasses import KW_ONLY, InitVar, dataclass, field
from typing import ClassVar, Generic, NamedTuple, TypeVar

T = TypeVar("T")
N = TypeVar("N", bound=int)


@dataclass
class Point:
    """A place.

    Attributes:
        x: How far to the right.
    """

    x: float
    y: float = 0
    kind: ClassVar[str] = "point"


@dataclasses.dataclass(order=True)
class Marker(Point):
    label: str = "here"
    _: KW_ONLY
    tags: list[str] = field(default_factory=list)
    made: str = field(init=False, default="")
    extra: InitVar[int] = 3
    stamp: float = field(default_factory=lambda: 1.0)


@dataclass
class Box(Generic[T]):
    content: T
    others: list[T]


class Pair(NamedTuple):
    left: int
    right: str = "r"


class Name(str):
    """A name."""


def data_classes(
    point: Point, marker: Marker, box: Box[int], again: Box[str], any_box: Box, pair: Pair, name: Name, points: list[Point], bound: N
) -> Marker:
    return marker
