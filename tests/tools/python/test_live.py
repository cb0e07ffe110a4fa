"""A function of the running program has the schemas that its source has, and more where the source
alone cannot tell.
"""

import functools
import sys
import types
from typing import Annotated, Any

import pydantic
import pytest

from vespe.errors import UsageError
from vespe.tools.python.live import derive_live
from vespe.tools.python.signatures import derive

HEAD = '''
import dataclasses, datetime, decimal, enum, pathlib, typing, uuid
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from typing import *
from typing_extensions import Doc
from annotated_types import Ge, Gt, Interval, Len, MultipleOf
from pydantic import BaseModel, Field

class Color(enum.Enum):
    """What it looks like."""
    RED = "red"
    BLUE = "blue"

class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2

class Access(enum.Flag):
    READ = 1
    WRITE = 2

@dataclass
class Point:
    """A place.

    Attributes:
        x: To the right.
    """
    x: float
    y: float = 0.0
    tags: list[str] = field(default_factory=list)
    kind: ClassVar[int] = 3
    made: int = field(default=0, init=False)
    seed: InitVar[int] = 1

@dataclass
class Node:
    value: int
    next: "Optional[Node]" = None

class Options(TypedDict, total=False):
    """How."""
    name: Required[str]
    depth: int

class Pair(NamedTuple):
    left: int
    right: str = "r"

class User(BaseModel):
    """Somebody."""
    id: int = Field(ge=1, description="The number.")
    mail: str | None = None
    nick: str = Field("none", alias="nickName", max_length=9)

class Tag(str):
    """A word."""

T = TypeVar("T")
Id = NewType("Id", int)

@dataclass
class Box(Generic[T]):
    content: T
'''
DOCSTRINGS = [
    "Do it.\n\n    Slowly.\n\n    Args:\n        a: The first.\n        b (str): "
    "The second.\n\n    Returns:\n        A number.\n    ",
    "Do it.\n\n    Parameters\n    ----------\n    a : int\n        The first.\n\n    Returns\n    "
    "-------\n    int\n        A one.\n    ",
    "Do it.\n\n    :param a: The first.\n    :param c: Nothing.\n    :returns: A number.\n    ",
]
SIGNATURES = [
    "def f(): ...",
    "def f(a, b=1): ...",
    "def f(a: int, b: float = 1.5, c: bool = True, d: str = 'x', e: None = None) -> None: ...",
    "def f(a: list[int], b: dict[str, float], c: tuple[int, str], d: tuple[int, ...], e: "
    "set[str]) -> list[dict[str, Any]]: ...",
    "def f(g: tuple[()]): ...",
    "def f(a: List[int], b: Dict[str, int], c: Tuple[int], d: FrozenSet[int], e: Sequence[str], g: "
    "Mapping[int, str], h: list): ...",
    "def f(a: Iterable[int], b: deque[int], c: Counter[str], d: OrderedDict[str, "
    "int]) -> AsyncIterator[int]: ...",
    "def f(a: int | None = None, b: Optional[str] = None, c: Union[int, str, None] = 3, d: "
    "int = None): ...",
    "def f(a: Literal['x', 'y'], b: Literal[1, None] = None, c: "
    "Literal[Color.RED] = Color.RED): ...",
    "def f(a: Annotated[int, Ge(0), 'How many.'], b: Annotated[str, Len(1, 3)], c: Annotated[int, "
    "Doc('x')]): ...",
    "def f(c: Annotated[float, Interval(gt=0, le=9)]): ...",
    "def f(a: Annotated[list[int], Len(1)], b: Annotated[int, MultipleOf(5)] = 5, c: "
    "Annotated[int, Gt(1)] | None = None): ...",
    "def f(a: Annotated[int, Field(ge=1, le=5, description='d')], b: Annotated[str, "
    "Field(pattern='^x')] = 'x'): ...",
    "def f(a: int = Field(3, ge=1), b: str = Field(description='needed')): ...",
    "def f(a: Color, b: Color = Color.RED, c: Level = Level.LOW, d: Access = None) -> Color: ...",
    "def f(a: Point, b: list[Point]) -> Point: ...",
    "def f(a: Node) -> Node: ...",
    "def f(a: Options, **rest: Unpack[Options]) -> Options: ...",
    "def f(a: Pair) -> Pair: ...",
    "def f(a: User, b: list[User]) -> User: ...",
    "def f(a: Box[int], b: Box[str]) -> Box[float]: ...",
    "def f(a: Tag, b: Id, c: T) -> Id: ...",
    "def f(a: datetime.date, b: datetime.datetime, c: datetime.time, d: datetime.timedelta, e: "
    "uuid.UUID) -> datetime.datetime: ...",
    "def f(a: pathlib.Path, b: bytes, c: decimal.Decimal, d: object, e: Any) -> bytes: ...",
    "def f(a: 'int', b: 'list[Point]', *, c: 'Color' = Color.BLUE) -> 'Optional[Point]': ...",
    "def f(*args: int, key: str, **rest: int): ...",
    "def f(**rest) -> Iterable[int]: ...",
    "def f(a: Callable[[int], int], b: complex = 1j): ...",
    "async def f(a: int) -> int: ...",
    "def f(a: int) -> Awaitable[None]: ...",
    "def f(a: NoReturn = None) -> NoReturn: ...",
    *(f'def f(a: int, b: str) -> int:\n    """{text}"""' for text in DOCSTRINGS),
]


