"""One line of progress on a terminal, for whatever takes longer than a person waits without wondering."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from vespe.cli import report

_PATIENCE_S: Final = 0.4
_TICK_S: Final = 0.1
_CLEAR: Final = "\r\x1b[K"


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """Show `text` and the seconds on stderr while the block runs, if it takes longer than 0.4 s and a person looks at it."""
    if not report.coloured(sys.stderr):
        yield
        return
    over = threading.Event()
    shower = threading.Thread(target=_show, args=(report.one_line(text), over), daemon=True)
    shower.start()
    try:
        yield
    finally:
        over.set()
        shower.join()


def _show(text: str, over: threading.Event) -> None:
    begun = time.monotonic()
    if over.wait(_PATIENCE_S):
        return
    while not over.wait(_TICK_S):
        sys.stderr.write(f"{_CLEAR}{text} {time.monotonic() - begun:.1f} s")
        sys.stderr.flush()
    sys.stderr.write(_CLEAR)
    sys.stderr.flush()
