"""Values between JSON and Python's types, both ways."""

import collections
import dataclasses
import datetime
import decimal
import enum
import ipaddress
import json
import runpy
import uuid
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple, Optional, TypedDict, Union

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vespe.processes import process

VALUES = SimpleNamespace(
    **runpy.run_path(
        str(Path(process.__file__).parents[1] / "types" / "python_script" / "values.py")
    )
)


class Colour(enum.Enum):
    RED = "red"
    BLUE = 2
    YES = True


@dataclasses.dataclass
class Point:
    x: int
    colour: Colour = Colour.RED
    when: "datetime.date | None" = None


@dataclasses.dataclass
class Base:
    day: datetime.date


@dataclasses.dataclass
class Derived(Base):
    tags: set[str]


class Pair(NamedTuple):
    first: Colour
    second: int = 0


class Options(TypedDict, total=False):
    day: datetime.date


class Model:
    """What a pydantic model looks like from outside."""

    def __init__(self, value: Any) -> None:
        self.value = value

    @classmethod
    def model_validate(cls, value: Any) -> "Model":
        if "bad" in value:
            raise ValueError("is bad")
        return cls(value)

    def model_dump(self, mode: str) -> Any:
        return {"mode": mode, "value": self.value}


def given_as(hint: Any, value: Any) -> Any:
    def function(value: Any) -> None: ...

    function.__annotations__ = {"value": hint}
    return VALUES.converted_inputs(function, {"value": value})["value"]


DAY = datetime.date(2024, 1, 2)


@pytest.mark.parametrize(
    ("hint", "value", "expected"),
    [
        (int, 3, 3),
        ("str", "a", "a"),
        (Any, [1], [1]),
        (Literal["a"], "a", "a"),
        (Colour, "red", Colour.RED),
        (Colour, 2, Colour.BLUE),
        (Colour, True, Colour.YES),
        (Colour, "BLUE", Colour.BLUE),
        ("Colour", "red", Colour.RED),
        ("Nowhere", "red", "red"),
        (Optional[Colour], None, None),  # noqa: UP045  # the older spelling is what is tested
        (Colour | None, "red", Colour.RED),
        (Union[int, Colour], 7, 7),  # noqa: UP007  # the older spelling is what is tested
        (Union[int, Colour], "red", Colour.RED),  # noqa: UP007  # the older spelling is what is tested
        (str | datetime.date, "2024-01-02", "2024-01-02"),
        (datetime.date | int, "2024-01-02", DAY),
        (list[Colour] | Colour, ["red"], [Colour.RED]),
        (Optional[Any], "x", "x"),  # noqa: UP045  # the older spelling is what is tested
        (Literal["x"] | datetime.date, "2024-01-02", DAY),
        (float | None, 3, 3),
        (Colour | str, "green", "green"),
        (collections.abc.Sequence | None, [1], [1]),
        (datetime.date, "2024-01-02", DAY),
        (datetime.date, 5, 5),
        (datetime.time, "03:04", datetime.time(3, 4)),
        (
            datetime.datetime,
            "2024-01-02T03:04:05Z",
            datetime.datetime(2024, 1, 2, 3, 4, 5, tzinfo=datetime.UTC),
        ),
        (Path, "/x", Path("/x")),
        (
            uuid.UUID,
            "12345678123456781234567812345678",
            uuid.UUID(int=0x12345678123456781234567812345678),
        ),
        (ipaddress.IPv4Address, "10.0.0.1", ipaddress.IPv4Address("10.0.0.1")),
        (decimal.Decimal, "1.10", decimal.Decimal("1.10")),
        (decimal.Decimal, 1.5, decimal.Decimal("1.5")),
        (bytes, "aGk=", b"hi"),
        (list[Colour], ["red"], [Colour.RED]),
        (list, ["red"], ["red"]),
        (set[int], [2, 1], {1, 2}),
        (frozenset, [1], frozenset({1})),
        (tuple[int, Colour], [1, "red"], (1, Colour.RED)),
        (tuple[Colour, ...], ["red", 2], (Colour.RED, Colour.BLUE)),
        (collections.deque, [1], collections.deque([1])),
        (collections.abc.Sequence[Colour], ["red"], [Colour.RED]),
        (collections.abc.Set[int], [1], {1}),
        (dict[str, Colour], {"a": "red"}, {"a": Colour.RED}),
        (dict[Colour, int], {"red": 1}, {Colour.RED: 1}),
        (dict, {"a": 1}, {"a": 1}),
        (Point, {"x": 1}, Point(1)),
        (Point, {"x": 1, "colour": "RED", "when": "2024-01-02"}, Point(1, Colour.RED, DAY)),
        (list[Point], [{"x": 1}], [Point(1)]),
        (Derived, {"day": "2024-01-02", "tags": ["a"]}, Derived(DAY, {"a"})),
        (Pair, ["red", 1], Pair(Colour.RED, 1)),
        (Pair, {"first": "red"}, Pair(Colour.RED)),
        (Options, {"day": "2024-01-02", "other": 1}, {"day": DAY, "other": 1}),
    ],
)
def test_an_input_becomes_what_its_annotation_asks_for(
    hint: Any, value: Any, expected: Any
) -> None:
    made = given_as(hint, value)
    assert (made, type(made)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("hint", "value", "pointer"),
    [
        (Colour, "green", "/value"),
        (Colour, 1, "/value"),
        (list[datetime.date], ["2024-01-02", "soon"], "/value/1"),
        (dict[str, Point], {"a/b": {"x": 1, "colour": "none"}}, "/value/a~1b/colour"),
        (Point, {"y": 1}, "/value"),
        (bytes, "no base64!", "/value"),
        (datetime.date | uuid.UUID, "soon", "/value"),
        (datetime.date | None, "soon", "/value"),
        (datetime.date | int, "soon", "/value"),
        (datetime.date | list[int], "soon", "/value"),
        (Optional[uuid.UUID], "soon", "/value"),  # noqa: UP045  # the older spelling is what is tested
        (list[datetime.date] | None, ["2024-01-02", "soon"], "/value/1"),
        (Colour | None, "green", "/value"),
        (Model, {"bad": 1}, "/value"),
        (set[Any], [[1]], "/value"),
    ],
)
def test_an_input_that_does_not_fit_is_named_by_its_place(
    hint: Any, value: Any, pointer: str
) -> None:
    with pytest.raises(VALUES.Unfit) as caught:
        given_as(hint, value)
    assert caught.value.pointer == pointer


