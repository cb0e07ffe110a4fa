"""Classes of a file as fields and members, held against what Python makes of the same text."""

import ast
import dataclasses
import typing

import pytest

from vespe.tools.python.classes import Shape, read_class, read_declaration, value_of
from vespe.tools.python.names import parse_source, read_names

IMPORTS = """
import collections, dataclasses, enum, typing
from dataclasses import KW_ONLY, InitVar, dataclass, field
from enum import Enum, Flag, IntEnum, StrEnum, auto, nonmember
from typing import Annotated, ClassVar, Generic, NamedTuple, NotRequired, Required, TypedDict, TypeVar
"""


def shape(source: str, name: str = "C") -> Shape:
    names = read_names(parse_source(IMPORTS + source))
    return read_class(names.classes[name], names)


def real(source: str, name: str = "C") -> typing.Any:
    space: dict[str, typing.Any] = {"__name__": "case"}
    exec(IMPORTS + source, space)
    return space[name]


DATACLASSES = [
    """
@dataclass
class C:
    a: int
    b: str = "x"
    c: list[int] = field(default_factory=list)
    d: int = field(init=False)
""",
    """
@dataclass
class A:
    a: int
    b: int = 1
@dataclass
class C(A):
    a: str
    c: ClassVar[int] = 3
    d: int = field(default=2)
""",
    "@dataclass\nclass A:\n    a: int\nclass C(A):\n    b: int\n",
    "class A:\n    a: int\n@dataclass\nclass C(A):\n    _: KW_ONLY\n    b: int = 1\n",
    """
@dataclass
class A:
    a: int = 1
@dataclass
class B:
    b: int = 2
@dataclass
class C(A, B):
    c: int = 3
""",
]


@pytest.mark.parametrize("source", DATACLASSES)
def test_the_fields_of_a_dataclass_are_those_that_its_constructor_takes(source: str) -> None:
    missing = dataclasses.MISSING
    wanted = [
        (f.name, f.default is missing and f.default_factory is missing)
        for f in dataclasses.fields(real(source))
        if f.init
    ]
    assert [(f.name, f.required) for f in shape(source).fields] == wanted


TYPED_DICTS = [
    "class C(TypedDict):\n    a: int\n    b: NotRequired[int]\n",
    "class C(TypedDict, total=False):\n    a: int\n    b: Required[Annotated[int, 'x']]\n    c: "
    "'Required[int]'\n",
    "class A(TypedDict, total=False):\n    a: int\nclass C(A):\n    b: int\n    c: "
    "Annotated[NotRequired[int], 1]\n",
]


@pytest.mark.parametrize("source", TYPED_DICTS)
def test_the_required_keys_of_a_typed_dict_are_pythons(source: str) -> None:
    # Python itself leaves quoted qualifiers unread
    quoted = {"c"} if "'Required" in source else set()
    assert {f.name for f in shape(source).fields if f.required} == real(
        source
    ).__required_keys__ | quoted
    assert {f.name for f in shape(source).fields} == real(source).__required_keys__ | real(
        source
    ).__optional_keys__


ENUMS = [
    "class C(Enum):\n    A = 1\n    B = auto()\n",
    "class C(StrEnum):\n    ONE = auto()\n    TWO = 'two'\n",
    "class C(IntEnum):\n    A = 5\n    B = auto()\n    @property\n    def twice(self): return 2\n",
    "class B(Enum):\n    def f(self): ...\nclass C(B):\n    A = 'a'\n    ALIAS = A\n",
    "class C(str, Enum):\n    A = 'a'\n    B = 'b'\n",
    "class C(Enum):\n    A = (1, 2)\n    B = None\n",
    "class C(Enum):\n    A = 1\n    HELP = nonmember('x')\n",
    "class C(Enum):\n    _ignore_ = ['x']\n    A: int = 1\n",
]


@pytest.mark.parametrize("source", ENUMS)
def test_the_members_of_an_enum_are_pythons(source: str) -> None:
    wanted = {
        name: list(m.value) if isinstance(m.value, tuple) else m.value
        for name, m in real(source).__members__.items()
    }
    assert (shape(source).kind, shape(source).members, shape(source).unread) == ("enum", wanted, ())


def test_what_the_file_does_not_tell_is_named() -> None:
    assert shape("class C(Enum):\n    A = len('x')\n    B: int = 2\n").unread == ("A",)
    assert shape(
        "import base\nclass B(base.Model):\n    b: int\n@dataclass\nclass C(B):\n    a: int\n"
    ).unread == ("base.Model",)


