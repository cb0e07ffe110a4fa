"""What a request of the newest revision says in its headers too, so that a proxy can route it
without reading its body: both must say the same.
"""

import base64
import binascii
import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from vespe.documents import strict_json
from vespe.features.mcp.server import messages, revisions
from vespe.features.mcp.server.messages import INVALID_PARAMS, ProtocolError
from vespe.models import JsonObject, JsonValue

Headers: TypeAlias = Mapping[bytes, str | None]
"""Headers by their names in lower case; one that came twice is a value that no header has."""

REVISION: Final = b"mcp-protocol-version"
SESSION: Final = b"mcp-session-id"
_METHOD: Final = b"mcp-method"
_NAME: Final = b"mcp-name"
_NAMED: Final = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}
"""The methods whose subject the header Mcp-Name repeats, and the key of params that has it."""
_PREFIX: Final = "mcp-param-"
_KEY: Final = "x-mcp-header"
_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_ENCODED: Final = re.compile(r"=\?base64\?(?P<payload>.*)\?=")
_DECIMAL: Final = re.compile(r"-?[0-9]+(\.0+)?")
_TYPES: Final = ("integer", "string", "boolean")
_NO_SCHEMA: Final = ("const", "default", "enum", "examples")
_JSON: Final = ("application/json", "application/*", "*/*")
_STREAM: Final = ("text/event-stream", "text/*", "*/*")


@functools.lru_cache(maxsize=64)
def accepted(header: str | None) -> tuple[bool, bool]:
    """Return whether a client takes JSON, and whether it takes a stream of events."""
    kinds = [one.partition(";")[0].strip().lower() for one in (header or "").split(",")]
    return any(one in _JSON for one in kinds), any(one in _STREAM for one in kinds)


def check(headers: Headers, message: JsonObject) -> None:
    """Raise ProtocolError where a request of the newest revision does not say what it must, or its
    headers say something else than its body. Arguments are checked by `check_arguments`.
    """
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    if not isinstance(params, dict) or not isinstance(meta, dict):
        raise ProtocolError(INVALID_PARAMS, "params._meta must be an object")
    required = (revisions.REVISION_KEY, revisions.CAPABILITIES_KEY)
    if missing := [key for key in required if key not in meta]:
        raise ProtocolError(INVALID_PARAMS, f"params._meta lacks {' and '.join(missing)}")
    if headers.get(REVISION) != meta[revisions.REVISION_KEY]:
        raise _mismatch("MCP-Protocol-Version", revisions.REVISION_KEY)
    if headers.get(_METHOD) != message.get("method"):
        raise _mismatch("Mcp-Method", "method")
    key = _NAMED.get(str(message.get("method")))
    subject = params.get(key) if key is not None else None
    if subject is not None and decoded(headers.get(_NAME)) != subject:
        raise _mismatch("Mcp-Name", f"params.{key}")


def check_arguments(headers: Headers, schema: JsonValue, arguments: JsonValue) -> None:
    """Raise ProtocolError where an argument that a tool's schema wants in a header too is another
    one there, is missing there, or is only there.

    A schema that wants it in a wrong way asks for nothing: clients leave such a tool out.
    """
    if not isinstance(arguments, dict | None) or not isinstance(schema, dict):
        return
    for path, name, kind in _wanted(schema):
        value: Any = arguments or {}
        for step in path:
            value = value.get(step) if isinstance(value, dict) else None
        said, where = headers.get(f"{_PREFIX}{name}".lower().encode()), ".".join(path)
        expected = _as_header(value)
        if said is None and expected is not None:
            raise _unequal(name, where, "the header is missing")
        if said is not None and (expected is None or not _same(kind, value, expected, said)):
            raise _unequal(name, where, "the header has another value")


class Plain:
    """Knows the schemas that want no argument in a header: each is looked through once."""

    def __init__(self) -> None:
        self._plain: dict[str, JsonObject] = {}

    def knows(self, name: str, schema: JsonObject) -> bool:
        """Say whether the schema of a tool wants no argument in a header."""
        if self._plain.get(name) is schema:
            return True
        if f'"{_KEY}"' in strict_json.compact_json(schema):
            return False
        self._plain[name] = schema
        return True


def decoded(value: str | None) -> str | None:
    """Return what a header's value means: text that no header can say is in base64; None for a
    value that is wrongly so.
    """
    found = None if value is None else _ENCODED.fullmatch(value)
    if found is None:
        return value
    try:
        data = base64.b64decode(found["payload"], validate=True)
        return data.decode("utf-8") if base64.b64encode(data).decode() == found["payload"] else None
    except (binascii.Error, ValueError):
        return None


def _same(kind: str, value: JsonValue, expected: str, said: str) -> bool:
    text = decoded(said)
    if text == expected:
        return True
    is_number = kind == "integer" and isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or text is None or not _DECIMAL.fullmatch(text):
        return False
    try:
        return bool(int(text.partition(".")[0]) == value)
    except ValueError:  # more digits than Python reads
        return False


def _as_header(value: JsonValue) -> str | None:
    """Return an argument as a header says it; None where it cannot be said."""
    if isinstance(value, bool):
        return "true" if value else "false"
    try:
        return str(value) if isinstance(value, str | int | float) else None
    except ValueError:  # more digits than Python writes
        return None


def _wanted(schema: JsonObject) -> list[tuple[tuple[str, ...], str, str]]:
    """Return the arguments that a schema wants in headers too: path, name and type."""
    found: list[tuple[tuple[str, ...], str, str]] = []
    for path, part in _parts(schema, ()):
        if _KEY not in part:
            continue
        name, kind = part[_KEY], part.get("type")
        known = {other.lower() for _, other, _ in found}
        if (
            not path
            or not isinstance(name, str)
            or not _TOKEN.fullmatch(name)
            or kind not in _TYPES
            or name.lower() in known
        ):
            return []
        found.append((path, name, str(kind)))
    return found


def _parts(
    value: JsonValue, path: tuple[str, ...] | None
) -> Iterator[tuple[tuple[str, ...] | None, JsonObject]]:
    """Return each schema within a schema; its path is None where it is not reached by `properties`
    alone.
    """
    if isinstance(value, list):
        for item in value:
            yield from _parts(item, None)
    if not isinstance(value, dict):
        return
    yield path, value
    for key, inner in value.items():
        if key in ("properties", "patternProperties", "$defs", "dependentSchemas") and isinstance(
            inner, dict
        ):
            for name, part in inner.items():
                own = (*path, name) if key == "properties" and path is not None else None
                yield from _parts(part, own)
        elif key not in _NO_SCHEMA:
            yield from _parts(inner, None)


def _mismatch(header: str, place: str) -> ProtocolError:
    return ProtocolError(messages.HEADER_MISMATCH, f"the header {header} does not match {place}")


def _unequal(name: str, where: str, what: str) -> ProtocolError:
    return ProtocolError(
        messages.HEADER_MISMATCH,
        f"the header Mcp-Param-{name} does not match the argument {where!r}: {what}",
    )