def test_models_are_made_and_written_by_their_own_methods() -> None:
    model = given_as(Model, {"a": 1})
    assert isinstance(model, Model)
    assert json.loads(VALUES.encode(model)) == {"result": {"mode": "json", "value": {"a": 1}}}


def test_a_function_whose_annotations_cannot_be_had_gets_its_inputs_as_they_are() -> None:
    class Strange:
        @property
        def __annotations__(self) -> Any:  # type: ignore[override]  # what 3.14 may do at this moment
            raise NameError("Later")

    assert VALUES.converted_inputs(Strange(), {"a": 1}) == {"a": 1}


@dataclasses.dataclass
class Array:
    """What numpy's arrays and numbers look like from outside."""

    items: Any

    def tolist(self) -> Any:
        return self.items


class Shelf:
    def keys(self) -> list[str]:
        return ["a"]

    def __getitem__(self, key: str) -> int:
        return 1


class Number(enum.IntEnum):
    ONE = 1


class Word(enum.StrEnum):
    A = "a"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ((1, "é\n"), [1, "é\n"]),
        (Colour.BLUE, 2),
        ([Number.ONE, Word.A], [1, "a"]),
        (Point(1, when=DAY), {"x": 1, "colour": "red", "when": "2024-01-02"}),
        (Pair(Colour.RED, 1), ["red", 1]),
        (datetime.datetime(2024, 1, 2, 3, 4), "2024-01-02T03:04:00"),
        (datetime.timedelta(seconds=90, milliseconds=500), "PT90.5S"),
        (datetime.timedelta(seconds=100), "PT100S"),
        (Path("/x"), "/x"),
        (decimal.Decimal("1.10"), "1.10"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (ipaddress.ip_address("::1"), "::1"),
        ([b"hi", bytearray(b"hi"), memoryview(b"hi")], ["aGk=", "aGk=", "aGk="]),
        ({3, 1, 2}, [1, 2, 3]),
        ({"a", 1}, ["a", 1]),
        (range(3), [0, 1, 2]),
        ({"a": 1}.items(), [["a", 1]]),
        (map(str, [1]), ["1"]),
        (collections.Counter("aa"), {"a": 2}),
        (Shelf(), {"a": 1}),
        (
            {1: "a", None: "b", False: "c", 1.5: "d"},
            {"1": "a", "null": "b", "false": "c", "1.5": "d"},
        ),
        ({Colour.RED: 1, DAY: 2, Colour.BLUE: 3}, {"red": 1, "2024-01-02": 2, "2": 3}),
    ],
)
def test_a_result_becomes_json_in_the_documented_way(value: Any, expected: Any) -> None:
    assert json.loads(VALUES.encode(value)) == {"result": expected}


def test_what_has_tolist_is_written_by_it() -> None:
    array: Any = SimpleNamespace(tolist=lambda: [1, [2]])
    assert json.loads(VALUES.encode([array])) == {"result": [[1, [2]]]}


@pytest.mark.parametrize(
    ("value", "pointer", "why"),
    [
        (float("nan"), "", "is NaN"),
        ([1, {"a": float("inf")}], "/1/a", "is Infinity"),
        ({"a~": {"b/": 1j}}, "/a~0/b~1", "is a complex"),
        ([object], "/0", "is a type"),
        (Point(x=lambda: 1), "/x", "is a function"),  # type: ignore[arg-type]  # what a tool may do
        ({(1, 2): 3}, "", "has a key that is a tuple"),
        ({frozenset((1, 2)): 3}, "", "has a key that is a frozenset"),
        ([10**5000], "/0", "is an integer with too many digits"),
    ],
)
def test_a_result_that_json_cannot_say_is_named_by_its_place(
    value: Any, pointer: str, why: str
) -> None:
    with pytest.raises(VALUES.Unfit) as caught:
        VALUES.encode(value)
    assert (caught.value.pointer, caught.value.why[: len(why)]) == (pointer, why)


def test_a_result_that_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(VALUES.Unfit, match="nested deeper than 63 levels"):
        VALUES.encode(value)


def test_p24_lone_surrogates_are_repaired_with_a_note() -> None:
    told = json.loads(VALUES.encode(["\ud800", "\U0001f600"]))
    assert told["result"] == ["\N{REPLACEMENT CHARACTER}", "\U0001f600"]
    assert len(told["notes"]) == 1


@settings(max_examples=200, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_a_json_value_is_written_as_json_writes_it(value: Any) -> None:
    try:
        expected = json.dumps({"result": value}, allow_nan=False)
    except ValueError:
        with pytest.raises(VALUES.Unfit):
            VALUES.encode(value)
    else:
        assert json.loads(VALUES.encode(value)) == json.loads(expected)
