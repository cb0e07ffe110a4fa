"""The Model Context Protocol: entries of `tools/list`, `tools/call` requests, and their results
both ways.
"""

from collections.abc import Callable
from typing import ClassVar, Final

from vespe.adapters import (
    arguments,
    definition_parts,
    definitions,
    model_calls,
    result_parts,
    result_texts,
    tool_errors,
)
from vespe.adapters.call_ids import text_id
from vespe.adapters.content_parts import data_url
from vespe.adapters.messages import (
    MCP_BLOCKS,
    PART,
    REST,
    STRUCTURED,
    check_messages,
    copied,
    kind,
    parts_of,
    quote,
    refuse,
    said,
    told,
)
from vespe.models import Call, JsonObject, JsonValue, Tool
from vespe.records import dataclass

_KNOWN: Final = ("name", "description", "inputSchema", "outputSchema", "annotations", "title")
_UNTITLED: Final[JsonObject] = {"title": None}
"""Kept for a tool whose title stood beside its annotations alone; a kept `title` of null, for one
where it stood in them alone.
"""


class McpShape:
    """Tools as an MCP server lists them (specification 2025-06-18 and later, `Tool`)."""

    name = "mcp"

    def definition(self, tool: Tool) -> JsonObject:
        """Return `{"name", "description", "inputSchema"}`, with `title`, `outputSchema` and
        `annotations` where the tool has them.

        An output schema may be of any kind, as it may since revision 2026-07-28; the two before it
        want `type: object` at its root, which `vespe lint` says.
        """
        own = definition_parts.own_fields(tool, self.name)
        annotations = definition_parts.own_annotations(tool)
        titled = (
            {"title": annotations["title"]} if isinstance(annotations.get("title"), str) else {}
        )
        if own.pop("annotations", None) == _UNTITLED:
            annotations.pop("title", None)
        entry = definition_parts.described(tool) | {
            "inputSchema": definition_parts.shown_schema(tool)
        }
        document = titled | own | entry | definition_parts.shown_output(tool, "outputSchema")
        return {k: v for k, v in document.items() if (k, v) != ("title", None)} | (
            {"annotations": annotations} if annotations else {}
        )

    def read(self, definition: JsonObject) -> Tool:
        """Return the tool of an entry; its title becomes the annotation that Vespe keeps it in, and
        where it stood is kept too.
        """
        given = (
            definitions.object_or_none(definition, "annotations", definition.get("annotations"))
            or {}
        )
        annotations = {key: value for key, value in given.items() if value is not None}
        if not isinstance(definition.get("title"), str | None):
            definitions.refuse(
                definition.get("name"), f"`title` must be a string, not {kind(definition['title'])}"
            )
        own_title: JsonObject = {}
        if isinstance(title := definition.get("title"), str):
            own_title = {"title": title} if annotations.get("title", title) != title else {}
            own_title |= {} if "title" in annotations else {"annotations": _UNTITLED}
            annotations.setdefault("title", title)
        elif "title" in annotations:
            own_title = {"title": None}
        return definitions.foreign_tool(
            self.name,
            definition,
            schema=definition.get("inputSchema"),
            rest=definitions.others(definition, _KNOWN) | own_title,
            output_schema=definitions.object_or_none(
                definition, "outputSchema", definition.get("outputSchema")
            ),
            annotations=annotations,
        )


@dataclass(frozen=True, slots=True)
class McpAdapter:
    """One tool behind an MCP server: the model's side of `tools/call` is its client."""

    name: ClassVar[str] = "mcp"
    tool: Tool
    execute_tool = model_calls.execute_tool

    def generate_tool_description(self) -> JsonObject:
        """Return the entry of `tools/list`."""
        return McpShape().definition(self.tool)

    def parse_llm_response(self, text_or_message: JsonValue) -> tuple[Call, ...]:
        """Return the call of a `tools/call` request, or of its `params`."""
        given = model_calls.read_answer(text_or_message, what="the MCP request")
        params = given["params"] if isinstance(given.get("params"), dict) else given
        identifier = given.get("id")
        call = model_calls.made_call(
            params.get("name"),
            params.get("arguments"),
            None if identifier is None else str(identifier),
        )
        return model_calls.own_calls(self.tool, (call,))

    def format_tool_output(self, output: object, *, call_id: str = "") -> JsonObject:
        """Return the result of `tools/call`; an object, and any result of a tool with an output
        schema, is `structuredContent` too. Content that holds an image is the content.

        The id belongs to the response around it.
        """
        value, failed = tool_errors.outcome_of(output)
        parts = result_parts.shown(value)
        if not isinstance(parts, str) and self.tool.output_schema is None:
            return {"content": [_block(part) for part in parts]} | tool_errors.mcp_field_of(failed)
        result: JsonObject = {"content": [{"type": "text", "text": result_texts.text_of(value)}]}
        if (isinstance(value, dict) or self.tool.output_schema is not None) and not failed:
            result["structuredContent"] = result_texts.apart(value)
        return result | tool_errors.mcp_field_of(failed)


