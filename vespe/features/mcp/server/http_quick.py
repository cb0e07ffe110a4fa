"""The quick way over HTTP: a request that needs nothing but its answer gets it as plain JSON, past
the SDK's streams.

Only what is in order is answered here. Whatever is refused, tells of its progress or subscribes is
the SDK's to answer.
"""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final, Protocol, TypeAlias

from vespe.documents import strict_json
from vespe.features.mcp.server import protocol, revisions, tool_call
from vespe.features.mcp.server.protocol import PendingCall, ProtocolSession
from vespe.features.mcp.server.stdio_io import encoded
from vespe.models import JsonObject

_NAMED: Final = {"tools/call": "name", "resources/read": "uri"}
"""The methods whose subject a client says in the header Mcp-Name too, and the key that it stands
under.
"""
_METHODS: Final = {
    "tools/list",
    "resources/list",
    "resources/templates/list",
    "prompts/list",
    *_NAMED,
}
_QUICK_S: Final = 0.002
_SLOW_S: Final = 0.02
_KNOWN: Final = 3
"""A tool of this process that was quick so often in a row runs in the thread of the event loop: a
hop to another costs more.
"""
_NEVER: Final = -(10**9)
"""One that was quick and then slow keeps to threads: nobody else is to wait for it."""
_IN_HEADERS: Final = b"mcp-param-"
_JSON: Final = ("application/json", "application/*", "*/*")
_STREAM: Final = ("text/event-stream", "text/*", "*/*")


InThread: TypeAlias = Callable[[Callable[[], JsonObject]], Awaitable[JsonObject]]


class Source(protocol.ToolSource, tool_call.CallRunner, Protocol):
    """What is served."""

    def input_schema(self, name: str) -> JsonObject | None:
        """Return the schema of a tool's inputs, None for a tool that is not known."""
        ...


class Quick:
    """Answers requests of the newest revision, each of which says all that it needs; `calls` are
    those that run, each `in_thread`.
    """

    def __init__(self, tools: Source, calls: set[threading.Event], in_thread: InThread) -> None:
        self._tools, self._calls, self._in_thread = tools, calls, in_thread
        self._quick: dict[str, int] = {}
        self._plain: dict[str, JsonObject] = {}

    def answer_at_once(
        self, headers: Mapping[bytes, str | None], message: JsonObject
    ) -> bytes | None:
        """Return the answer to a call of a tool that is known to be quick; None for all else, for
        which nothing was done.
        """
        if message.get("method") != "tools/call" or not self.takes(headers, message):
            return None
        pending = protocol.handle(message, ProtocolSession(), self._tools)
        if (
            not isinstance(pending, PendingCall)
            or _wants_more(pending)
            or self._quick.get(pending.name, 0) < _KNOWN
        ):
            return None
        return _text(self._timed(pending)) if self._tools.in_process(pending.name) else None

    def takes(self, headers: Mapping[bytes, str | None], message: JsonObject) -> bool:
        """Say whether a message can be answered here: one that is in order by its headers, and asks
        for its answer alone.
        """
        if headers.get(b"mcp-protocol-version") != revisions.NEWEST:
            return False
        method, params = message.get("method"), message.get("params")
        if (
            method not in _METHODS
            or headers.get(b"mcp-method") != method
            or "id" not in message
            or not isinstance(params, dict)
        ):
            return False
        subject = params.get(_NAMED[method]) if method in _NAMED else None
        if (
            headers.get(b"mcp-name") != subject
            or not isinstance(subject, str | None)
            or (subject and not subject.isascii())
        ):
            return False
        if any(name.startswith(_IN_HEADERS) for name in headers) or (
            method == "tools/call" and self._says_headers(str(subject))
        ):
            return False
        accepted = [
            one.partition(";")[0].strip().lower()
            for one in (headers.get(b"accept") or "").split(",")
        ]
        return all(any(one in kinds for one in accepted) for kinds in (_JSON, _STREAM))

    def _says_headers(self, name: str) -> bool:
        """Say whether a tool has inputs that clients say in headers too; a schema that has none is
        looked through once.
        """
        schema = self._tools.input_schema(name)
        if schema is None or self._plain.get(name) is schema:
            return False
        if '"x-mcp-header"' in strict_json.compact_json(schema):
            return True
        self._plain[name] = schema
        return False

    async def answer(self, message: JsonObject, gone: asyncio.Event) -> bytes | None:
        """Return the answer to a message that is taken, or None where it is not in order after all;
        `gone` ends its call.
        """
        if message["method"] != "tools/call":
            handled = await asyncio.to_thread(
                protocol.handle, message, ProtocolSession(), self._tools
            )
        else:
            handled = protocol.handle(message, ProtocolSession(), self._tools)
            if isinstance(handled, PendingCall):
                handled = await self._called(handled, gone)
        return _text(handled)

    async def _called(self, pending: PendingCall, gone: asyncio.Event) -> JsonObject | None:
        if _wants_more(pending):
            return None
        if self._tools.in_process(pending.name):  # code that nobody can end
            if self._quick.get(pending.name, 0) >= _KNOWN:
                return self._timed(pending)
            return await self._in_thread(partial(self._timed, pending))
        cancel = threading.Event()
        work = partial(
            tool_call.run, pending, self._tools, notify=_unheard, cancel=cancel, transport="tcp"
        )
        self._calls.add(cancel)
        leaving = asyncio.ensure_future(gone.wait())
        leaving.add_done_callback(lambda _: cancel.set())
        try:
            return await self._in_thread(work)
        finally:
            self._calls.discard(cancel)
            leaving.cancel()

    def _timed(self, pending: PendingCall) -> JsonObject:
        """Run code of this process, and note whether it was quick."""
        began = time.monotonic()
        try:
            return tool_call.run(pending, self._tools, notify=_unheard, transport="tcp")
        finally:
            taken, before = time.monotonic() - began, self._quick.get(pending.name, 0)
            is_surprise = before > 0 and taken > _SLOW_S
            self._quick[pending.name] = (
                _NEVER if is_surprise else min(before, 0) if taken > _QUICK_S else before + 1
            )


def _wants_more(pending: PendingCall) -> bool:
    """Say whether a client wants to hear of a call on its way."""
    return pending.progress_token is not None or pending.log_level is not None


def _text(handled: protocol.Handled) -> bytes | None:
    """Return the JSON text of an answer that is a result."""
    return encoded(handled)[:-1] if isinstance(handled, dict) and "result" in handled else None


def _unheard(message: JsonObject) -> None:
    """Take a notification that no client asked for."""
