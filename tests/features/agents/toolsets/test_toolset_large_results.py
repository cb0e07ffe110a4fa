"""Results of a set of tools that are too large for a model."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from vespe import Toolset, tool
from vespe.adapters.large_results.reading import READ
from vespe.defaults import MAX_OUTPUT_BYTES


@tool(read_only=True)
def page(length: int) -> str:
    """Return a long text."""
    return "p" * length


def count(text: str) -> int:
    """Count the characters of a text."""
    return len(text)


def answered(tools: Toolset, name: str, how: str, /, **arguments: Any) -> Any:
    """What a model is told of one call, as OpenAI's messages say it."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": "1", "type": "function", "function": function}]
    message = {"choices": [{"message": {"role": "assistant", "tool_calls": calls}}]}
    answer = asyncio.run(tools.aanswer(message)) if how == "awaited" else tools.answer(message)
    return answer[-1]["content"]


@pytest.mark.parametrize("how", ["here", "awaited"])
def test_a_part_is_told_and_the_rest_is_read_and_passed_on(home: Any, how: str) -> None:
    tools = Toolset(page, count)
    told = answered(tools, "page", how, length=90_000)
    assert len(told) <= 40_000 and "its handle is r1" in told
    read = json.loads(answered(tools, READ, how, handle="r1", offset=89_990))
    assert read == {"text": "p" * 10, "next": None}
    assert answered(tools, "count", how, text={"$result": "r1"}) == "90000"
    assert "no such handle" in answered(Toolset(page, count), "count", how, text={"$result": "r1"})


def test_callers_in_code_get_results_whole(home: Any) -> None:
    tools = Toolset(page)
    assert tools.call("page", length=90_000).unwrap() == "p" * 90_000
    result = tools.run_call("page", {"length": 90_000})
    assert result.outcome.result == "p" * 90_000 and len(result.message["content"]) <= 40_000


def test_above_the_tools_own_limit_callers_get_the_ends_and_a_file_and_models_read_all(
    home: Any,
) -> None:
    tools, length = Toolset(page, count), 2 * MAX_OUTPUT_BYTES
    outcome = tools.call("page", length=length)
    assert outcome.truncated and MAX_OUTPUT_BYTES <= len(outcome.unwrap()) < length
    assert Path(outcome.output_file or "").stat().st_size == length
    assert f"which has {length:,} characters" in answered(tools, "page", "here", length=length)
    assert answered(tools, "count", "here", text={"$result": "r1"}) == str(length)


def test_the_model_is_told_of_read_result_where_the_program_wants_it(home: Any) -> None:
    def names(tools: Toolset) -> list[list[str]]:
        return [
            [one["function"]["name"] for one in tools.openai()],
            [one["function"]["name"] for one in tools.openai(strict=True)],
            [one["name"] for one in tools.responses()],
            [one["name"] for one in tools.anthropic()],
            [one["name"] for one in tools.gemini()[0]["functionDeclarations"]],
            [one["function"]["name"] for one in tools.ollama()],
            [one["name"] for one in tools.mcp()],
        ]

    assert names(Toolset(page)) == [["page"]] * 7
    assert names(Toolset(page, read_result=True)) == [["page", READ]] * 7
    deferred = Toolset(page, read_result=True).anthropic(native=True)
    assert READ in [one["name"] for one in deferred if not one.get("defer_loading")]


def test_a_function_says_what_a_model_is_told_of_it(home: Any) -> None:
    @tool(model_tokens="whole")
    def all_of_it() -> str:
        """Return all of it."""
        return "w" * 90_000

    @tool(model_tokens=200)
    def little() -> str:
        """Return little."""
        return "l" * 1_000

    tools = Toolset(all_of_it, little)
    assert answered(tools, "all_of_it", "here") == "w" * 90_000
    assert len(answered(tools, "little", "here")) <= 800
