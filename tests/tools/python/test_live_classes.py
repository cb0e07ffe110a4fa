"""Classes of the running program as shapes."""

import enum
from dataclasses import dataclass
from typing import NamedTuple, TypedDict

import pytest

from vespe.tools.python.live_classes import Given, hints_of, kind_of, read_live_class


class Color(enum.Enum):
    RED = "red"
    ODD = object()


@dataclass
class Plain:
    a: int
    b: "str | None" = None


class Half(TypedDict):
    a: int


class Pair(NamedTuple):
    a: int


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (Color, "enum"),
        (Plain, "dataclass"),
        (Half, "typed dict"),
        (Pair, "named tuple"),
        (enum.IntFlag, "flag"),
        (int, ""),
        (object, ""),
    ],
)
def test_the_sort_of_data_is_told(kind: type, name: str) -> None:
    assert kind_of(kind) == name


def test_fields_have_their_types_and_defaults_and_a_default_of_none_is_one() -> None:
    a, b = read_live_class(Plain, "Plain").fields
    assert (a.required, a.default, b.required) == (True, None, False) and str(
        b.annotation
    ) == "str | None"
    assert isinstance(b.default, Given) and b.default.as_json() is None


def test_a_signature_that_python_wrote_is_no_description() -> None:
    assert (
        read_live_class(Plain, "Plain").description == ""
        and read_live_class(Pair, "Pair").description == ""
    )


def test_members_that_json_cannot_say_are_named() -> None:
    shape = read_live_class(Color, "Color")
    assert (shape.members, shape.unread) == ({"RED": "red"}, ("ODD",))


def test_one_name_that_nobody_knows_hides_no_other() -> None:
    class Half:
        a: "Nowhere"  # type: ignore[name-defined]  # noqa: F821  # nobody knows it
        b: "int"

    assert hints_of(Half) == {"a": "Nowhere", "b": int}