KINDS = {
    "class C: ...": "",
    "class C(int): ...": "",
    "class C(NamedTuple):\n    a: int": "named tuple",
    "class C(Flag):\n    A = 1": "flag",
    "import pydantic\nclass C(pydantic.BaseModel):\n    a: int": "model",
    "class C(C): ...": "",
    "class A(C): ...\nclass C(A): ...": "",
}


@pytest.mark.parametrize(("source", "kind"), KINDS.items())
def test_a_class_is_known_by_its_bases_and_decorators(source: str, kind: str) -> None:
    assert shape(source).kind == kind


def test_a_class_that_inherits_from_itself_ends() -> None:
    assert shape("@dataclass\nclass C(C):\n    a: int").fields[0].name == "a"


def test_descriptions_come_from_the_docstring_or_from_the_line_below() -> None:
    docstring = '    """A thing.\n\n    Attributes:\n        a: One.\n    """\n'
    source = f'@dataclass\nclass C:\n{docstring}    a: int\n    b: int\n    """Two."""\n'
    assert shape(source).description == "A thing."
    assert [f.description for f in shape(source).fields] == ["One.", "Two."]


def test_an_alias_is_the_key_of_its_field() -> None:
    source = (
        "from pydantic import BaseModel, Field\nclass C(BaseModel):\n    a: int = Field(..., "
        "alias='A')\n    b: int = Field(3)\n"
    )
    assert [(f.name, f.alias, f.required) for f in shape(source).fields] == [
        ("a", "A", True),
        ("b", "b", False),
    ]


def test_type_variables_are_kept_in_their_order() -> None:
    assert shape(
        "T = TypeVar('T')\nU = TypeVar('U')\n@dataclass\nclass C(Generic[T, U]):\n    a: T"
    ).parameters == ("T", "U")


DECLARATIONS = {
    "TypedDict('C', {'a': int, 'b': 'NotRequired[int]'})": ("typed dict", {"a": True, "b": False}),
    "TypedDict('C', {'a': int}, total=False)": ("typed dict", {"a": False}),
    "NamedTuple('C', [('a', int), ('b', str)])": ("named tuple", {"a": True, "b": True}),
    "collections.namedtuple('C', 'a b')": ("named tuple", {"a": True, "b": True}),
    "collections.namedtuple('C', ['a', 'b'])": ("named tuple", {"a": True, "b": True}),
}


@pytest.mark.parametrize(("text", "wanted"), DECLARATIONS.items())
def test_classes_made_by_a_call_are_read(text: str, wanted: tuple[str, dict[str, bool]]) -> None:
    names = read_names(parse_source(IMPORTS + "import collections"))
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    found = read_declaration("C", call, names)
    assert found is not None and (found.kind, {f.name: f.required for f in found.fields}) == wanted


def test_an_enum_made_by_a_call_has_its_values() -> None:
    made = {
        "'A B'": {"A": 1, "B": 2},
        "['A']": {"A": 1},
        "{'A': 'a'}": {"A": "a"},
        "[('A', 7), ('B', f())]": {"A": 7},
    }
    names = read_names(
        parse_source(
            IMPORTS + "".join(f"E{i} = Enum('E', {text})\n" for i, text in enumerate(made))
        )
    )
    calls = [(name, value) for name, value in names.values.items() if isinstance(value, ast.Call)]
    assert [
        shape.members for name, call in calls if (shape := read_declaration(name, call, names))
    ] == list(made.values())


def test_any_other_call_declares_nothing() -> None:
    call = ast.parse("f('C', 1)", mode="eval").body
    assert (
        isinstance(call, ast.Call)
        and read_declaration("C", call, read_names(parse_source(""))) is None
    )


def test_the_value_of_a_member_is_found_and_of_anything_else_is_not() -> None:
    names = read_names(
        parse_source(IMPORTS + "class C(Enum):\n    A = 'a'\nD = Enum('D', 'X Y')\nK = 3\n")
    )
    assert [
        value_of(ast.parse(t, mode="eval").body, names)
        for t in ("C.A", "C.A.value", "D.Y", "K", "'x'")
    ] == ["a", "a", 2, 3, "x"]
    for text in ("C.B", "K.A", "z.A", "C.A.name", "f().A"):
        with pytest.raises(ValueError, match="member"):
            value_of(ast.parse(text, mode="eval").body, names)
