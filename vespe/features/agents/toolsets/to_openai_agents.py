"""A set of tools as those of OpenAI's agents SDK; importing this needs openai-agents."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeAlias

from agents import FunctionTool as AgentsTool
from agents import ToolOutputImage, ToolOutputText

from vespe.adapters import result_parts
from vespe.adapters.anthropic import AnthropicShape
from vespe.features.agents.toolsets.responses import RunsCalls
from vespe.models import JsonObject, Tool

__all__ = ["AgentsTool", "tools_of"]

_Output: TypeAlias = list[ToolOutputText | ToolOutputImage]


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


def _async(tools: RunsCalls, name: str) -> Callable[[Any, str], Coroutine[Any, Any, str | _Output]]:
    async def invoke(context: Any, arguments: str) -> str | _Output:
        result = await tools.arun_call(
            name, arguments, call_id=str(getattr(context, "tool_call_id", ""))
        )
        content = result.message["content"]
        return content if isinstance(content, str) else _output(content)

    return invoke


def _output(parts: Sequence[JsonObject]) -> _Output:
    """Return parts as the SDK's own, always with a text: the SDK refuses to send images alone to
    Chat Completions, where it leaves them out.
    """
    made: _Output = [
        ToolOutputText(text=part["text"])
        if part["type"] == "text"
        else ToolOutputImage(image_url=part["image_url"]["url"])
        for part in parts
    ]
    alone = all(isinstance(one, ToolOutputImage) for one in made)
    return [ToolOutputText(text=result_parts.named(parts)), *made] if alone else made
