"""A set of tools as pydantic-ai's own; importing this needs pydantic-ai-slim."""

import base64
from collections.abc import Callable, Coroutine
from typing import Any

from pydantic_ai import BinaryContent, ModelRetry
from pydantic_ai import Tool as PydanticTool

from vespe.adapters import result_parts
from vespe.adapters.anthropic import AnthropicShape
from vespe.features.agents.toolsets.responses import RunsCalls
from vespe.models import JsonObject, Tool

__all__ = ["PydanticTool", "tools_of"]


def tools_of(tools: RunsCalls) -> list[PydanticTool[Any]]:
    """Return a pydantic-ai Tool for each tool; what the model can mend is a ModelRetry, any other
    failure a result that says so.
    """
    return [_made(tools, tool) for tool in tools.declared.values()]


def _made(tools: RunsCalls, tool: Tool) -> PydanticTool[Any]:
    schema = AnthropicShape().definition(tool)["input_schema"]
    apart = tool.annotations.get("readOnlyHint") is not True
    return PydanticTool.from_schema(
        _async(tools, tool.name), tool.name, tool.description, schema, sequential=apart
    )


def _async(tools: RunsCalls, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
    async def run(**arguments: Any) -> Any:
        result = await tools.arun_call(name, arguments)
        error, content = result.told.error, result.message["content"]
        if error is None:
            return (
                result.told.result
                if isinstance(content, str)
                else [_content(part) for part in content]
            )
        if error.retryable:
            raise ModelRetry(content)
        return content

    return run


def _content(part: JsonObject) -> str | BinaryContent:
    image = result_parts.image_in(part)
    if image is None:
        return str(part["text"])
    return BinaryContent(data=base64.b64decode(image[1]), media_type=image[0])
