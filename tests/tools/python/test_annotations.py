"""Annotations one by one; the files in tests/cases/signatures show them at work."""

import ast

import pytest

from vespe.models import JsonObject
from vespe.tools.python.annotations import Reader
from vespe.tools.python.names import parse_source, read_names

FILE = """
import builtins, typing, other
from dataclasses import InitVar, dataclass
from typing import *
T = TypeVar("T")
class Plain: ...
class Wide(int): ...
@dataclass
class Box(Generic[T]):
    content: T
    extra: InitVar[int] = 0
Alias = list["Alias"]
Called = make()
Kept = NewType("Kept", "Wide")
"""


def read(annotation: str, *, closed: bool = True) -> tuple[JsonObject, list[str]]:
    reader = Reader(read_names(parse_source(FILE)), closed=closed)
    schema = reader.read(ast.parse(annotation, mode="eval").body, where="x")
    return reader.settled(schema), reader.notes


FORMS: dict[str, JsonObject] = {
    "List": {"type": "array"},
    "'List[\"int\"]'": {"type": "array", "items": {"type": "integer"}},
    "typing.Union[int]": {"type": "integer"},
    "Optional[Optional[int]]": {"type": ["integer", "null"]},
    "Final[ClassVar[int]]": {"type": "integer"},
    "Tuple[int, ...]": {"type": "array", "items": {"type": "integer"}},
    "tuple[Any, ...]": {"type": "array"},
    "dict[Literal['a'], Any]": {
        "type": "object",
        "propertyNames": {"type": "string", "enum": ["a"]},
    },
    "Annotated[Annotated[int, 'inner'], 'outer']": {"type": "integer", "description": "inner"},
    "Wide": {"type": "integer"},
    "Kept": {"type": "integer"},
    "Coroutine[None, None, int]": {"type": "integer"},
    "AsyncIterator[str]": {"type": "array", "items": {"type": "string"}},
    "T": {},
    "builtins.int": {},
}


@pytest.mark.parametrize(("annotation", "wanted"), FORMS.items())
def test_an_annotation_has_its_form(annotation: str, wanted: JsonObject) -> None:
    assert read(annotation)[0] == wanted


STRANGE = {
    "Plain": "x: Plain is a class that declares no data",
    "other.Thing": "x: other.Thing comes from another file",
    "Nowhere": "x: Nowhere is not defined in this file",
    "complex": "x: complex has no form in JSON",
    "Callable[..., int]": "x: Callable[..., int] has no form in JSON",
    "Called": "x: Called is what a call gives",
    "make()": "x: make() is not a type",
    "3": "x: 3 is not a type",
    "Literal[b'x']": "x: b'x' is not a value that JSON can say",
    "dict[str]": "x: dict[str] has no form in JSON",
}


@pytest.mark.parametrize(("annotation", "note"), STRANGE.items())
def test_what_has_no_form_accepts_any_value_and_says_so(annotation: str, note: str) -> None:
    schema, notes = read(annotation)
    assert schema == {} and len(notes) == 1 and notes[0].startswith(note)


def test_a_generic_class_is_read_once_for_each_argument() -> None:
    schema, notes = read("tuple[Box[int], Box[str], Box]")
    assert [item["properties"]["content"] for item in schema["prefixItems"]] == [
        {"type": "integer"},
        {"type": "string"},
        {},
    ]
    assert notes == []


def test_results_are_open_and_have_no_init_only_fields() -> None:
    assert read("Box[int]", closed=False)[0] == {
        "type": "object",
        "properties": {"content": {"type": "integer"}},
        "required": ["content"],
    }
    assert read("Box[int]")[0]["additionalProperties"] is False
    assert "extra" in read("Box[int]")[0]["properties"]


def test_a_recursive_alias_is_a_definition() -> None:
    assert read("Alias")[0] == {
        "$ref": "#/$defs/Alias",
        "$defs": {"Alias": {"type": "array", "items": {"$ref": "#/$defs/Alias"}}},
    }


def test_a_note_is_given_once() -> None:
    assert len(read("tuple[Nowhere, Nowhere]")[1]) == 1
