"""What the adapters share: answers read, calls checked and run in-process, outputs told."""

import pytest

from vespe.adapters import execution
from vespe.adapters.openai import OpenAIAdapter
from vespe.calls.registry import ToolRegistry
from vespe.errors import InvalidArguments, InvalidToolCall, ParsingError, ToolExecutionError, ToolImplementationNotFound
from vespe.models import Call, Failure, Implementation, Outcome, Tool

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer", "default": 3}}}
TOOL = Tool(uid="tool-d", name="double", description="Double.", input_schema=SCHEMA)


@pytest.fixture
def registry() -> ToolRegistry:
    made = ToolRegistry()
    made.register(lambda n: n * 2, name="double")
    return made


@pytest.mark.parametrize(("arguments", "result"), [({"n": 4}, 8), ('{"n": 5}', 10), ("", 6), ({}, 6), (b'{"n": 1}', 2)])
def test_arguments_are_read_checked_and_filled_in(registry: ToolRegistry, arguments: str, result: int) -> None:
    assert execution.execute_tool(OpenAIAdapter(TOOL), Call(tool="double", arguments=arguments), registry) == result


def test_async_code_is_awaited_and_its_failure_is_the_tools() -> None:
    async def double(n: int) -> int:
        return n * 2

    def fail(n: int) -> int:
        raise ValueError("no")

    registry = ToolRegistry()
    registry.register(double)
    assert execution.execute_tool(OpenAIAdapter(TOOL), Call(tool="double"), registry) == 6
    registry.unregister("double")
    registry.register(fail, name="double")
    with pytest.raises(ToolExecutionError, match="ValueError: no"):
        execution.execute_tool(OpenAIAdapter(TOOL), Call(tool="double"), registry)


def test_what_a_directory_says_never_runs_here() -> None:
    on_disk = Tool(
        uid="tool-d", name="double", description="D.", input_schema=SCHEMA, implementation=Implementation(type="python_script", path="x.py")
    )
    with pytest.raises(ToolImplementationNotFound):
        execution.execute_tool(OpenAIAdapter(on_disk), Call(tool="double"), ToolRegistry())


def test_unknown_arguments_are_refused_with_every_violation(registry: ToolRegistry) -> None:
    with pytest.raises(InvalidArguments) as caught:
        execution.execute_tool(OpenAIAdapter(TOOL), Call(tool="double", arguments={"n": "x", "m": 1}), registry)
    assert len(caught.value.violations) == 2


@pytest.mark.parametrize("given", ["not json", "[1]", 3, None, "{" * 100])
def test_an_answer_that_is_no_object_cannot_be_read(given: object) -> None:
    with pytest.raises(ParsingError, match="the message"):
        execution.answered(given, what="the message")


def test_lists_of_calls_hold_objects_only() -> None:
    assert list(execution.objects(None, "`calls`")) == []
    for wrong in ("x", [3]):
        with pytest.raises(InvalidToolCall, match="`calls`"):
            list(execution.objects(wrong, "`calls`"))


def test_a_call_keeps_text_arguments_and_names_a_tool() -> None:
    assert execution.made_call("f", None, 3) == Call(tool="f", arguments={})
    assert execution.made_call("f", "{", "c") == Call(tool="f", arguments="{", call_id="c")
    assert execution.made_call("f", [1], "") == Call(tool="f", arguments="[1]")
    for nameless in (None, "", 3):
        with pytest.raises(InvalidToolCall, match="names no tool"):
            execution.made_call(nameless, {}, None)


def test_a_mixed_answer_gives_this_tools_calls_and_a_foreign_one_says_whose() -> None:
    own, other = Call(tool="double"), Call(tool="half")
    assert execution.own_calls(TOOL, [other, own]) == (own,)
    assert execution.own_calls(TOOL, []) == ()
    with pytest.raises(InvalidToolCall, match="'half'"):
        execution.own_calls(TOOL, [other])


def test_outcomes_and_errors_are_told_apart_from_results() -> None:
    failure = Failure(code="c", message="it broke", hint="mend it")
    assert execution.told(Outcome(tool="t", uid="u", result=[1])) == ([1], False)
    assert execution.told(Outcome(tool="t", uid="u", error=failure)) == ("it broke (mend it)", True)
    assert execution.told(ParsingError("no JSON")) == ("no JSON; mend the call and make it again", True)
    assert execution.told("r") == ("r", False)


def test_results_are_text_as_they_are_or_json() -> None:
    assert [execution.text_of(value) for value in ("a\ud800", {"a": [1]}, None, True)] == ["a\ufffd", '{"a":[1]}', "null", "true"]
