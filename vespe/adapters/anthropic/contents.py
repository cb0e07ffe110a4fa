"""What one OpenAI message says, as Anthropic's blocks: contents in their order, calls, results,
reasoning, names.
"""

import re
from typing import Final

from vespe.adapters import arguments, tool_errors
from vespe.adapters.call_ids import custom_text_of, encode_id, function_of, is_custom
from vespe.adapters.content_parts import PART_TYPES, to_block, verbatim
from vespe.adapters.messages import (
    BLOCKS,
    CACHE,
    CALL,
    PART,
    completed,
    copied,
    is_empty,
    parts_of,
    plain_text,
    refuse,
    said,
    told,
)
from vespe.errors import InvalidDocument
from vespe.models import JsonObject, JsonValue

_OUTSIDE_NAMES: Final = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_NAME: Final = 128
_RESULTS: Final = ("tool", "function")
_UNCACHED: Final = ("thinking", "redacted_thinking")
_OF_MESSAGES: Final = ("tool_use", "tool_result")
"""Blocks that messages say in their own fields, where they are paired and checked."""


def system_blocks(message: JsonObject, index: int) -> list[JsonObject]:
    """Return the blocks of a system or developer message, blank ones left out: texts, and unknown
    ones of `BLOCKS` as they are.

    Raises InvalidDocument for images and documents.
    """
    blocks = _content_blocks(message, index)
    if any(
        block.get("type") in PART_TYPES and not isinstance(block.get("text"), str)
        for block in blocks
    ):
        refuse(index, "a system message holds text only", pointer="/content")
    return [block for block in blocks if not is_blank(block)]


def user_blocks(message: JsonObject, index: int) -> list[JsonObject]:
    """Return the blocks of a user message; `marked` puts the mark of its `speaker` before them."""
    return worded(_content_blocks(message, index))


def worded(blocks: list[JsonObject]) -> list[JsonObject]:
    """Return blocks without blank texts where no other text is among them: Anthropic refuses a
    message of those alone.
    """
    if all(is_blank(block) for block in blocks if block.get("type") == "text"):
        return [block for block in blocks if not is_blank(block)]
    return blocks


def is_blank(block: JsonObject) -> bool:
    """Say whether a block is a text of nothing but white space."""
    return (
        block.get("type") == "text"
        and isinstance(block.get("text"), str)
        and not block["text"].strip()
    )


def assistant_blocks(message: JsonObject, calls: list[JsonObject], index: int) -> list[JsonObject]:
    """Return the blocks of an assistant message whose calls are the blocks `calls`."""
    parts = [*parts_of(message.get("content"), index), *parts_of(message.get("refusal"), index)]
    texts = [
        block
        for part in parts
        if not is_empty(part) and not is_empty(block := to_block(part, index))
    ]
    if isinstance(order := message.get(BLOCKS), list):
        return worded(_cached(_ordered(order, texts, calls, index=index), message, index))
    made = (
        [*_reasoning(message), *texts, *calls] if "reasoning_details" in message else texts + calls
    )
    return worded(_cached(made, message, index))


def call_block(call: JsonObject, identifier: str, index: int) -> JsonObject:
    """Return the `tool_use` block of a call that goes by `identifier`."""
    function = function_of(call, index)
    if is_custom(call):
        given: JsonObject = arguments.custom_input(custom_text_of(function, index))
    else:
        given = input_of(function.get("arguments"), index)
    name = _OUTSIDE_NAMES.sub("_", function["name"])[:_LONGEST_NAME]
    return completed(
        {"type": "tool_use", "id": encode_id(identifier), "name": name, "input": given}, call, index
    )


def input_of(given: JsonValue, index: int) -> JsonObject:
    """Return the input of a call's `arguments`; raises InvalidDocument, with the message's index,
    for what JSON cannot say.
    """
    try:
        return arguments.to_input(given)
    except InvalidDocument as error:
        refuse(index, f"a call's arguments {error.reason}", pointer="/tool_calls")


def result_block(message: JsonObject, identifier: str, index: int) -> JsonObject:
    """Return the `tool_result` block of a tool message; a text stays one, JSON becomes one, and
    nothing is no `content`.
    """
    message = told(message, index)
    block: JsonObject = {"type": "tool_result", "tool_use_id": encode_id(identifier)}
    blocks = _content_blocks(message, index)
    if blocks:
        text = plain_text(blocks) if isinstance(message["content"], str) else None
        block["content"] = blocks if text is None else text
    return completed(block, message, index) | tool_errors.copied_field(message)


def _content_blocks(message: JsonObject, index: int) -> list[JsonObject]:
    content = message.get("content")
    if isinstance(content, str) and BLOCKS not in message and CACHE not in message:
        return [{"type": "text", "text": said(content)}] if content else []
    parts = [part for part in parts_of(content, index) if not is_empty(part)]
    blocks = [to_block(part, index) for part in parts]
    order = message.get(BLOCKS)
    made = _ordered(order, blocks, [], index=index) if isinstance(order, list) else blocks
    return made if message.get("role") in _RESULTS else _cached(made, message, index)


def _cached(blocks: list[JsonObject], message: JsonObject, index: int) -> list[JsonObject]:
    """Put a whole message's cache mark on its last block that can bear one: thinking cannot, nor
    blank text.
    """
    mark = message.get(CACHE)
    if isinstance(mark, dict):
        for place in range(len(blocks) - 1, -1, -1):
            if blocks[place].get("type") not in _UNCACHED and not is_blank(blocks[place]):
                blocks[place] = {**blocks[place], CACHE: copied(mark, index)}
                break
    return blocks


def _ordered(
    order: list[JsonValue], parts: list[JsonObject], calls: list[JsonObject], *, index: int
) -> list[JsonObject]:
    """Put blocks in the order that they had; what the order does not know comes last, and what is
    gone is left out.
    """
    waiting = {PART: iter(parts), CALL: iter(calls)}
    made: list[JsonObject] = []
    for item in order:
        if isinstance(item, dict):
            if not isinstance(item.get("type"), str):
                refuse(index, f"a block of `{BLOCKS}` needs a `type`", pointer=f"/{BLOCKS}")
            if item["type"] in _OF_MESSAGES:
                refuse(
                    index,
                    f"`{BLOCKS}` may hold no `{item['type']}`: calls and results are messages' own",
                    pointer=f"/{BLOCKS}",
                )
            made.append(verbatim(item, index))
        elif (
            isinstance(item, str)
            and item in waiting
            and (block := next(waiting[item], None)) is not None
        ):
            made.append(block)
    return [*made, *waiting[PART], *waiting[CALL]]


def _reasoning(message: JsonObject) -> list[JsonObject]:
    """Return the thinking blocks that a gateway's `reasoning_details` hold with Anthropic's
    signature; unsigned ones it refuses.
    """
    details = message.get("reasoning_details")
    return [
        block
        for detail in (details if isinstance(details, list) else ())
        if (block := _thinking(detail)) is not None
    ]


def _thinking(detail: JsonValue) -> JsonObject | None:
    if not isinstance(detail, dict) or not str(detail.get("format")).startswith("anthropic-claude"):
        return None
    if isinstance(detail.get("signature"), str) and isinstance(detail.get("text"), str):
        return {
            "type": "thinking",
            "thinking": said(detail["text"]),
            "signature": said(detail["signature"]),
        }
    if detail.get("type") == "reasoning.encrypted" and isinstance(detail.get("data"), str):
        return {"type": "redacted_thinking", "data": said(detail["data"])}
    return None
