"""JSON-RPC 2.0 as MCP uses it: what a message is, its answers and its errors, as dictionaries."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias, TypeGuard

from vespe import defaults
from vespe.documents import strict_json
from vespe.errors import InvalidDocument
from vespe.models import JsonObject, JsonValue

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
BUSY: Final = -32000
"""Of the range that JSON-RPC leaves to servers: more calls wait than this server keeps."""
HEADER_MISMATCH: Final = -32020
MISSING_CAPABILITY: Final = -32021
UNSUPPORTED_REVISION: Final = -32022

RequestId: TypeAlias = str | int


class ProtocolError(Exception):
    """A request that is answered with a JSON-RPC error: its `code`, a sentence, and `data` that the
    code defines.
    """

    def __init__(self, code: int, message: str, *, data: JsonValue = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


def answered(identifier: RequestId, result: Mapping[str, Any]) -> JsonObject:
    """Return the answer to a request."""
    return {"jsonrpc": "2.0", "id": identifier, "result": result}


def failed(
    identifier: RequestId | None, code: int, message: str, *, data: JsonValue = None
) -> JsonObject:
    """Return the error that answers a request; the id is None where it could not be read."""
    error: JsonObject = {"code": code, "message": message}
    return {
        "jsonrpc": "2.0",
        "id": identifier,
        "error": error if data is None else error | {"data": data},
    }


def request(identifier: RequestId, method: str, params: JsonObject) -> JsonObject:
    """Return a request of the server's to its client."""
    return {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}


def notification(method: str, params: JsonObject) -> JsonObject:
    """Return a message that nobody answers."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


def is_request_id(value: JsonValue) -> TypeGuard[RequestId]:
    """Say whether MCP takes a value as the id of a request, or as a progress token: a string or an
    integer, never null.
    """
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def is_response(message: JsonObject) -> bool:
    """Say whether a message answers a request."""
    return (
        message.get("jsonrpc") == "2.0"
        and "method" not in message
        and ("result" in message or "error" in message)
    )


def why_no_request(message: JsonValue) -> str | None:
    """Say what keeps a message from being a request or a notification; None where it is one."""
    if isinstance(message, list):
        return "batches are not supported: send one message at a time"
    if not isinstance(message, dict):
        return "a message must be a JSON object"
    if message.get("jsonrpc") != "2.0":
        return 'a message must have "jsonrpc": "2.0"'
    if not isinstance(message.get("method"), str):
        return "a request needs a method, a string"
    if "id" in message and not is_request_id(message["id"]):
        return "the id of a request must be a string or an integer"
    return None


def messages_in(line: bytes) -> Iterator[JsonObject]:
    """Return the messages of a line: one, or those of a batch; none where it is no JSON."""
    try:
        found = strict_json.parse_json(line, limit=defaults.LARGER_CAP_BYTES)
    except InvalidDocument:
        return
    yield from (
        message
        for message in (found if isinstance(found, list) else [found])
        if isinstance(message, dict)
    )


def request_key(identifier: JsonValue) -> str:
    """Return what tells requests apart: 1 and "1" are two."""
    return strict_json.compact_json(identifier)