def to_tool_message(result: JsonObject, call_id: str) -> JsonObject:
    """Return a `tools/call` result as an inner tool message; texts and images are parts, what
    OpenAI cannot say stands beside.
    """
    if not isinstance(result, dict):
        refuse(0, f"an MCP result must be an object, not {type(result).__name__}")
    parts: list[JsonObject] = []
    order: list[JsonValue] = []
    for block in parts_of(result.get("content"), 0):
        read = _TO_PART.get(str(block.get("type")))
        part = None if read is None else read(block)
        if part is not None:
            parts.append(part)
        order.append(copied(block, 0) if part is None else PART)
    if not order and result.get("structuredContent") is not None:
        return _structured_alone(result, call_id)
    message: JsonObject = {"role": "tool", "tool_call_id": text_id(call_id), "content": parts or ""}
    if len(order) > len(parts):
        message[MCP_BLOCKS] = order
    if result.get("structuredContent") is not None:
        message[STRUCTURED] = copied(result["structuredContent"], 0)
    return message | tool_errors.from_mcp(result)


def _structured_alone(result: JsonObject, call_id: str) -> JsonObject:
    """Return the message of a result without content: its structured content as JSON text, so that
    a model sees it.
    """
    structured = copied(result["structuredContent"], 0)
    text = arguments.to_text(structured)
    message: JsonObject = {
        "role": "tool",
        "tool_call_id": text_id(call_id),
        "content": text,
        STRUCTURED: structured,
    }
    return message | tool_errors.from_mcp(result)


def from_tool_message(message: JsonObject) -> JsonObject:
    """Return the `tools/call` result of an inner tool message; raises InvalidDocument for content
    that MCP cannot say.
    """
    check_messages([message])
    said_alone = MCP_BLOCKS not in message and _says_structured(message)
    parts = [] if said_alone else parts_of(told(message, 0).get("content"), 0)
    waiting = iter([_block(part) for part in parts])
    order = message.get(MCP_BLOCKS)
    content: list[JsonObject] = []
    for item in order if isinstance(order, list) else ():
        if isinstance(item, dict):
            content.append(copied(item, 0))
        elif (block := next(waiting, None)) is not None:
            content.append(block)
    result: JsonObject = {"content": [*content, *waiting]}
    if message.get(STRUCTURED) is not None:
        result["structuredContent"] = copied(message[STRUCTURED], 0)
    return result | tool_errors.to_mcp(message)


def _says_structured(message: JsonObject) -> bool:
    """Whether the text is what `_structured_alone` made of the structured content, so that it goes
    back as no content.
    """
    structured = message.get(STRUCTURED)
    return (
        structured is not None
        and isinstance(message.get("content"), str)
        and message["content"] == arguments.to_text(structured)
    )


def _rest(block: JsonObject, known: tuple[str, ...]) -> JsonObject:
    rest = {key: copied(value, 0) for key, value in block.items() if key not in known}
    return {REST: rest} if rest else {}


def _text_part(block: JsonObject) -> JsonObject | None:
    return (
        {"type": "text", "text": said(block["text"])} | _rest(block, ("type", "text"))
        if isinstance(block.get("text"), str)
        else None
    )


def _image_part(block: JsonObject) -> JsonObject | None:
    if not isinstance(block.get("data"), str) or not isinstance(block.get("mimeType"), str):
        return None
    url = said(f"data:{block['mimeType']};base64,{block['data']}")
    return {"type": "image_url", "image_url": {"url": url}} | _rest(
        block, ("type", "data", "mimeType")
    )


_TO_PART: Final[dict[str, Callable[[JsonObject], JsonObject | None]]] = {
    "text": _text_part,
    "image": _image_part,
}


def _block(part: JsonObject) -> JsonObject:
    rest: JsonObject = copied(part[REST], 0) if isinstance(part.get(REST), dict) else {}
    if part.get("type") == "text" and isinstance(part.get("text"), str):
        return rest | {"type": "text", "text": said(part["text"])}
    image = part.get("image_url")
    url = image.get("url") if isinstance(image, dict) else None
    url = said(url) if isinstance(url, str) else url
    if isinstance(url, str) and (found := data_url(url)) is not None:
        return rest | {"type": "image", "data": found[1], "mimeType": found[0]}
    if not isinstance(url, str):
        refuse(
            0,
            f"an MCP result takes no content of type {quote(part.get('type'))}",
            pointer="/content",
        )
    return rest | {"type": "resource_link", "uri": url, "name": url.rpartition("/")[2] or url}
