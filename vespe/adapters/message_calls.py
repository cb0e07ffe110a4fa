"""The calls that an assistant's inner message makes: found, and each with its function's name, or refused with the message's index."""

from vespe.adapters.messages import kind, refuse, said
from vespe.models import JsonObject


def calls_of(message: JsonObject, index: int) -> list[JsonObject]:
    """Give an assistant message's `tool_calls`, a deprecated `function_call` as one; raises InvalidDocument where one is none."""
    given = message.get("tool_calls") or []
    if not isinstance(given, (list, tuple)):
        refuse(index, f"`tool_calls` must be a list, not {kind(given)}", pointer="/tool_calls")
    old = message.get("function_call")
    if old and not isinstance(old, dict):
        refuse(index, f"`function_call` must be an object, not {kind(old)}", pointer="/function_call")
    if old and old.get("name") and not given:
        return [{"type": "function", "function": old}]
    for place, call in enumerate(given):
        if not isinstance(call, dict):
            refuse(index, f"a call must be an object, not {kind(call)}", pointer=f"/tool_calls/{place}")
    return list(given)


def is_custom(call: JsonObject) -> bool:
    """Say whether a call is of a custom tool, whose input is a text."""
    return call.get("type") == "custom" or (not call.get("type") and "function" not in call and "custom" in call)


def function_of(call: JsonObject, index: int) -> JsonObject:
    """Give the function, or custom tool, that a call is of; raises InvalidDocument where that is no object, or has no name."""
    key = "custom" if is_custom(call) else "function"
    held = call.get(key)
    if held is not None and not isinstance(held, dict):
        refuse(index, f"a call's `{key}` must be an object, not {kind(held)}", pointer="/tool_calls")
    name = held.get("name") if held else None
    if held is None or not isinstance(name, str) or not name:
        refuse(index, "a call has no function's name", pointer="/tool_calls")
    return held


def custom_text_of(custom: JsonObject, index: int) -> str:
    """Give the text that a custom call's input is; raises InvalidDocument, with the message's index, for any other input."""
    text = custom.get("input", "")
    if not isinstance(text, str):
        refuse(index, f"a custom call's `input` must be a text, not {kind(text)}", pointer="/tool_calls")
    return said(text)
