"""A set of tools as those of OpenAI's agents SDK; importing this needs openai-agents."""

from collections.abc import Callable, Coroutine
from typing import Any

from agents import FunctionTool as AgentsTool

from vespe.adapters.anthropic import AnthropicShape
from vespe.features.agents.toolsets.responses import RunsCalls
from vespe.models import Tool

__all__ = ["AgentsTool", "tools_of"]


def tools_of(tools: RunsCalls) -> list[AgentsTool]:
    """Return a FunctionTool for each tool; a call that fails is a result that says so."""
    return [_made(tools, tool) for tool in tools.declared.values()]


def _made(tools: RunsCalls, tool: Tool) -> AgentsTool:
    return AgentsTool(
        name=tool.name,
        description=tool.description,
        params_json_schema=AnthropicShape().definition(tool)["input_schema"],
        on_invoke_tool=_async(tools, tool.name),
        strict_json_schema=False,
    )


def _async(tools: RunsCalls, name: str) -> Callable[[Any, str], Coroutine[Any, Any, str]]:
    async def invoke(context: Any, arguments: str) -> str:
        result = await tools.arun_call(
            name, arguments, call_id=str(getattr(context, "tool_call_id", ""))
        )
        return str(result.message["content"])

    return invoke