def loaded(source: str, name: str = "f") -> Any:
    module = types.ModuleType("live_example")
    sys.modules[module.__name__] = module
    exec(source, module.__dict__)
    return getattr(module, name)


@pytest.mark.parametrize(
    "future", ["", "from __future__ import annotations\n"], ids=["types", "texts"]
)
@pytest.mark.parametrize("signature", SIGNATURES)
def test_a_live_function_means_what_its_source_means(signature: str, future: str) -> None:
    source = future + HEAD + signature
    read, live = derive(source, "f"), derive_live(loaded(source))
    assert live.input_schema == read.input_schema
    assert live.output_schema == read.output_schema
    assert (live.name, live.description, live.is_async) == (
        read.name,
        read.description,
        read.is_async,
    )
    assert [(p.name, p.kind, p.required, p.default) for p in live.parameters] == [
        (p.name, p.kind, p.required, p.default) for p in read.parameters
    ]


class Elsewhere(pydantic.BaseModel):
    size: Annotated[int, pydantic.Field(gt=0)]


def test_types_of_other_modules_and_of_the_function_around_are_known() -> None:
    from dataclasses import dataclass

    @dataclass
    class Near:
        here: bool

    def place(a: Elsewhere, b: Near) -> Near:
        return b

    properties = derive_live(place).input_schema["properties"]
    assert properties["a"]["properties"]["size"] == {"type": "integer", "exclusiveMinimum": 0}
    assert properties["b"]["properties"] == {"here": {"type": "boolean"}}


def test_two_classes_of_one_name_stay_two() -> None:
    one = type(
        "Same", (pydantic.BaseModel,), {"__annotations__": {"a": int}, "__module__": __name__}
    )
    two = type(
        "Same", (pydantic.BaseModel,), {"__annotations__": {"b": str}, "__module__": __name__}
    )

    def f(x: Any, y: Any) -> None: ...

    f.__annotations__ = {"x": one, "y": two}
    properties = derive_live(f).input_schema["properties"]
    assert set(properties["x"]["properties"]) == {"a"} and set(properties["y"]["properties"]) == {
        "b"
    }


def test_a_bound_method_a_partial_and_a_callable_are_read_without_what_is_bound() -> None:
    class Notes:
        def search(self, query: str) -> str:
            """Search the notes."""
            return query

        def __call__(self, limit: int) -> int:
            return limit

    assert derive_live(Notes().search).input_schema["required"] == ["query"]
    assert derive_live(Notes().search).description == "Search the notes."
    assert derive_live(Notes(), name="notes").input_schema["required"] == ["limit"]
    assert derive_live(functools.partial(Notes().search), name="s").input_schema["properties"][
        "query"
    ] == {"type": "string"}


def test_a_name_that_only_checkers_know_is_noted_and_hides_no_other() -> None:
    function = loaded("from __future__ import annotations\ndef f(a: Nowhere, b: int): ...")
    live = derive_live(function)
    assert live.input_schema["properties"] == {"a": {}, "b": {"type": "integer"}}
    assert live.notes == (
        "a: Nowhere names nothing that can be found, so that any value is accepted",
    )


def test_what_only_positions_fill_and_what_has_no_signature_is_refused() -> None:
    with pytest.raises(UsageError, match="a can only be given by position"):
        derive_live(loaded("def f(a, /): ..."))
    with pytest.raises(UsageError, match="no signature"):
        derive_live(dict.update)
