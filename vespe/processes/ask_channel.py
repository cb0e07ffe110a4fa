"""The descriptor by which the process of a tool asks a person, from our side: lines that come in,
and the line that answers each.
"""

import contextlib
import contextvars
import select
import threading
from collections import deque
from typing import Final, Protocol

from vespe.lazy import socket_core

VARIABLE: Final = "VESPE_ASK_FD"
DESCRIPTORS: Final = "4,4"
"""What the variable holds: where the tool reads and where it writes; one socket is both."""
MAX_LINE: Final = 64 * 1024
_MOST_WAITING: Final = 16
_CHUNK: Final = 64 * 1024
_LOOK_MS: Final = 200


class Questions(Protocol):
    """Who answers what one call asks; see `vespe.calls.asking.CallQuestions`."""

    @property
    def paused_s(self) -> float:
        """How long the call has waited for a person: its deadline stands still meanwhile."""
        ...

    @property
    def is_suspended(self) -> bool:
        """Whether the call is to end, and to be made anew once there is an answer."""
        ...

    def answer(self, line: bytes | None, over: threading.Event) -> bytes:
        """Return the line that answers a line, None for one that was too long, or b"" where the
        call ends instead; never raises. `over` is set where nobody waits for it any more.
        """
        ...


class AskChannel:
    """One socket, whose other end a process has. `ours` is watched by whoever watches the process,
    and `take` is to be called when there is something to read; questions are answered in a thread
    of their own, one after another.
    """

    def __init__(self) -> None:
        self.ours, self._theirs = socket_core.socketpair()  # `socket` takes 2 ms more
        self.ours.setblocking(False)
        self._questions: Questions | None = None
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._data, self._too_long = bytearray(), False
        self._waiting: deque[bytes | None] = deque()
        self._answers = False

    def give(self) -> int:
        """Return the end that the process is given, which whoever gives it closes."""
        return self._theirs.detach()

    def begin(self, questions: Questions | None) -> None:
        """Let `questions` answer from now on; what an earlier call has left is dropped."""
        with contextlib.suppress(OSError):
            while self.ours.recv(_CHUNK):
                continue
        with self._lock:
            self._waiting.clear()
            self._data.clear()
            self._questions, self._over, self._too_long = questions, threading.Event(), False

    def end(self) -> None:
        """Say that nobody waits for an answer any more."""
        self._over.set()
        with self._lock:
            self._questions = None
            self._waiting.clear()

    def hang_up(self) -> None:
        """Answer nothing more, and let the process see that."""
        self.end()
        with contextlib.suppress(OSError):
            self.ours.shutdown(socket_core.SHUT_RDWR)

    def close(self) -> None:
        """Let go of the socket, too."""
        self.end()
        self.ours.close()
        self._theirs.close()

    def take(self) -> bool:
        """Read what the process asks; False where nothing more can come."""
        try:
            data = self.ours.recv(_CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self._data += data
        while (end := self._data.find(b"\n")) >= 0:
            line = bytes(self._data[:end])
            del self._data[: end + 1]
            self._queue(None if self._too_long or len(line) > MAX_LINE else line)
            self._too_long = False
        if len(self._data) > MAX_LINE:
            self._data.clear()
            self._too_long = True
        return bool(data) and len(self._waiting) <= _MOST_WAITING

    def _queue(self, line: bytes | None) -> None:
        with self._lock:
            self._waiting.append(line)
            if self._answers:
                return
            self._answers = True
        run = contextvars.copy_context().run
        threading.Thread(target=run, args=(self._answer,), name="vespe-asks", daemon=True).start()

    def _answer(self) -> None:
        while True:
            with self._lock:
                if not self._waiting or self._questions is None:
                    self._answers = False
                    return
                line, questions, over = self._waiting.popleft(), self._questions, self._over
            if answer := questions.answer(line, over):
                self._send(answer + b"\n", over)

    def _send(self, data: bytes, over: threading.Event) -> None:
        left = memoryview(data)
        with contextlib.suppress(OSError, ValueError):  # the process has ended, and its call
            poll = select.poll()
            poll.register(self.ours, select.POLLOUT)
            while left and not over.is_set():
                if poll.poll(_LOOK_MS):
                    left = left[self.ours.send(left) :]


def variables(questions: Questions | None) -> dict[str, str]:
    """Return what the environment of a process says where it may ask."""
    return {} if questions is None else {VARIABLE: DESCRIPTORS}
