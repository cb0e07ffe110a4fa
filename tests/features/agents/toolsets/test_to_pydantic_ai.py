"""A set of tools as pydantic-ai's own, in an agent that asks a model on loopback."""

import asyncio
from typing import Any

import pytest

from tests.support.chat_model import calling
from vespe import Toolset, tool

pytest.importorskip(
    "pydantic_ai", reason="pydantic-ai-slim is not installed: see the extra vespe[bridges]"
)


@tool(read_only=True)
async def double(n: int) -> dict[str, int]:
    """Double a number."""
    return {"doubled": 2 * n}


def answered(tools: Toolset, name: str, arguments: Any) -> tuple[str, list[dict[str, Any]]]:
    from openai import AsyncOpenAI
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    async def ask(url: str) -> str:
        async with AsyncOpenAI(base_url=url, api_key="k") as client:
            agent = Agent(
                OpenAIChatModel("m", provider=OpenAIProvider(openai_client=client)),
                tools=tools.pydantic_ai(),
            )
            return str((await agent.run("go")).output)

    with calling(name, arguments) as (url, seen):
        return asyncio.run(ask(url)), seen


def test_an_agent_of_pydantic_ai_is_shown_the_tools_and_runs_their_calls(home: object) -> None:
    output, seen = answered(Toolset(double), "double", {"n": 21})
    assert output == '{"doubled":42}'
    assert seen[0]["tools"][0]["function"]["parameters"]["properties"] == {"n": {"type": "integer"}}


def test_a_call_that_a_model_can_mend_is_told_to_it(home: object) -> None:
    output, _ = answered(Toolset(double), "double", {"n": "x"})
    assert "must be an integer" in output


@tool(read_only=True)
async def look() -> dict[str, Any]:
    """Look."""
    return {"content": [{"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}]}


def test_a_model_is_sent_an_image_as_an_image(home: object) -> None:
    _, seen = answered(Toolset(look), "look", {})
    sent = [
        part
        for message in seen[-1]["messages"]
        if isinstance(message["content"], list)
        for part in message["content"]
    ]
    images = [part["image_url"]["url"] for part in sent if part["type"] == "image_url"]
    assert images == ["data:image/png;base64,iVBORw0KGgo="]
    assert "iVBOR" not in str(
        [one["content"] for one in seen[-1]["messages"] if one["role"] == "tool"]
    )
