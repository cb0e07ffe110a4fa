"""A set of tools as LangChain's own, run by LangChain."""

import asyncio
from typing import Any

import pytest

from vespe import MissingExtra, Toolset, tool

pytest.importorskip(
    "langchain_core", reason="langchain-core is not installed: see the extra vespe[bridges]"
)


@tool(read_only=True)
async def double(n: int) -> int:
    """Double a number."""
    return 2 * n


def test_langchain_shows_a_model_the_schema_and_runs_its_calls(home: object) -> None:
    from langchain_core.utils.function_calling import convert_to_openai_tool

    (made,) = Toolset(double).langchain()
    function = convert_to_openai_tool(made)["function"]
    assert (function["name"], function["description"], function["parameters"]["required"]) == (
        "double",
        "Double a number.",
        ["n"],
    )
    call = {"type": "tool_call", "id": "1", "name": "double", "args": {"n": 21}}
    assert made.invoke(call).content == "42" and asyncio.run(made.ainvoke(call)).content == "42"


def test_a_call_that_fails_is_a_message_with_the_status_error(home: object) -> None:
    (made,) = Toolset(double).langchain()
    message = made.invoke({"type": "tool_call", "id": "1", "name": "double", "args": {"n": "x"}})
    assert message.status == "error" and "must be an integer" in str(message.content)


def test_without_the_library_it_is_said_which_extra_brings_it(
    home: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "langchain_core.tools", None)
    monkeypatch.delitem(sys.modules, "vespe.features.agents.toolsets.to_langchain", raising=False)
    import vespe.features.agents.toolsets as package

    monkeypatch.delattr(package, "to_langchain", raising=False)
    with pytest.raises(MissingExtra, match=r"vespe\[bridges\]"):
        Toolset(double).langchain()


@tool(read_only=True)
async def look() -> dict[str, Any]:
    """Look."""
    return {"content": [{"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}]}


def test_an_image_is_a_block_of_langchains_own(home: object) -> None:
    one = Toolset(look).langchain()[0]
    call = {"type": "tool_call", "id": "i", "name": "look", "args": {}}
    (block,) = one.invoke(call).content_blocks
    assert (block["type"], block["base64"], block["mime_type"]) == (
        "image",
        "iVBORw0KGgo=",
        "image/png",
    )
