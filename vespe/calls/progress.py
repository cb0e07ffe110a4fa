"""How code that runs in this process says how far it is, to whoever called it and wants to know."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from vespe.models import JsonValue, LogLevel
from vespe.records import dataclass

Progress = Callable[[float, float | None, str], None]
Message = Callable[[str, JsonValue], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressListener:
    """Hears of a call's steps: `progress` of how much of how much is done, `message` of what there
    is to say, with its level.
    """

    progress: Progress
    message: Message


_LISTENER: Final[ContextVar[ProgressListener | None]] = ContextVar("vespe_listener", default=None)


def is_heard() -> bool:
    """Whether somebody listens to the call that runs here."""
    return _LISTENER.get() is not None


def report_progress(done: float, total: float | None = None, *, message: str = "") -> None:
    """Report progress from an in-process tool: `done` of `total`. `done` must grow from call to
    call.

    It is sent at once to an MCP client that asked for progress. Elsewhere this has no effect.

    ```python
    from vespe import Toolset, report_progress

    def load(rows: int) -> int:
        \"""Load rows.\"""
        for row in range(rows):
            report_progress(row + 1, rows, message="loading")
        return rows

    assert Toolset(load).call("load", rows=3).unwrap() == 3
    ```
    """
    if (listener := _LISTENER.get()) is not None:
        listener.progress(done, total, message)


def report_message(level: LogLevel, data: JsonValue) -> None:
    """Send a log message from an in-process tool. `level` is one of MCP's levels (`debug`, `info`,
    …), and `data` any JSON value.

    It is sent at once to an MCP client that asked for messages of that level. Elsewhere this has no
    effect.

    ```python
    from vespe import report_message

    report_message("info", {"rows": 3})  # no client listens here, so this has no effect
    ```
    """
    if (listener := _LISTENER.get()) is not None:
        listener.message(level, data)


@contextmanager
def listen(listener: ProgressListener) -> Iterator[None]:
    """Let `listener` hear of the steps of what runs within."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)
