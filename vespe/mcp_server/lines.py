"""Lines from a descriptor in bounded memory: one that is too long is thrown away as it comes, and the next is read."""

import os
from collections.abc import Callable, Iterator
from typing import Final

_CHUNK: Final = 64 * 1024


def lines(descriptor: int, *, limit: int, ready: Callable[[], bool]) -> Iterator[bytes | None]:
    """Give each line without its end, the last one too where it has none; None stands for one of more than `limit` bytes.

    `ready` waits until there is something to read, and says False where nothing more is to be read. Only whole lines are
    given: what is held of one that is not yet at its end is at most `limit` bytes and a chunk.
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
    """Read what there is; a descriptor that does not wait may have nothing after all, and one that is gone is at its end."""
    while True:
        try:
            return os.read(descriptor, _CHUNK)
        except BlockingIOError:
            continue
        except OSError:
            return b""
