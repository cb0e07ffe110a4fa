"""Anyone's MCP server between its client and Vespe: lines pass as they are, and nothing of the
server outlives the client.
"""

import contextlib
import os
import select
import threading
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from vespe import defaults
from vespe.errors import ToolExecutionError
from vespe.features.mcp.server import messages
from vespe.features.mcp.server.stdio import Streams, claimed
from vespe.features.mcp.server.stdio_io import Outbox, lines
from vespe.processes.long_lived import LastingProcess, Listener
from vespe.records import dataclass
from vespe.tool_types import Context

MAX_LINE_BYTES: Final = defaults.LARGER_CAP_BYTES
"""What a line may have, in either direction, as in sessions of our own."""
_ROOM_BYTES: Final = 1 << 20
"""How much the server may leave unread before nothing more is read for it."""
_LOOK_S: Final = 0.5
_END_S: Final = 1.5


class Watcher(Protocol):
    """Sees each line that passes: `asked` those of the client, `answered` those of the server."""

    def asked(self, line: bytes) -> None:
        """See a line before the server gets it."""
        ...

    def answered(self, line: bytes) -> None:
        """See a line that the client was sent."""
        ...

    def close(self) -> None:
        """Take note that nothing more will pass."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Aside:
    """What the process asks of Vespe itself: a line that begins with `mark`, which the client never
    sees. `answer` is given the rest of it, in a thread of its own, and returns the rest of the line
    that the process is sent.
    """

    mark: bytes
    answer: Callable[[bytes], bytes]


def wrap(
    command: Sequence[str],
    context: Context,
    watchers: Sequence[Watcher],
    *,
    first: bytes = b"",
    farewell_s: float = defaults.GRACE_S,
    aside: Aside | None = None,
) -> int:
    """Run a server for the client of this process's stdin and stdout, and return its exit status
    (128 and the number of a signal). It is sent the line `first` before what the client says.

    It ends when stdin does, after `farewell_s` to answer what was asked, or when the client is
    gone, with all that it has started. Raises StorageError where stdin or stdout is closed,
    ToolExecutionError where the server does not start or writes a line that is too long,
    InvalidArguments. On KeyboardInterrupt, and whatever else a handler of signals raises, the
    server ends first.
    """
    with claimed() as streams, contextlib.ExitStack() as closing:
        for watcher in watchers:
            closing.callback(watcher.close)
        wrapping = _Wrapping(command, context, watchers=watchers, streams=streams, aside=aside)
        return wrapping.run(first, farewell_s)


class _Wrapping:
    def __init__(
        self,
        command: Sequence[str],
        context: Context,
        *,
        watchers: Sequence[Watcher],
        streams: Streams,
        aside: Aside | None,
    ) -> None:
        self._watchers, self._streams, self._aside = watchers, streams, aside
        self._outbox = Outbox(streams.target, source=streams.source)
        self._over, self._tell_over = os.pipe()
        self._events, self._hangup = select.poll(), select.poll()
        self._events.register(streams.source, select.POLLIN)
        self._events.register(self._over, select.POLLIN)
        for events in (self._events, self._hangup):
            events.register(streams.target, 0)
        self._process = LastingProcess(
            command,
            cwd=os.getcwd(),
            env=context.environment,
            listener=Listener(
                heard=self._heard,
                over=lambda: os.close(self._tell_over),
                said=_pass_on,
                max_line_bytes=MAX_LINE_BYTES,
            ),
            sandbox=context.sandbox,
        )

    def run(self, first: bytes, patience_s: float) -> int:
        self._process.start()
        if first:
            self._process.send(first)
        farewell_s = 0.0
        try:
            for line in lines(self._streams.source, limit=MAX_LINE_BYTES, ready=self._ready):
                self._send(line)
            farewell_s = 0.0 if self._outbox.gone or self._hangup.poll(0) else patience_s
        finally:
            if farewell_s:
                self._process.close(farewell_s=farewell_s)
            else:
                self._process.end()
            self._process.wait(farewell_s + _END_S)
        if self._process.flooded:
            raise ToolExecutionError(
                f"the server wrote a line of more than {MAX_LINE_BYTES} bytes, and was ended"
            )
        return self._process.check_ended()

    def _ready(self) -> bool:
        """Wait for the client's next bytes; False where the server is over, or nobody reads what it
        says.
        """
        while not self._process.wait_for_room(_ROOM_BYTES, seconds=_LOOK_S):
            if self._hangup.poll(0):
                return False
        ready = [descriptor for descriptor, _ in self._events.poll()]
        return self._over not in ready and self._streams.target not in ready

    def _send(self, line: bytes | None) -> None:
        if line is None:
            self._outbox.send(
                messages.failed(
                    None, messages.PARSE_ERROR, f"the line is longer than {MAX_LINE_BYTES} bytes"
                )
            )
            return
        for watcher in self._watchers:
            watcher.asked(line)
        self._process.send(line + b"\n")

    def _heard(self, line: bytes) -> None:
        if self._aside is not None and line.startswith(self._aside.mark):
            # An answer may take a while, and other lines are to pass meanwhile.
            threading.Thread(target=self._answer, args=(line, self._aside), daemon=True).start()
            return
        self._outbox.send_line(line + b"\n")
        for watcher in self._watchers:
            watcher.answered(line)

    def _answer(self, line: bytes, aside: Aside) -> None:
        self._process.send(aside.mark + aside.answer(line[len(aside.mark) :]) + b"\n")


def _pass_on(said: bytes) -> None:
    """Write what the server says beside the protocol to stderr; where nobody reads that, it is
    lost.
    """
    with contextlib.suppress(OSError):
        while said:
            said = said[os.write(2, said) :]
