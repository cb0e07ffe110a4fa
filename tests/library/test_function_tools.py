"""Functions as tools: the decorator, the types that arrive, what comes back."""

import asyncio
import dataclasses
import datetime
import enum
import inspect
import pickle
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, Literal, TypedDict

import pydantic
import pytest

from vespe import FunctionTool, Toolset, UsageError, tool


class Color(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: int
    at: datetime.date | None = None


class User(pydantic.BaseModel):
    id: int


class Options(TypedDict):
    deep: bool


@tool(read_only=True, tags=["a"], timeout_s=3)
def shown(a: int, b: str = "x") -> str:
    """Show both.

    Args:
        a: The first.
    """
    return f"{a}{b}"


def test_a_function_stays_a_function() -> None:
    assert (
        shown(1) == "1x"
        and inspect.isfunction(shown)
        and pickle.loads(pickle.dumps(shown)) is shown
    )
    assert [*inspect.signature(shown).parameters] == ["a", "b"]


def test_the_decorator_works_plain_and_with_options() -> None:
    @tool
    def plain(a: int) -> int: ...  # type: ignore[empty-body]  # nobody calls it

    @tool(name="other-name", description="Other words.", destructive=True, title="Other")
    async def named() -> None: ...

    assert (plain.tool.name, plain.tool.description) == ("plain", "Plain.")
    assert (named.tool.name, named.tool.description) == ("other-name", "Other words.")
    assert named.tool.definition.annotations == {"destructiveHint": True, "title": "Other"}


def test_the_definition_says_what_the_function_and_the_decorator_say() -> None:
    made = shown.tool.definition
    assert (made.name, made.description, made.tags, made.timeout_s) == (
        "shown",
        "Show both.",
        ("a",),
        3,
    )
    assert made.annotations == {"readOnlyHint": True} and made.output_schema == {"type": "string"}
    assert made.input_schema["properties"]["a"] == {"type": "integer", "description": "The first."}
    assert made.document["schema"]["input"] == made.input_schema


def test_what_arrives_is_of_the_parameters_types_and_what_returns_is_json(home: object) -> None:
    seen: dict[str, Any] = {}

    def take(
        point: Point,
        color: Color,
        user: User,
        points: list[Point],
        *,
        options: Options,
        kind: Literal["a"] = "a",
        when: datetime.date,
    ) -> dict[str, Any]:
        seen.update(
            point=point,
            color=color,
            user=user,
            points=points,
            options=options,
            kind=kind,
            when=when,
        )
        return {
            "point": point,
            "color": color,
            "user": user,
            "when": when,
            "path": Path("a"),
            "set": {2, 1},
        }

    day = datetime.date(2026, 1, 2)
    given = {
        "point": {"x": 1, "at": "2026-01-02"},
        "color": "red",
        "user": {"id": 3},
        "points": [{"x": 2}],
        "when": "2026-01-02",
    }
    result = Toolset(take).call("take", options={"deep": True}, **given).unwrap()
    assert (
        seen["point"] == Point(1, day) and seen["color"] is Color.RED and seen["user"] == User(id=3)
    )
    assert (seen["points"], seen["options"], seen["kind"], seen["when"]) == (
        [Point(2)],
        {"deep": True},
        "a",
        day,
    )
    expected = {
        "point": {"x": 1, "at": "2026-01-02"},
        "color": "red",
        "user": {"id": 3},
        "when": "2026-01-02",
        "path": "a",
        "set": [1, 2],
    }
    assert result == expected


def test_a_value_that_makes_no_such_type_is_told_as_wrong_arguments(home: object) -> None:
    @dataclasses.dataclass
    class Even:
        n: int

        def __post_init__(self) -> None:
            if self.n % 2:
                raise ValueError("is odd")

    def take(even: Even) -> int:
        return even.n

    tools = Toolset(take)
    assert tools.call("take", even={"n": 2}).unwrap() == 2
    error = tools.call("take", even={"n": 3}).error
    assert (
        error is not None
        and error.retryable
        and "is odd" in error.message
        and error.code == "invalid_arguments"
    )


def test_a_result_that_json_cannot_say_is_told_with_its_place(home: object) -> None:
    def odd() -> Any:
        return {"a": [object()]}

    error = Toolset(odd).call("odd").error
    assert error is not None and error.code == "invalid_output" and "/a/0" in error.message


def test_generators_of_both_kinds_are_gathered(home: object) -> None:
    def count(n: int) -> Iterator[int]:
        yield from range(n)

    async def acount(n: int) -> AsyncIterator[int]:
        for i in range(n):
            yield i

    tools = Toolset(count, acount)
    assert tools.call("count", n=3).unwrap() == [0, 1, 2] == tools.call("acount", n=3).unwrap()
    assert asyncio.run(tools.acall("acount", n=2)).unwrap() == [0, 1]


def test_a_method_is_a_tool_without_what_is_bound(home: object) -> None:
    class Notes:
        def find(self, word: str) -> str:
            """Find a word."""
            return word.upper()

    notes = Notes()
    assert Toolset(notes.find).call("find", word="a").unwrap() == "A"
    assert tool(notes.find)("b") == "B" and tool(notes.find).tool.description == "Find a word."


@pytest.mark.parametrize(
    "wrong",
    [lambda: tool(name="no name")(len), lambda: FunctionTool(3), lambda: tool(lambda x: x)],  # type: ignore[arg-type]  # wrong
)
def test_what_cannot_be_a_tool_is_refused_with_a_sentence(wrong: Any) -> None:
    with pytest.raises(UsageError):
        wrong()


@pytest.mark.parametrize(
    ("option", "hint"), [("readonly", "did you mean read_only?"), ("zzz", "there are name, ")]
)
def test_an_option_that_there_is_none_of_is_refused(option: str, hint: str) -> None:
    given: Any = {option: True}
    with pytest.raises(UsageError, match=f"no option '{option}'") as refused:

        @tool(**given)
        def f() -> None: ...

    assert refused.value.hint.startswith(hint)
