"""A set of tools as those of OpenAI's agents SDK, in an agent that asks a model on loopback."""

import asyncio
from typing import Any

import pytest

from tests.support.chat_model import calling
from vespe import Toolset, tool

pytest.importorskip("agents", reason="openai-agents is not installed: see the extra vespe[bridges]")


@tool(read_only=True)
async def double(n: int) -> int:
    """Double a number."""
    return 2 * n


def answered(tools: Toolset, name: str, arguments: Any) -> tuple[str, list[dict[str, Any]]]:
    from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
    from openai import AsyncOpenAI

    async def ask(url: str) -> str:
        set_tracing_disabled(True)
        async with AsyncOpenAI(base_url=url, api_key="k") as client:
            agent = Agent(
                name="a",
                model=OpenAIChatCompletionsModel("m", client),
                tools=[*tools.openai_agents()],
            )
            return str((await Runner.run(agent, "go")).final_output)

    with calling(name, arguments) as (url, seen):
        return asyncio.run(ask(url)), seen


def test_an_agent_of_the_sdk_is_shown_the_tools_and_runs_their_calls(home: object) -> None:
    output, seen = answered(Toolset(double), "double", {"n": 21})
    assert output == "42"
    assert seen[0]["tools"][0]["function"]["parameters"]["required"] == ["n"]


def test_a_call_that_fails_is_told_to_the_model(home: object) -> None:
    output, _ = answered(Toolset(double), "double", {"n": "x"})
    assert "must be an integer" in output


@tool(read_only=True)
async def look() -> dict[str, Any]:
    """Look."""
    return {"content": [{"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}]}


def test_an_image_is_an_input_image_of_the_sdk_and_never_text(home: object) -> None:
    from agents import ItemHelpers, ToolOutputImage, ToolOutputText
    from agents.tool_context import ToolContext
    from openai.types.responses import ResponseFunctionToolCall

    one = Toolset(look).openai_agents()[0]
    context: Any = ToolContext(None, tool_name="look", tool_call_id="i", tool_arguments="{}")

    async def invoked() -> Any:
        return await one.on_invoke_tool(context, "{}")

    output = asyncio.run(invoked())
    url = "data:image/png;base64,iVBORw0KGgo="
    assert output == [ToolOutputText(text="[image/png]"), ToolOutputImage(image_url=url)]
    call = ResponseFunctionToolCall(arguments="{}", call_id="i", name="look", type="function_call")
    item: Any = ItemHelpers.tool_call_output_item(call, output)
    assert [part["type"] for part in item["output"]] == ["input_text", "input_image"]
    assert item["output"][1]["image_url"] == url
    # Chat Completions take no image in a result, where the SDK leaves it out
    said, _ = answered(Toolset(look), "look", {})
    assert "image/png" in said and "base64" not in said
