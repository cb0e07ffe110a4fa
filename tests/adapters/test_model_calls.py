"""A model's answers read, and its calls checked and run in-process."""

import pytest

from vespe.adapters import model_calls
from vespe.adapters.openai import OpenAIAdapter
from vespe.calls.registry import ToolRegistry
from vespe.errors import (
    InvalidArguments,
    InvalidToolCall,
    ParsingError,
    ToolExecutionError,
    ToolImplementationNotFound,
)
from vespe.models import Call, Implementation, Tool

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer", "default": 3}}}
TOOL = Tool(uid="tool-d", name="double", description="Double.", input_schema=SCHEMA)


@pytest.fixture
def registry() -> ToolRegistry:
    made = ToolRegistry()
    made.register(lambda n: n * 2, name="double")
    return made


@pytest.mark.parametrize(
    ("arguments", "result"), [({"n": 4}, 8), ('{"n": 5}', 10), ("", 6), ({}, 6), (b'{"n": 1}', 2)]
)
def test_arguments_are_read_checked_and_filled_in(
    registry: ToolRegistry, arguments: str, result: int
) -> None:
    assert (
        model_calls.execute_tool(
            OpenAIAdapter(TOOL), Call(tool="double", arguments=arguments), registry
        )
        == result
    )


def test_async_code_is_awaited_and_its_failure_is_the_tools() -> None:
    async def double(n: int) -> int:
        return n * 2

    def fail(n: int) -> int:
        raise ValueError("no")

    registry = ToolRegistry()
    registry.register(double)
    assert model_calls.execute_tool(OpenAIAdapter(TOOL), Call(tool="double"), registry) == 6
    registry.unregister("double")
    registry.register(fail, name="double")
    with pytest.raises(ToolExecutionError, match="ValueError: no"):
        model_calls.execute_tool(OpenAIAdapter(TOOL), Call(tool="double"), registry)


def test_what_a_directory_says_never_runs_here() -> None:
    on_disk = Tool(
        uid="tool-d",
        name="double",
        description="D.",
        input_schema=SCHEMA,
        implementation=Implementation(type="python_script", path="x.py"),
    )
    with pytest.raises(ToolImplementationNotFound):
        model_calls.execute_tool(OpenAIAdapter(on_disk), Call(tool="double"), ToolRegistry())


def test_unknown_arguments_are_refused_with_every_violation(registry: ToolRegistry) -> None:
    with pytest.raises(InvalidArguments) as caught:
        model_calls.execute_tool(
            OpenAIAdapter(TOOL), Call(tool="double", arguments={"n": "x", "m": 1}), registry
        )
    assert len(caught.value.violations) == 2


@pytest.mark.parametrize("given", ["not json", "[1]", 3, None, "{" * 100])
def test_an_answer_that_is_no_object_cannot_be_read(given: object) -> None:
    with pytest.raises(ParsingError, match="the message"):
        model_calls.read_answer(given, what="the message")


def test_lists_of_calls_hold_objects_only() -> None:
    assert list(model_calls.objects(None, "`calls`")) == []
    for wrong in ("x", [3]):
        with pytest.raises(InvalidToolCall, match="`calls`"):
            list(model_calls.objects(wrong, "`calls`"))


def test_a_call_keeps_text_arguments_and_names_a_tool() -> None:
    assert model_calls.made_call("f", None, 3) == Call(tool="f", arguments={})
    assert model_calls.made_call("f", "{", "c") == Call(tool="f", arguments="{", call_id="c")
    assert model_calls.made_call("f", [1], "") == Call(tool="f", arguments="[1]")
    for nameless in (None, "", 3):
        with pytest.raises(InvalidToolCall, match="names no tool"):
            model_calls.made_call(nameless, {}, None)


def test_a_mixed_answer_gives_this_tools_calls_and_a_foreign_one_says_whose() -> None:
    own, other = Call(tool="double"), Call(tool="half")
    assert model_calls.own_calls(TOOL, [other, own]) == (own,)
    assert model_calls.own_calls(TOOL, []) == ()
    with pytest.raises(InvalidToolCall, match="'half'"):
        model_calls.own_calls(TOOL, [other])
