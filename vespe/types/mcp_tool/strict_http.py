"""Answers of MCP servers that can be read in two ways become errors, also before the SDK's client
reads them off HTTP: as a JSON document, and as events.
"""

from collections.abc import AsyncIterator, Callable

import httpx2
import mcp_types as types

from vespe import defaults
from vespe.documents import strict_json
from vespe.errors import InvalidDocument

_ENCODED = ("content-encoding", "content-length", "transfer-encoding")
"""Headers that are not true of what is passed on, which is decoded."""


def refusal(
    message: types.JSONRPCMessage, text: bytes | str
) -> types.JSONRPCError | InvalidDocument | None:
    """Return what a message is taken for where its text can be read in two ways: an answer for an
    error, anything else for none.
    """
    try:
        strict_json.refuse_ambiguous(text if isinstance(text, str) else text.decode("utf-8"))
    except InvalidDocument as error:
        if not isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            return error
        # An answer all the same: whoever asked would wait for it until their time is over.
        told = types.ErrorData(code=types.PARSE_ERROR, message=f"the server's answer {error}")
        return types.JSONRPCError(jsonrpc="2.0", id=message.id, error=told)
    return None


class StrictTransport(httpx2.AsyncBaseTransport):
    """Sends requests as the transport that it is given, and passes on what is no message, or a
    message with one meaning.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; raises what the other transport does."""
        response = await self._inner.handle_async_request(request)
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in ("application/json", "text/event-stream"):
            return response
        response.request = request
        headers = [
            (name, value)
            for name, value in response.headers.multi_items()
            if name.lower() not in _ENCODED
        ]
        return httpx2.Response(
            response.status_code,
            headers=headers,
            stream=_Passed(response, _document if kind == "application/json" else _events),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        """Close the other transport."""
        await self._inner.aclose()


class _Passed(httpx2.AsyncByteStream):
    def __init__(
        self, response: httpx2.Response, read: Callable[[httpx2.Response], AsyncIterator[bytes]]
    ) -> None:
        self._response, self._read = response, read

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._read(self._response)

    async def aclose(self) -> None:
        await self._response.aclose()


async def _document(response: httpx2.Response) -> AsyncIterator[bytes]:
    body = await response.aread()
    yield body if (passed := _passed(body)) is None else passed.encode("utf-8")


async def _events(response: httpx2.Response) -> AsyncIterator[bytes]:
    source = httpx2.EventSource(response, max_event_size=defaults.LARGER_CAP_BYTES)
    async for event in source:
        data = event.data if (passed := _passed(event.data)) is None else passed
        fields = [f"event: {event.event}", f"id: {event.id}"]
        fields += [] if event.retry is None else [f"retry: {event.retry}"]
        fields += [f"data: {line}" for line in data.split("\n")]
        yield "\n".join([*fields, "", ""]).encode("utf-8")


def _passed(text: bytes | str) -> str | None:
    """Return what is passed on in place of a text; None where that is the text itself."""
    try:
        refused = refusal(types.jsonrpc_message_adapter.validate_json(text, by_name=False), text)
    except ValueError:
        return None
    if isinstance(refused, types.JSONRPCError):
        return refused.model_dump_json(by_alias=True, exclude_none=True)
    return None if refused is None else ""
