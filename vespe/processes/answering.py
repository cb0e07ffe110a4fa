"""A process that lives on under a supervisor and answers one request at a time, to whichever thread
asks.
"""

import os
import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal

from vespe.processes.signals import interruptible, uninterruptible
from vespe.processes.supervised_tree import OpenTree, payload
from vespe.records import dataclass

if TYPE_CHECKING:
    from vespe.processes.ask_channel import Questions
    from vespe.processes.sandbox.held import Policy

_PATIENCE_S: Final = 0.4
_CANCEL_POLL_S: Final = 0.05
_LOOK_S: Final = 0.5
_MAX_DIGITS: Final = 18
"""Of an answer's size."""


class NoAnswer(Exception):
    """The request has no answer, and the process is gone: `late`, `cancelled`, or it `ended` by
    itself. `logs` is what it said.
    """

    def __init__(self, reason: Literal["late", "cancelled", "ended"], logs: bytes) -> None:
        super().__init__(reason)
        self.reason, self.logs = reason, logs


@dataclass(frozen=True, slots=True)
class ProcessAnswer:
    """The head of an answer (one line, without its size), the bytes after it, and what the tree
    wrote to stderr meanwhile.
    """

    head: bytes
    body: bytes
    logs: bytes


class AnsweringProcess(OpenTree):
    """A process that reads requests from stdin and answers on the descriptor that is the last of
    its arguments. With `asks` it can ask a person, if a request has somebody who answers.

    An answer is a line, `SIZE HEAD`, and SIZE bytes after it. One thread at a time may ask; between
    two requests nobody watches the process, and nothing is read of what it writes.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        first: bytes,
        sandbox: "Policy | None" = None,
        asks: bool = False,
    ) -> None:
        super().__init__(os.path.basename(argv[0]))
        self._sandbox = sandbox
        self._command = payload([argv], cwd=cwd, env=env, result=True, sandbox=sandbox, asks=asks)
        self._first = first
        self._gone = threading.Event()

    def ask(
        self,
        request: bytes,
        *,
        until: float,
        cancel: threading.Event | None,
        questions: "Questions | None" = None,
    ) -> ProcessAnswer:
        """Send a request and wait for its answer until a moment of `time.monotonic`, and as long as
        a person is asked (`questions`). The first one starts the process.

        Raises NoAnswer, and StorageError where it cannot be started. On those, and on
        KeyboardInterrupt, nothing is left of the process.
        """
        with uninterruptible():
            answered = False
            try:
                if self.supervisor:
                    if self.asks is not None:
                        self.asks.begin(questions)
                    self.feed(request)
                else:
                    self.start(
                        self._command,
                        stdin=self._first + request,
                        cap_bytes=0,
                        sandbox=self._sandbox,
                        ask=self.asks_by(questions, always=self._command["ask"] >= 0),
                    )
                mark = self.outputs["stderr"].count
                answer = self._awaited(mark, until, cancel, questions)
                answered = True
                return answer
            finally:
                if self.asks is not None:
                    self.asks.end()
                if not answered:
                    self.end()

    def is_usable(self) -> bool:
        """Whether it takes another request; one that has died since the last answer says so to
        whoever asks it next, since what it kept is lost.
        """
        return not self._gone.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait until nothing of it is left; False where that takes longer."""
        return self._gone.wait(seconds)

    def end(self, farewell_s: float = 0.0) -> None:
        """Kill the tree, and wait until nothing of it is left. Between two requests it has nothing
        to finish, so it gets no time to end by itself.
        """
        if self._gone.is_set():
            return
        if self.supervisor:
            self.tell_end(0.0)
            give_up = time.monotonic() + _PATIENCE_S
            while self.supervised and (wait := give_up - time.monotonic()) > 0:
                self._serve(wait)
        self.close()
        self._gone.set()

    def _awaited(
        self,
        mark: int,
        until: float,
        cancel: threading.Event | None,
        questions: "Questions | None",
    ) -> ProcessAnswer:
        look = _LOOK_S if cancel is None and questions is None else _CANCEL_POLL_S
        while self.supervised and b"\nE " not in self.outputs["status"].data:
            paused = 0.0 if questions is None else questions.paused_s
            if (left := until + paused - time.monotonic()) <= 0:
                raise NoAnswer("late", self._said(mark))
            if (cancel is not None and cancel.is_set()) or (
                questions is not None and questions.is_suspended
            ):
                raise NoAnswer("cancelled", self._said(mark))
            self._serve(min(left, look))
            if (found := self._whole(mark)) is not None:
                return ProcessAnswer(*found, self._said(mark))
        raise NoAnswer("ended", self._said(mark))

    def _serve(self, wait: float) -> None:
        with interruptible():
            ready = self.selector.select(wait)
        for key, _ in ready:
            if key.data == "feed":
                self.write(key.fd)
                continue
            if key.data == "ask":
                self.take_question(key.fd)
                continue
            output = self.take(key.data)
            if key.data == "stdout":
                output.data.clear()

    def _whole(self, mark: int) -> tuple[bytes, bytes] | None:
        """Return the head and the body of an answer that has come whole; raises NoAnswer for what
        is none: a tool can write there too.
        """
        data = self.outputs["result"].data
        end = data.find(b"\n")
        if end < 0:
            return None
        size, _, head = bytes(data[:end]).partition(b" ")
        if not size.isdigit() or len(size) > _MAX_DIGITS:
            raise NoAnswer("ended", self._said(mark))
        whole = end + 1 + int(size)
        if len(data) < whole:
            return None
        body = bytes(data[end + 1 : whole])
        data.clear()
        return head, body

    def _said(self, mark: int) -> bytes:
        if not (output := self.outputs.get("stderr")):
            return b""
        output.drain()
        return output.kept_since(mark)
