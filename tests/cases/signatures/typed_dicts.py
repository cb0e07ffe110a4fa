from typing import NotRequired, Required, TypedDict, Unpack


class Base(TypedDict):
    """Where it is."""

    x: int
    """How far to the right."""
    y: NotRequired[int]


class Place(Base, total=False):
    name: Required[str]
    tags: list[str]


Alternative = TypedDict("Alternative", {"in": str, "out-of": "NotRequired[int]"})


class Options(TypedDict, total=False):
    depth: Required[int]
    wide: bool


def typed_dicts(place: Place, other: Alternative, **options: Unpack[Options]) -> Base:
    return place
