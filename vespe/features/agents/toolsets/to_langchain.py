"""A set of tools as LangChain's own; importing this needs langchain-core."""

from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

from langchain_core.messages.content import ContentBlock, create_image_block, create_text_block
from langchain_core.tools import StructuredTool, ToolException

from vespe.adapters import result_parts
from vespe.adapters.anthropic import AnthropicShape
from vespe.features.agents.call_results import CallResult
from vespe.features.agents.toolsets.responses import RunsCalls
from vespe.models import JsonObject, Tool

__all__ = ["StructuredTool", "tools_of"]

_Content: TypeAlias = str | list[ContentBlock]
"""What becomes the content of a ToolMessage."""


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


def _sync(tools: RunsCalls, name: str) -> Callable[..., _Content]:
    def run(**arguments: Any) -> _Content:
        return _told(tools.run_call(name, arguments))

    return run


def _async(tools: RunsCalls, name: str) -> Callable[..., Coroutine[Any, Any, _Content]]:
    async def run(**arguments: Any) -> _Content:
        return _told(await tools.arun_call(name, arguments))

    return run


def _told(result: CallResult) -> _Content:
    content = result.message["content"]
    if result.outcome.error is not None:
        raise ToolException(content)
    return content if isinstance(content, str) else [_block(part) for part in content]


def _block(part: JsonObject) -> ContentBlock:
    image = result_parts.image_in(part)
    if image is None:
        return create_text_block(part["text"])
    return create_image_block(mime_type=image[0], base64=image[1])
