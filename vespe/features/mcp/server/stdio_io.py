"""Messages out of one descriptor, each whole: never two mixed, and never waiting for a reader that
is gone.
"""

import json
import os
import select
import threading
from collections.abc import Callable, Iterator
from typing import Final

from vespe.documents import strict_json
from vespe.features.mcp.server.pages import Ready
from vespe.models import JsonObject

_HANGUP: Final = select.POLLHUP | select.POLLERR | select.POLLNVAL
_PATIENCE_MS: Final = 500
"""How long a full pipe is waited for once nobody writes to stdin any more."""
_SLICE_MS: Final = 100


class Outbox:
    """Sends messages to a client from several threads, a line each.

    `source` is the descriptor that the client writes to: when that is hung up and nobody takes what
    is sent either, the client is `gone`, and what else is sent is dropped. What the thread that
    reads sends is held until it is about to wait for more: the answers to requests that came
    together leave together, and wake the client once.
    """

    def __init__(self, descriptor: int, *, source: int) -> None:
        self.gone = False
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self._held: list[bytes] = []
        self._reading = 0
        self._room = select.poll()
        self._room.register(descriptor, select.POLLOUT)
        self._source = select.poll()
        self._source.register(source, getattr(select, "POLLRDHUP", 0))

    def send(self, message: JsonObject) -> None:
        """Send one message; when this returns it is written or held, or the client is gone."""
        self.send_line(encoded(message))

    tell = finish = send
    """As the client of calls: each message is a line."""

    def send_line(self, data: bytes) -> None:
        """Send a message that is a line already, with its end."""
        with self._lock:
            self._held.append(data)
            if self._reading != threading.get_ident() or len(data) > select.PIPE_BUF:
                self._flush()

    def hold(self) -> None:
        """Hold what this thread sends from now on."""
        self._reading = threading.get_ident()

    def release(self) -> None:
        """Write what is held, and hold nothing more."""
        with self._lock:
            self._reading = 0
            self._flush()

    def _flush(self) -> None:
        data = memoryview(b"".join(self._held))
        self._held.clear()
        while data and not self.gone:
            data = data[self._write(data) :]

    def _write(self, data: memoryview) -> int:
        """Write what fits without waiting; 0 where that is nothing yet."""
        events = self._room.poll(_SLICE_MS)
        if not events:
            self._wait()
            return 0
        if events[0][1] & _HANGUP:
            self.gone = True
            return 0
        try:
            return os.write(self._descriptor, data[: select.PIPE_BUF])
        except BlockingIOError:
            return 0
        except OSError:
            self.gone = True
            return 0

    def _wait(self) -> None:
        if self._source.poll(0):
            self.gone = not self._room.poll(_PATIENCE_MS)


def encoded(message: JsonObject) -> bytes:
    """Return a message as its line; a result whose text is ready is not written again."""
    result = message.get("result")
    if isinstance(result, Ready):
        identifier = json.dumps(message["id"])
        return f'{{"jsonrpc":"2.0","id":{identifier},"result":{result.text}}}\n'.encode()
    return strict_json.compact_bytes(message) + b"\n"


_CHUNK: Final = 64 * 1024


def lines(descriptor: int, *, limit: int, ready: Callable[[], bool]) -> Iterator[bytes | None]:
    """Return each line without its end, the last one too where it has none; None stands for one of
    more than `limit` bytes.

    `ready` waits until there is something to read, and says False where nothing more is to be read.
    Only whole lines are given: what is held of one that is not yet at its end is at most `limit`
    bytes and a chunk.
    """
    held: list[bytes] = []
    size = 0
    while ready():
        chunk = _read(descriptor)
        if not chunk:
            break
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            size += len(piece)
            held.append(piece)
            yield None if size > limit else b"".join(held)
            held.clear()
            size = 0
        if rest:
            size += len(rest)
            held.append(rest)
            if size > limit:
                held.clear()
    if size:
        yield None if size > limit else b"".join(held)


def _read(descriptor: int) -> bytes:
    """Read what there is; a descriptor that does not wait may have nothing after all, and one that
    is gone is at its end.
    """
    while True:
        try:
            return os.read(descriptor, _CHUNK)
        except BlockingIOError:
            continue
        except OSError:
            return b""
