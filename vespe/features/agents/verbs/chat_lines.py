"""What a person says in a chat, line by line: edited on a terminal, read as it is from a pipe."""

import sys
from typing import Final

from vespe.cli import report
from vespe.lazy import readline
from vespe.processes.signals import Terminated, go_on

_PROMPT: Final = "> "


def next_line() -> str | None:
    """Return the next line that says something, or None at the end of the input; on a terminal
    Ctrl-C begins a new line.
    """
    edited = sys.stdin.isatty() and sys.stdout.isatty()
    if edited:
        readline.set_auto_history(True)
    while True:
        try:
            line = input(_PROMPT) if edited else _plain()
        except EOFError:
            report.say("")
            return None
        except KeyboardInterrupt as interruption:
            if isinstance(interruption, Terminated) or not sys.stdin.isatty():
                raise
            go_on()
            report.say("")
            continue
        if line.strip():
            return line.strip()


def _plain() -> str:
    """Read one line without editing; the prompt, where somebody sees it, goes to stderr."""
    if sys.stdin.isatty():
        sys.stderr.write(_PROMPT)
        sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line
