"""What a tool declares, in words for the person who reviews it.

Everything is said: what has no words is shown as the JSON that it is. No value can add to what is
said, since one that could is quoted.
"""

from collections.abc import Iterator
from typing import Final

from vespe.documents import strict_json
from vespe.documents.escaping import inert_line
from vespe.lazy import pattern, shlex
from vespe.models import JsonValue

READS_ONLY = "read-only, so models may call it without asking you"
_PERMITTED: Final = {
    "read": ("read {}", "read none of your files"),
    "write": ("write {}", "write no file"),
    "network": ("connect to {}", "connect to no host"),
    "programs": ("start {}", "start no program"),
    "sockets": ("use the sockets {}", "use no local socket"),
}
"""What each permission lets a tool do, where it names something and where it names nothing."""
_HINTS: Final = {
    ("readOnlyHint", True): READS_ONLY,
    ("readOnlyHint", False): "it makes changes",
    ("destructiveHint", True): "it may delete or overwrite data",
    ("destructiveHint", False): "it does not delete or overwrite data",
    ("idempotentHint", True): "repeating a call with the same arguments has no further effect",
    ("idempotentHint", False): "repeating a call has a further effect",
    ("openWorldHint", True): "it reaches other systems",
    ("openWorldHint", False): "it does not reach other systems",
}
_LIMITS: Final = {
    "timeout_s": "a call may take {} s",
    "max_output_bytes": "a result may have {} bytes",
    "model_tokens": "a model sees {} tokens of a result",
    "max_calls": "its process is replaced after {} calls",
    "max_idle_s": "its process ends after {} s without a call",
}
_WORDS: Final = {
    ("model_tokens", "whole"): "a model sees complete results",
    ("worker", "persistent"): "its process is kept between calls",
}
EFFECTS: Final = {
    "reads_private": "reads private data",
    "reads_untrusted": "reads untrusted content",
    "sends_out": "sends data out",
    "writes": "changes something",
    "destructive": "deletes or overwrites data",
}
"""What an effect is called in front of a person."""
_PLAIN: Final = pattern(r"[^\s;,=()\"'\[\]](?:[^;,=()\"'\[\]\n]*[^\s;,=()\"'\[\]])?")


def permitted(permissions: JsonValue) -> JsonValue:
    """Say what a tool states that it may do; as it is where it cannot be said, "" where it states
    nothing.
    """
    if not isinstance(permissions, dict) or not permissions:
        return permissions or ""
    said = []
    for name, value in permissions.items():
        some, none = _PERMITTED.get(name, ("", ""))
        if isinstance(value, list) and all(isinstance(one, str) for one in value) and some:
            said.append(some.format(shlex.join(value)) if value else none)
        elif name == "memory_mb" and isinstance(value, int):
            said.append(f"use {value} MB of memory")
        else:
            return permissions
    return "; ".join(said)


def hints_of(annotations: JsonValue) -> str:
    """Say what a tool says of itself that decides whether it is asked about; "" where it says
    nothing.
    """
    if not isinstance(annotations, dict) or not annotations:
        return ""
    said = sorted(
        (
            _HINTS[key, value]
            if isinstance(value, bool) and (key, value) in _HINTS
            else f"{_name(key)} {_said(value)}"
            for key, value in annotations.items()
        ),
        key=lambda one: one != READS_ONLY,
    )
    return "; ".join(said)


def limits_of(limits: JsonValue) -> JsonValue:
    """Say the limits of a tool; as they are where they cannot be said."""
    if not isinstance(limits, dict):
        return limits
    said = []
    for name, value in limits.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if isinstance(value, str) and (name, value) in _WORDS:
            said.append(_WORDS[name, value])
        elif name in _LIMITS and is_number:
            said.append(_LIMITS[name].format(f"{value:,}"))
        else:
            return limits
    return "; ".join(said)


def effects(said: JsonValue) -> str:
    """Say which effects a tool states in the place of those that would be derived; "" where it
    states none.
    """
    if said is None:
        return ""
    if not isinstance(said, list) or not all(isinstance(one, str) for one in said):
        return strict_json.compact_json(said)
    named = ", ".join(EFFECTS.get(one) or _said(one) for one in said)
    return f"{named or 'none'} (declared by the tool; this decides which calls need approval)"


