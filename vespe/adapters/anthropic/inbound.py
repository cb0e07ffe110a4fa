"""A conversation on its way in: Anthropic's `system` and `messages` as OpenAI's messages, with what
OpenAI cannot say beside them.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from vespe.adapters import arguments
from vespe.adapters.anthropic.speakers import looks_marked, unmarked
from vespe.adapters.call_ids import Calls, decode_id, text_id
from vespe.adapters.content_parts import to_part, verbatim
from vespe.adapters.messages import (
    BLOCKS,
    CALL,
    PART,
    check_messages,
    is_empty,
    parts_of,
    plain_text,
    quote,
    refuse,
    rest_of,
    said,
)
from vespe.errors import InvalidDocument
from vespe.models import JsonObject, JsonValue

_CALL_KEYS: Final = ("type", "id", "name", "input")
_RESULT_KEYS: Final = ("type", "tool_use_id", "content")


def to_openai_messages(
    messages: Iterable[JsonObject], system: JsonValue = None
) -> list[JsonObject]:
    """Translate a conversation of Anthropic's Messages API to OpenAI's chat format, for
    `from_openai_messages` to give back.

    What OpenAI cannot say stands in documented fields beside OpenAI's own (docs/adapters.md):
    `anthropic_blocks`, `anthropic`, `cache_control`, `is_error`. A result is a message of its own;
    blocks that Vespe does not know are kept whole. What an assistant says right behind its calls
    joins their message, as OpenAI wants the results directly behind it. Raises InvalidDocument,
    naming the message's index, for what is not a conversation.
    """
    made = _system(system)
    calls: Calls[None] = Calls()
    for index, message in enumerate(check_messages(messages)):
        role = message.get("role")
        if message.get("tool_calls"):
            refuse(
                index,
                "has `tool_calls`, which are OpenAI's: Anthropic's calls are `tool_use` blocks",
                pointer="/tool_calls",
            )
        if role == "assistant":
            if (not made or made[-1]["role"] != "assistant") and not all(
                map(is_empty, parts_of(message.get("content"), index))
            ):
                calls.begin_turn()
            spoken = _assistant(message, calls, index)
            if spoken and made and made[-1].get("tool_calls"):
                spoken = [_joined(made.pop(), *spoken)]
            made += spoken
        elif role == "user":
            made += _user(message, calls, index)
        elif role == "system":
            made += _spoken(
                "system", *_read(message, index), text=isinstance(message.get("content"), str)
            )
        else:
            refuse(
                index,
                f"has the role {quote(role)}; there are user, assistant and system",
                pointer="/role",
            )
    return made


def _system(system: JsonValue) -> list[JsonObject]:
    """Return a message for each block; one block that came as a list stays a list, so that it goes
    back as one.
    """
    parts, order = _parts(parts_of(system, 0), 0)
    if isinstance(system, str) or len(parts) <= 1:
        return _spoken("system", parts, order, text=isinstance(system, str))
    return [message for part in parts for message in _spoken("system", [part], None, text=True)]


def _read(message: JsonObject, index: int) -> tuple[list[JsonObject], list[JsonValue] | None]:
    return _parts(parts_of(message.get("content"), index), index)


def _parts(
    blocks: list[JsonObject], index: int, *, literal: bool = False
) -> tuple[list[JsonObject], list[JsonValue] | None]:
    """Return the parts of blocks, and the order of all where OpenAI cannot say each of them, nor,
    with `literal`, what looks marked.
    """
    parts: list[JsonObject] = []
    order: list[JsonValue] = []
    for block in blocks:
        if is_empty(block):
            continue
        part = None if literal and looks_marked(block) else to_part(block, index)
        if part is not None:
            parts.append(part)
        order.append(verbatim(block, index) if part is None else PART)
    return parts, order if len(order) > len(parts) else None


def _spoken(
    role: str, parts: list[JsonObject], order: list[JsonValue] | None, *, text: bool
) -> list[JsonObject]:
    """Return the message of these parts, if it says anything; with `text`, one plain text part is a
    text.
    """
    if not parts and not order:
        return []
    plain = plain_text(parts) if text else None
    message: JsonObject = {"role": role, "content": parts if plain is None else plain}
    return [message | ({BLOCKS: order} if order else {})]


def _assistant(message: JsonObject, calls: Calls[None], index: int) -> list[JsonObject]:
    parts: list[JsonObject] = []
    made: list[JsonObject] = []
    order: list[JsonValue] = []
    for block in parts_of(message.get("content"), index):
        if is_empty(block):
            continue
        part = to_part(block, index) if block.get("type") != "tool_use" else None
        if block.get("type") == "tool_use":
            made.append(_call(block, calls, index))
            order.append(CALL)
        elif part is not None:
            parts.append(part)
            order.append(PART)
        else:
            order.append(verbatim(block, index))
    if not order:
        return []
    return [_said(message, parts, made, order=order)]


def _said(
    message: JsonObject, parts: list[JsonObject], calls: list[JsonObject], *, order: list[JsonValue]
) -> JsonObject:
    usual = order == [PART] * len(parts) + [CALL] * len(calls)
    text = (
        plain_text(parts) if isinstance(message.get("content"), str) or calls or not usual else None
    )
    given: JsonObject = {
        "role": "assistant",
        "content": text if text is not None else parts or None,
    }
    if calls:
        given["tool_calls"] = calls
    return given if usual else {**given, BLOCKS: order}


def _joined(first: JsonObject, second: JsonObject) -> JsonObject:
    """Return two assistant messages as one, every block in its place."""
    both = (first, second)
    parts = [part for message in both for part in parts_of(message["content"], 0)]
    calls = [call for message in both for call in message.get("tool_calls", ())]
    return _said({}, parts, calls, order=[item for message in both for item in _order(message)])


def _order(message: JsonObject) -> list[JsonValue]:
    given: list[JsonValue] | None = message.get(BLOCKS)
    return (
        [PART] * len(parts_of(message["content"], 0)) + [CALL] * len(message.get("tool_calls", ()))
        if given is None
        else given
    )


def _call(block: JsonObject, calls: Calls[None], index: int) -> JsonObject:
    name = block.get("name")
    if not isinstance(name, str) or not name:
        refuse(index, "a `tool_use` block has no name", pointer="/content")
    name = said(name)
    given = block.get("id")
    identifier = decode_id(calls.add(given, name, None).id)
    custom = arguments.custom_text(block.get("input"))
    if custom is not None:
        call: JsonObject = {
            "id": identifier,
            "type": "custom",
            "custom": {"name": name, "input": custom},
        }
    else:
        function = {"name": name, "arguments": _arguments(block.get("input"), index)}
        call = {"id": identifier, "type": "function", "function": function}
    return call | rest_of(block, _CALL_KEYS, index)


def _arguments(given: JsonValue, index: int) -> str:
    try:
        return arguments.to_arguments(given)
    except InvalidDocument as error:
        refuse(index, f"a call's input {error.reason}", pointer="/content")


def _user(message: JsonObject, calls: Calls[None], index: int) -> Iterator[JsonObject]:
    """Return the results, each as a message, then what the user says; a mark of a name opens a
    message of its own.
    """
    blocks = [block for block in parts_of(message.get("content"), index) if not is_empty(block)]
    results = [block for block in blocks if block.get("type") == "tool_result"]
    for block in results:
        yield _result(block, calls, index)
    rest = [block for block in blocks if block.get("type") != "tool_result"]
    read = unmarked(rest)
    stretches = [("", rest)] if read is None else read
    several = bool(results) or len(stretches) > 1 or (bool(stretches) and bool(stretches[0][0]))
    for name, stretch in stretches:
        text = several or isinstance(message.get("content"), str)
        for spoken in _spoken("user", *_parts(stretch, index, literal=read is None), text=text):
            yield {**spoken, "name": said(name)} if name else spoken


def _result(block: JsonObject, calls: Calls[None], index: int) -> JsonObject:
    given = block.get("tool_use_id")
    waiting = calls.answer(given)
    identifier = waiting.id if waiting is not None else text_id(given)
    if not identifier:
        refuse(
            index,
            "a `tool_result` block has no `tool_use_id`, and no call before it is open",
            pointer="/content",
        )
    parts, order = _parts(parts_of(block.get("content"), index), index)
    content = said(block["content"]) if isinstance(block.get("content"), str) else parts or ""
    message: JsonObject = {
        "role": "tool",
        "tool_call_id": decode_id(identifier),
        "content": content,
    }
    return message | ({BLOCKS: order} if order else {}) | rest_of(block, _RESULT_KEYS, index)
