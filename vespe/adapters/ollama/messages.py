"""Conversations between OpenAI's chat format and Ollama's: one text a message, images beside it,
arguments as objects.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from vespe.adapters import arguments, tool_errors
from vespe.adapters.call_ids import Calls, calls_of, custom_text_of, function_of, is_custom, text_id
from vespe.adapters.content_parts import data_url, document_text, readable_parts
from vespe.adapters.messages import (
    BLOCKS,
    GENERATED,
    REASONING,
    check_messages,
    copied,
    is_empty,
    kind,
    parts_of,
    quote,
    refuse,
    said,
    told,
)
from vespe.adapters.translated import translated
from vespe.errors import InvalidDocument
from vespe.models import JsonObject, JsonValue

T = TypeVar("T")

_ROLES: Final = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_SIGNATURES: Final = (
    ("iVBORw0KGgo", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGOD", "image/gif"),
    ("UklGR", "image/webp"),
)


def from_openai_messages(messages: Iterable[JsonObject]) -> JsonObject:
    """Translate a conversation: `{"system": [], "messages": […]}`, whose messages are for Ollama's
    `/api/chat`.

    Ollama takes system messages in their place, so `system` is always `[]`: it stands there for the
    likeness with Anthropic's. The rules and the encodings are in docs/adapters.md. Raises
    InvalidDocument, naming the message's index, for content that Ollama does not take.
    """
    return {"system": [], "messages": list(translated(messages, "ollama", _Outward).made)}


class _Outward:
    """A conversation on its way out; see `from_openai_messages`."""

    def __init__(self) -> None:
        self.made: list[JsonObject] = []
        self._calls: Calls[None] = Calls()

    def add(self, message: JsonObject, index: int) -> None:
        role = _ROLES.get(message["role"]) if isinstance(message.get("role"), str) else None
        if role is None:
            refuse(
                index,
                f"has the role {quote(message.get('role'))}; there are {', '.join(_ROLES)}",
                pointer="/role",
            )
        opens = role == "assistant" and (not self.made or self.made[-1]["role"] != "assistant")
        if opens and (message.get("tool_calls") or message.get("function_call")):
            self._calls.begin_turn()
            opens = False
        spoken = _outward(message, role, self._calls, index=index)
        if spoken.keys() != {"role", "content"} or spoken["content"] or role == "tool":
            if opens:
                self._calls.begin_turn()
            self.made.append(spoken)


def to_openai_messages(
    messages: Iterable[JsonObject], system: JsonValue = None
) -> list[JsonObject]:
    """Translate a conversation of Ollama's `/api/chat` to OpenAI's chat format, behind `system`
    where one is given.

    Calls without an id get one by their place, results without one answer the calls of the turn
    before by name and place.
    """
    calls: Calls[None] = Calls()
    made: list[JsonObject] = [{"role": "system", "content": copied(system, 0)}] if system else []
    for index, message in enumerate(check_messages(messages)):
        role = message.get("role")
        if role not in ("system", "user", "assistant", "tool"):
            refuse(
                index,
                f"has the role {quote(role)}; there are system, user, assistant and tool",
                pointer="/role",
            )
        says = any(message.get(key) for key in ("content", "images", "thinking", "tool_calls"))
        if role == "assistant" and says and (not made or made[-1]["role"] != "assistant"):
            calls.begin_turn()
        made += _inward(message, _ROLES[role], calls, index=index)
    return made


def _outward(message: JsonObject, role: str, calls: Calls[None], *, index: int) -> JsonObject:
    message = told(message, index) if role == "tool" else message
    parts = [part for part in readable_parts(message, index) if not is_empty(part)]
    if role == "assistant":
        parts += parts_of(message.get("refusal"), index)
    images = [_image(part, index) for part in parts if part.get("type") == "image_url"]
    text = "\n".join(_text(part, index) for part in parts if part.get("type") != "image_url")
    made: JsonObject = {"role": role, "content": text} | ({"images": images} if images else {})
    if role == "tool":
        return _outward_result(message, made, calls)
    if role == "assistant":
        made |= _thinking(message)
        if given := _calls(message, calls, index):
            made["tool_calls"] = given
    return made


def _outward_result(message: JsonObject, made: JsonObject, calls: Calls[None]) -> JsonObject:
    given = message.get("tool_call_id")
    waiting = calls.answer(given, message.get("name"))
    name = waiting.name if waiting is not None else message.get("name")
    made["content"] = tool_errors.mark_to_read_back(
        made["content"], error=tool_errors.is_failed(message)
    )
    if isinstance(name, str) and name:
        made["tool_name"] = said(name)
    return made | _identified("tool_call_id", given if waiting is None else waiting.id)


def _identified(key: str, identifier: Any) -> JsonObject:
    own = text_id(identifier)
    return {key: own} if own and not GENERATED.fullmatch(own) else {}


def _calls(message: JsonObject, calls: Calls[None], index: int) -> list[JsonObject]:
    return [_call(call, calls, index) for call in calls_of(message, index)]


def _call(call: JsonObject, calls: Calls[None], index: int) -> JsonObject:
    function = function_of(call, index)
    waiting = calls.add(call.get("id"), function["name"], None)
    if is_custom(call):
        given = arguments.custom_input(custom_text_of(function, index))
    else:
        given = _said_in_json(arguments.to_input, function.get("arguments"), index)
    return {
        **_identified("id", waiting.id),
        "function": {"name": said(function["name"]), "arguments": given},
    }


def _said_in_json(translate: Callable[[JsonValue], T], given: JsonValue, index: int) -> T:
    try:
        return translate(given)
    except InvalidDocument as error:
        refuse(index, f"a call's arguments {error.reason}", pointer="/tool_calls")


def _thinking(message: JsonObject) -> JsonObject:
    order = message.get(BLOCKS)
    blocks = [
        block for block in (order if isinstance(order, list) else ()) if isinstance(block, dict)
    ]
    text = "\n".join(
        block["thinking"] for block in blocks if isinstance(block.get("thinking"), str)
    )
    given = message.get(REASONING) or message.get("reasoning") or text
    return {"thinking": said(given)} if isinstance(given, str) and given else {}


def _image(part: JsonObject, index: int) -> str:
    image = part.get("image_url")
    url = image.get("url") if isinstance(image, dict) else image
    found = data_url(url) if isinstance(url, str) else None
    if found is None:
        refuse(
            index,
            f"Ollama takes an image as base64 in a data URL only, not {quote(url)}",
            pointer="/content",
        )
    return said(found[1])


def _text(part: JsonObject, index: int) -> str:
    if part.get("type") == "file" and (document := document_text(part)) is not None:
        return said(document)
    text = part.get("refusal" if part.get("type") == "refusal" else "text")
    if part.get("type") not in ("text", "refusal") or not isinstance(text, str):
        refuse(
            index,
            f"Ollama takes no content of type {quote(part.get('type'))}, only texts, "
            "plain text files and images",
            pointer="/content",
        )
    return said(text)


def _inward(message: JsonObject, role: str, calls: Calls[None], *, index: int) -> list[JsonObject]:
    text = message.get("content")
    if not isinstance(text, str | None):
        refuse(index, f"`content` must be a string, not {kind(text)}", pointer="/content")
    text, failed = (
        tool_errors.unmark(said(text or "")) if role == "tool" else (said(text or ""), False)
    )
    made: JsonObject = {"role": role, "content": _content(text, message.get("images"), index)}
    if role == "tool":
        return [made | _inward_result(message, calls, index) | tool_errors.field_of(failed)]
    if role == "assistant":
        made |= (
            {REASONING: said(message["thinking"])}
            if isinstance(message.get("thinking"), str) and message["thinking"]
            else {}
        )
        made |= {"tool_calls": given} if (given := _inward_calls(message, calls, index)) else {}
        made["content"] = made["content"] or None
    return [made] if made["content"] or len(made) > 2 else []


def _content(text: str, images: JsonValue, index: int) -> JsonValue:
    if not images:
        return text
    if not isinstance(images, list) or not all(isinstance(image, str) for image in images):
        refuse(index, "`images` must be a list of base64 texts", pointer="/images")
    parts = [
        {
            "type": "image_url",
            "image_url": {"url": f"data:{_media_type(image)};base64,{said(image)}"},
        }
        for image in images
    ]
    return [{"type": "text", "text": text}, *parts] if text else parts


def _media_type(image: str) -> str:
    return next(
        (kind for start, kind in _SIGNATURES if image.startswith(start)), "application/octet-stream"
    )


def _inward_calls(message: JsonObject, calls: Calls[None], index: int) -> list[JsonObject]:
    given = message.get("tool_calls") or []
    if not isinstance(given, (list, tuple)):
        refuse(
            index,
            f"`tool_calls` must be a list of objects, not {kind(given)}",
            pointer="/tool_calls",
        )
    return [_inward_call(call, calls, index) for call in given]


def _inward_call(call: JsonValue, calls: Calls[None], index: int) -> JsonObject:
    if not isinstance(call, dict):
        refuse(index, f"a call must be an object, not {kind(call)}", pointer="/tool_calls")
    function = function_of(call, index)
    name = said(function["name"])
    identifier = calls.add(call.get("id"), function["name"], None).id
    given = function.get("arguments")
    if (custom := arguments.custom_text(given)) is not None:
        return {"id": identifier, "type": "custom", "custom": {"name": name, "input": custom}}
    spelled = (
        said(given)
        if isinstance(given, str)
        else _said_in_json(arguments.to_arguments, given, index)
    )
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": spelled}}


def _inward_result(message: JsonObject, calls: Calls[None], index: int) -> JsonObject:
    given = message.get("tool_call_id")
    waiting = calls.answer(given, message.get("tool_name"))
    identifier = waiting.id if waiting is not None else text_id(given)
    if not identifier:
        refuse(
            index,
            "a result has no `tool_call_id`, and no call before it is open",
            pointer="/tool_call_id",
        )
    name = message.get("tool_name") if waiting is None else None
    return {"tool_call_id": identifier} | (
        {"name": said(name)} if isinstance(name, str) and name else {}
    )