def details(value: JsonValue) -> str:
    """Say an object by its members: `query state={state}; body json title={title}`."""
    if not isinstance(value, dict):
        return _said(value)
    return "; ".join(_members(value, ()))


def _members(value: dict[str, JsonValue], path: tuple[str, ...]) -> Iterator[str]:
    plain = {key: one for key, one in value.items() if not (isinstance(one, dict) and one)}
    if plain:
        said = ", ".join(f"{_name(key)}={_said(one)}" for key, one in plain.items())
        yield " ".join((*path, said))
    for key, one in value.items():
        if key not in plain:
            yield from _members(one, (*path, _name(key)))


def _name(key: str) -> str:
    return key if _PLAIN.fullmatch(key) and " " not in key else strict_json.compact_json(key)


def _said(value: JsonValue) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value):
        return value
    return strict_json.compact_json(value)


def server_of(args: dict[str, JsonValue]) -> str:
    """Say where an MCP server is: its URL, or the command line that starts it."""
    command = args.get("command")
    if isinstance(command, list) and all(isinstance(one, str) for one in command):
        return strict_json.repair_surrogates(inert_line(shlex.join(map(str, command))))
    return inert_line(_said(args.get("url") or command))


def inputs_of(schema: JsonValue) -> Iterator[str]:
    """Say each input of a tool on a line of its own, with all that its schema says of it; what has
    no words is added as JSON.
    """
    properties = schema.get("properties", {}) if isinstance(schema, dict) else None
    required = schema.get("required", []) if isinstance(schema, dict) else None
    if not (
        isinstance(schema, dict)
        and isinstance(properties, dict)
        and isinstance(required, list)
        and schema.get("type", "object") == "object"
    ):
        yield strict_json.compact_json(schema)
        return
    for name, one in properties.items():
        yield f"{_name(name)} ({', '.join(_of_input(one, name in required))}){_about(one)}"
    rest = {key: one for key, one in schema.items() if key not in ("type", "properties")}
    if all(name in properties for name in required):
        rest.pop("required", None)
    if not properties:
        yield "no inputs that are named"
    if rest.get("additionalProperties") is False:
        del rest["additionalProperties"]
    if rest:
        yield strict_json.compact_json(rest)


def _of_input(schema: JsonValue, required: bool) -> Iterator[str]:
    if not isinstance(schema, dict):
        yield strict_json.compact_json(schema)
    else:
        rest = {key: one for key, one in schema.items() if key not in ("description", "default")}
        items, kind = rest.get("items"), rest.get("type")
        if isinstance(rest.get("enum"), list):
            rest.pop("type", None)
            yield " or ".join(map(_said, rest.pop("enum")))
        elif isinstance(kind, str) and _PLAIN.fullmatch(kind):
            del rest["type"]
            only = items["type"] if isinstance(items, dict) and items.keys() == {"type"} else None
            if kind == "array" and isinstance(only, str) and _PLAIN.fullmatch(only):
                del rest["items"]
                kind = f"list of {only}"
            yield kind
        else:
            yield "any value" if not rest else "a value"
        if rest:
            yield strict_json.compact_json(rest)
    if required:
        yield "required"
    if isinstance(schema, dict) and "default" in schema:
        yield f"default {_said(schema['default'])}"


def _about(schema: JsonValue) -> str:
    if not isinstance(schema, dict) or "description" not in schema:
        return ""
    said = schema["description"]
    return f": {said if isinstance(said, str) else strict_json.compact_json(said)}"


def view(said: str) -> str:
    """Say what a project shows models of a tool, of a line such as `calc as {"as":"add"}`."""
    name, _, text = said.partition(" as {")
    try:
        given = strict_json.parse_json(f"{{{text}".encode("utf-8", "surrogatepass"))
    except ValueError:
        return said
    parts = []
    for key, value in given.items() if isinstance(given, dict) else ():
        if key == "as":
            parts.append(f"under the name {_said(value)}")
        elif key == "preset" and isinstance(value, dict) and value:
            parts.append(f"with {details(value)} in every call")
        else:
            parts.append(f"with the {_name(key)} {_said(value)}")
    return f"{name} {', '.join(parts)}" if parts else said
