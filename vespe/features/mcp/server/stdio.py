"""MCP over stdin and stdout: one JSON-RPC message a line, calls in threads, answers as they are
there.
"""

import contextlib
import errno
import os
import select
import threading
import time
from collections.abc import Callable, Iterator
from typing import Final

from vespe.documents import strict_json
from vespe.errors import InvalidDocument, StorageError
from vespe.features.mcp.server import messages, protocol, task_calls
from vespe.features.mcp.server.calls_in_flight import MAX_CALLS, Flights
from vespe.features.mcp.server.marks import Changes
from vespe.features.mcp.server.protocol import Cancellation, PendingCall, ProtocolSession
from vespe.features.mcp.server.reader_threads import Turns
from vespe.features.mcp.server.stdio_io import Outbox, lines
from vespe.features.mcp.server.tools import ServedTools
from vespe.models import JsonValue
from vespe.records import dataclass

MAX_LINE_BYTES: Final = 4 * 1024 * 1024
_GRACE_S: Final = 0.5
"""How long calls may go on when stdin has ended; then they are ended."""
_LAST_ANSWERS_S: Final = 10.0
"""How long what is no call may take to be answered when stdin has ended, such as a list of
thousands of tools.
"""
_END_S: Final = 5.0
"""How long the calls that are ended may take to tidy up: most of what they take is the grace of
their processes, on a busy machine.
"""
_FAREWELL_S: Final = 0.2
_TICK_S: Final = 0.5
_AWAKE_S: Final = 0.0001
_SPACE: Final = b" \t\r"


@dataclass(frozen=True, slots=True, kw_only=True)
class Streams:
    """The descriptors that the protocol alone reads and writes."""

    source: int
    target: int


def serve(
    tools: ServedTools, *, max_calls: int = MAX_CALLS, warn: Callable[[str], None] | None = None
) -> None:
    """Serve one client over this process's stdin and stdout, until stdin ends or the client is
    gone.

    At most `max_calls` calls run at once. `warn` takes a sentence on each tool that is left out
    from now on.

    While it serves, stdin is empty and stdout is stderr for everything else in the process: a tool
    that prints cannot reach the client. At its end no process of a tool is left. Raises
    StorageError where stdin or stdout is closed; on KeyboardInterrupt the calls are ended first.
    """
    with claimed() as streams:
        _Server(tools, streams, max_calls=max_calls, warn=warn or _nobody).serve()


class _Server:
    def __init__(
        self, tools: ServedTools, streams: Streams, *, max_calls: int, warn: Callable[[str], None]
    ) -> None:
        self._tools, self._streams, self._warn = tools, streams, warn
        self._warned = set(tools.left_out)
        self._session = ProtocolSession()
        self._outbox = Outbox(streams.target, source=streams.source)
        self._flights = Flights(tools, self._outbox, limit=max_calls)
        self._changes = Changes(tools)
        self._over = False
        self._brisk = False
        self._answering: set[int] = set()
        self._events = select.poll()
        self._events.register(streams.source, select.POLLIN)
        self._events.register(streams.target, 0)

    def serve(self) -> None:
        grace_s = 0.0
        source = lines(self._streams.source, limit=MAX_LINE_BYTES, ready=self._ready)
        try:
            turns = Turns(source, self._take)
            turns.run(self._tick, tick_s=_TICK_S)
            self._outbox.release()
            grace_s = 0.0 if self._outbox.gone else self._grace(turns)
        finally:
            self._over = True
            self._flights.stop(grace_s=grace_s, end_s=_END_S, ended=self._tools.close)
            self._say_farewell()

    def _grace(self, turns: Turns[bytes | None]) -> float:
        """Wait until what was asked before the end of stdin is answered; return how long calls may
        still go on.
        """
        ended = time.monotonic()
        while self._answering and time.monotonic() < ended + _LAST_ANSWERS_S:
            turns.finished(_GRACE_S)
        turns.finished(_GRACE_S)  # what is answered by now is still to be sent
        return max(0.0, ended + _GRACE_S - time.monotonic())

    def _say_farewell(self) -> None:
        """Send what is held, and answer what is subscribed to, as its end; a client that reads
        nothing keeps nobody waiting.
        """
        closing = protocol.ends(self._session)

        def send() -> None:
            self._outbox.release()
            for message in closing:
                self._outbox.send(message)

        sending = threading.Thread(target=send, name="vespe-farewell", daemon=True)
        sending.start()
        sending.join(_FAREWELL_S)

    def _tick(self) -> None:
        self._flights.beat()
        changed = self._changes.look()
        for sentence in self._tools.left_out:
            if sentence not in self._warned:
                self._warn(sentence)
        self._warned = set(self._tools.left_out)
        if changed:
            for message in protocol.changes(self._session):
                self._outbox.send(message)
        for message in protocol.task_news(self._session, task_calls.calls_of(self._tools)):
            self._outbox.send(message)

    def _ready(self) -> bool:
        """Wait for input; False where the client no longer reads."""
        self._outbox.release()
        while not self._outbox.gone:
            events = dict(self._waited())
            if self._over or self._streams.target in events:
                return False
            if self._streams.source in events:
                return True
        return False

    def _waited(self) -> list[tuple[int, int]]:
        """Wait for an event: awake for a moment where the client asked on at once the last time,
        since being woken costs more.
        """
        if self._brisk:
            until = time.perf_counter() + _AWAKE_S
            while time.perf_counter() < until:
                if events := self._events.poll(0):
                    return events
        began = time.perf_counter()
        events = self._events.poll()
        self._brisk = time.perf_counter() - began < _AWAKE_S
        return events

    def _take(self, line: bytes | None) -> None:
        self._outbox.hold()
        if line is None:
            self._outbox.send(
                messages.failed(
                    None, messages.PARSE_ERROR, f"the line is longer than {MAX_LINE_BYTES} bytes"
                )
            )
        elif line.strip(_SPACE):
            self._answer(line)

    def _answer(self, line: bytes) -> None:
        try:
            message: JsonValue = strict_json.parse_json(line, limit=MAX_LINE_BYTES)
        except InvalidDocument as error:
            self._outbox.send(
                messages.failed(None, messages.PARSE_ERROR, f"the line {error.reason}")
            )
            return
        thread = threading.get_ident()
        self._answering.add(thread)
        try:
            handled = protocol.handle(message, self._session, self._tools)
        finally:
            self._answering.discard(thread)
        if isinstance(handled, PendingCall):
            handled = self._flights.submit(handled, size=len(line))
        if isinstance(handled, Cancellation):
            self._flights.cancel(handled.id)
        elif isinstance(handled, dict):
            self._outbox.send(handled)


def _nobody(_: str) -> None:
    """Where nobody wants to be warned."""


@contextlib.contextmanager
def claimed() -> Iterator[Streams]:
    """Take stdin and stdout for the protocol alone: what else reads stdin finds its end, and what
    else prints goes to stderr.
    """
    if not _is_open(0) or not _is_open(1):
        raise StorageError(
            "speak MCP over", "stdin and stdout", OSError(errno.EBADF, "one of them is closed")
        )
    streams = Streams(source=os.dup(0), target=os.dup(1))
    clean = False
    nowhere = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    try:
        os.dup2(nowhere, 0)
        os.dup2(2 if _is_open(2) else nowhere, 1)
        yield streams
        clean = True
    finally:
        os.dup2(streams.source, 0)
        os.dup2(streams.target, 1)
        # After an interruption a thread may still wait for the old ones: their numbers must not
        # become other files'.
        for descriptor in (nowhere, streams.source, streams.target) if clean else (nowhere,):
            os.close(descriptor)


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True
