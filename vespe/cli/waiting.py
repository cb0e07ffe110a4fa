"""One line of progress on a terminal, for whatever takes longer than a person waits without
wondering.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import click

from vespe.cli import report
from vespe.lazy import shutil

_PATIENCE_S: Final = 0.4
_TICK_S: Final = 0.1


@contextmanager
def waiting(text: str) -> Iterator[Callable[[str], None]]:
    """Show `text` and the seconds on stderr while the block runs, if it takes longer than 0.4 s and
    a person looks at it.

    Nothing is shown in a pipe, nor where the output is for a program. Yield what puts another text
    in the place of `text`.
    """
    shown = _Line(text)
    if not report.is_coloured(sys.stderr) or _for_a_program():
        yield shown.tell
        return
    shower = threading.Thread(target=shown.run, daemon=True)
    shower.start()
    try:
        yield shown.tell
    finally:
        shown.over.set()
        shower.join()


class _Line:
    def __init__(self, text: str) -> None:
        self.text, self.over = text, threading.Event()

    def tell(self, text: str) -> None:
        self.text = text

    def run(self) -> None:
        begun = time.monotonic()
        if self.over.wait(_PATIENCE_S):
            return
        while not self.over.wait(_TICK_S):
            took = f" {time.monotonic() - begun:.1f} s"
            # a line that wraps could not be cleared
            room = shutil.get_terminal_size().columns - len(took) - 1
            report.progress.show(report.one_line(self.text)[:room] + took)
        report.progress.show("")


def _for_a_program() -> bool:
    context = click.get_current_context(silent=True)
    asked = {} if context is None else context.params
    return bool(asked.get("as_json")) or asked.get("form", "text") != "text"
