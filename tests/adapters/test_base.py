"""The protocols of the shapes and the adapters hold for every member of their tables."""

import contextlib
import functools
from typing import Any, cast

import pytest

from vespe.adapters import ADAPTERS, SHAPES, model_calls
from vespe.adapters.base import ToolAdapter, ToolShape
from vespe.calls.registry import ToolRegistry
from vespe.errors import (
    InvalidArguments,
    InvalidToolCall,
    ParsingError,
    ToolExecutionError,
    ToolImplementationNotFound,
    VespeError,
)
from vespe.models import Call, Tool

TOOL = Tool(
    uid="tool-d",
    name="double",
    description="Double.",
    input_schema={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
)


def test_every_shape_answers_to_the_protocol_and_its_own_name() -> None:
    shape: ToolShape
    for name, shape in SHAPES.items():
        assert shape.name == name
        assert shape.read(shape.definition(TOOL)).name == "double"


@pytest.mark.parametrize("name", ADAPTERS)
def test_every_adapter_describes_runs_and_tells(name: str) -> None:
    registry = ToolRegistry()
    registry.register(lambda n: n * 2, name="double")
    adapter: ToolAdapter = ADAPTERS[name](TOOL)
    assert (adapter.name, adapter.tool) == (name, TOOL)
    assert adapter.generate_tool_description()
    assert adapter.execute_tool(Call(tool="double", arguments={"n": 4}), registry) == 8
    assert "8" in str(adapter.format_tool_output(8, call_id="c"))


@pytest.mark.parametrize("name", ADAPTERS)
def test_every_adapter_refuses_what_the_model_can_mend_and_what_nothing_implements(
    name: str,
) -> None:
    adapter = ADAPTERS[name](TOOL)
    for call, error in (
        (Call(tool="other"), InvalidToolCall),
        (Call(tool="double", arguments="{"), ParsingError),
        (Call(tool="double", arguments={"n": "x"}), InvalidArguments),
    ):
        with pytest.raises(error) as caught:
            adapter.execute_tool(call, ToolRegistry())
        assert caught.value.retryable
        assert "mend the call" in str(adapter.format_tool_output(caught.value, call_id="c"))
    with pytest.raises(ToolImplementationNotFound):
        adapter.execute_tool(Call(tool="double", arguments={"n": 1}), ToolRegistry())


@pytest.mark.parametrize("name", ADAPTERS)
@pytest.mark.parametrize("output", [float("nan"), b"x", {1, 2}, {"a": {1}}, object()])
def test_every_adapter_says_which_output_json_cannot_hold(name: str, output: object) -> None:
    with pytest.raises(ToolExecutionError, match="cannot be represented in JSON"):
        ADAPTERS[name](TOOL).format_tool_output(output)


ODD: list[Any] = [
    None,
    [],
    3,
    {"choices": [{"message": []}]},
    {"choices": [{"message": 3}]},
    {"candidates": [{"content": [1]}]},
    {"content": 3},
]
ODD += [
    {"params": 3},
    {"output": 3},
    {"message": 3},
    {"tool_calls": 3},
    {"parts": [3]},
    {"method": functools.reduce(lambda v, _: [v], range(5000), cast("Any", 0))},
]


@pytest.mark.parametrize("name", ADAPTERS)
def test_every_adapter_reads_an_odd_answer_or_refuses_it_with_a_sentence(name: str) -> None:
    for answer in ODD:
        with contextlib.suppress(VespeError):
            assert ADAPTERS[name](TOOL).parse_llm_response(answer) == ()


def test_arguments_that_json_cannot_hold_are_no_call() -> None:
    for arguments in ({"a": float("nan")}, {1, 2}, {"a": {1}}):
        with pytest.raises(InvalidToolCall, match="cannot be represented in JSON"):
            model_calls.made_call("f", arguments, None)
