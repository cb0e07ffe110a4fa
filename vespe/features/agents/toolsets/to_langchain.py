"""A set of tools as LangChain's own; importing this needs langchain-core."""

from collections.abc import Callable, Coroutine
from typing import Any

from langchain_core.tools import StructuredTool, ToolException

from vespe.adapters.anthropic import AnthropicShape
from vespe.features.agents.call_results import CallResult
from vespe.features.agents.toolsets.responses import RunsCalls
from vespe.models import Tool

__all__ = ["StructuredTool", "tools_of"]


def tools_of(tools: RunsCalls) -> list[StructuredTool]:
    """Return a StructuredTool for each tool; a call that fails is a ToolMessage with the status
    `error`.
    """
    return [_made(tools, tool) for tool in tools.declared.values()]


def _made(tools: RunsCalls, tool: Tool) -> StructuredTool:
    definition = AnthropicShape().definition(tool)
    return StructuredTool(
        name=tool.name,
        description=tool.description or tool.name,
        args_schema=definition["input_schema"],
        func=_sync(tools, tool.name),
        coroutine=_async(tools, tool.name),
        handle_tool_error=True,
        metadata={"annotations": tool.annotations} if tool.annotations else None,
    )


def _sync(tools: RunsCalls, name: str) -> Callable[..., str]:
    def run(**arguments: Any) -> str:
        return _told(tools.run_call(name, arguments))

    return run


def _async(tools: RunsCalls, name: str) -> Callable[..., Coroutine[Any, Any, str]]:
    async def run(**arguments: Any) -> str:
        return _told(await tools.arun_call(name, arguments))

    return run


def _told(result: CallResult) -> str:
    text = str(result.message["content"])
    if result.outcome.error is not None:
        raise ToolException(text)
    return text
