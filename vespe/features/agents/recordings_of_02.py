"""The words of 0.2: a recording that it made is compared with what it would have sent.

The texts of the project's tools are compared as they are. Those of the bridge's own three tools are
Vespe's, and nobody who replays a recording has changed them.
"""

from typing import Any, Final

from vespe.calls.bridge import CALL, DESCRIBE, OWN, SEARCH
from vespe.models import JsonObject, JsonValue

_NAME: Final = f"The tool's name, as {SEARCH} gives it."
_THEN: Final[dict[str, tuple[str, dict[str, str]]]] = {
    SEARCH: (
        "Find tools by what you want to do. Many more tools are here than are listed: search "
        "before you say that something cannot be done. Gives names, descriptions and input "
        f"schemas; {CALL} calls what was found.",
        {"limit": "How many to give."},
    ),
    DESCRIBE: (
        "Give all that is known of one tool: its schemas, annotations and examples.",
        {"name": _NAME},
    ),
    CALL: (
        f"Call a tool that {SEARCH} found.",
        {"name": _NAME, "arguments": "What the tool's input schema asks for."},
    ),
}
"""By tool of the bridge: its description, and the arguments that 0.2 described differently."""


def _replaced() -> dict[str, dict[str, str]]:
    """Return by tool what 0.2 wrote in the place of each text of today."""
    found: dict[str, dict[str, str]] = {}
    for name, (description, arguments) in _THEN.items():
        properties = OWN[name].input_schema["properties"]
        found[name] = {OWN[name].description: description} | {
            properties[key]["description"]: text for key, text in arguments.items()
        }
    return found


_REPLACED: Final = _replaced()


def as_sent(payload: JsonObject) -> JsonObject:
    """Return a request as 0.2 would have sent it: without the examples of its tools, and with its
    words for the tools of the bridge.
    """
    tools = payload.get("tools")
    if not isinstance(tools, list):
        return payload
    return payload | {"tools": [_tool(one) if isinstance(one, dict) else one for one in tools]}


def _tool(tool: JsonObject) -> JsonObject:
    plain = {key: value for key, value in tool.items() if key != "input_examples"}
    function = plain.get("function")
    name = (function if isinstance(function, dict) else plain).get("name")
    return _worded(plain, _REPLACED[name]) if name in _REPLACED else plain


def _worded(value: JsonValue, texts: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _worded(one, texts) for key, one in value.items()}
    if isinstance(value, list):
        return [_worded(one, texts) for one in value]
    return texts.get(value, value) if isinstance(value, str) else value
