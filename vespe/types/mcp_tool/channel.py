"""One session with an MCP server that is kept, seen from Vespe: calls go in with a number, and each
gets its own answer.
"""

import contextvars
import json
import queue
import threading
import time
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Final, NoReturn

from vespe import defaults
from vespe.calls.progress import is_heard, report_message, report_progress
from vespe.calls.secrets import redact
from vespe.documents import strict_json
from vespe.errors import (
    Interrupted,
    OutputTooLarge,
    SessionEnded,
    TimedOut,
    ToolExecutionError,
    VespeError,
)
from vespe.models import JsonObject
from vespe.processes.long_lived import LastingProcess, Listener, boot_time
from vespe.records import dataclass
from vespe.types.mcp_tool import exchange
from vespe.types.mcp_tool.exchange import Server, SessionAnswer, Surroundings

if TYPE_CHECKING:
    from vespe.processes.ask_channel import Questions

_CANCEL_POLL_S: Final = 0.05
_LOOK_S: Final = 0.5
_OBEY_S: Final = 1.0
"""How long a server may take to read that a call is cancelled, and to end what it started for
it.
"""
_END_S: Final = 1.0
_SAID_BYTES: Final = 2048
_STEPS: Final = (b"step ", b"note ", b"ask ")
"""How lines begin that are not a call's answer."""


class Unsent(Exception):
    """The session is of no use any more, and the call was not sent; `error` is what to raise where
    there is no other session.
    """

    def __init__(self, error: VespeError) -> None:
        super().__init__(str(error))
        self.error = error


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPatience:
    """How long a call may take: until `until`, or until `cancel` is set; `name` and `kit` are what
    errors call the tool and its kit. While a person is asked (`questions`) the time stands still.
    """

    until: float
    timeout_s: float
    cancel: threading.Event | None
    name: str
    kit: str
    questions: "Questions | None" = None

    @property
    def left(self) -> float:
        """How many seconds are left."""
        paused = 0.0 if self.questions is None else self.questions.paused_s
        return self.until + paused - time.monotonic()

    @property
    def is_cancelled(self) -> bool:
        """Whether the call is to end now."""
        if self.questions is not None and self.questions.is_suspended:
            return True
        return self.cancel is not None and self.cancel.is_set()


@dataclass(slots=True, kw_only=True)
class _Call:
    number: int
    line: bytes
    mark: int
    began: float = 0.0
    given: bool = False
    sent: bool = False
    over: threading.Event = field(default_factory=threading.Event)
    told: "queue.SimpleQueue[tuple[bytes, str] | None]" = field(default_factory=queue.SimpleQueue)


def _next(call: _Call, seconds: float) -> tuple[bytes, str] | None:
    """Wait for what a call is told next; raises queue.Empty."""
    return call.told.get(timeout=seconds)


class Channel:
    """A session in a process of its own; safe to share between threads."""

    def __init__(self, server: Server, surroundings: Surroundings) -> None:
        self._lock = threading.Lock()
        self._calls: dict[int, _Call] = {}
        self._last = 0
        self._opened = self._over = self._closed = False
        self._failure = b""
        self._blamed = ""
        self._secrets = surroundings.secrets
        reach = exchange.reach(server, surroundings)
        argv = exchange.argv("kept_session", mark="0 ")
        self._process = LastingProcess(
            argv,
            cwd=surroundings.directory,
            env=surroundings.environment,
            listener=Listener(heard=self._heard, over=self._ended),
            sandbox=surroundings.sandbox,
        )
        self._process.start()
        self._process.send(strict_json.compact_json(reach).encode("utf-8") + b"\n")

    def is_usable(self) -> bool:
        """Whether it takes another call."""
        return not self._over

    def end(self, farewell_s: float) -> None:
        """End it now, with the calls that are on their way. Returns at once."""
        with self._lock:
            self._over = self._closed = True
            self._process.close(farewell_s=farewell_s)

    def wait(self, seconds: float) -> bool:
        """Wait until nothing of it is left; False where that takes longer."""
        return self._process.wait(seconds)

    def abandon(self) -> None:
        """Leave the session to the parent of this process, which is a fork."""
        self._process.abandon()

    def ask(self, request: JsonObject, patience: CallPatience) -> SessionAnswer:
        """Make one call, and end it where it is interrupted.

        Raises Unsent, SessionEnded, and what `mcp_exchange.ask` raises. On KeyboardInterrupt, and
        whatever else a handler of signals raises, the call ends first.
        """
        call = self._begun(request, patience)
        try:
            text, logs = self._watched(call, patience)
        finally:
            call.over.set()
            with self._lock:
                self._calls.pop(call.number, None)
        return self._answer(call, text, logs, patience)

    def _watched(self, call: _Call, patience: CallPatience) -> tuple[bytes, str]:
        over = False
        try:
            told = self._awaited(call, patience)
            over = True
        except (VespeError, Unsent):
            over = True
            raise
        finally:
            if not over:
                self._give_up(call, patience.name)
        return told

    def _begun(self, request: JsonObject, patience: CallPatience) -> _Call:
        with self._lock:
            if self._over:
                raise Unsent(self._end_of(None, patience))
            self._last += 1
            asked = request | {"id": self._last} | ({"steps": True} if is_heard() else {})
            line = strict_json.compact_json(asked).encode("utf-8") + b"\n"
            call = _Call(
                number=self._last, line=line, mark=self._process.written if self._opened else 0
            )
            self._calls[call.number] = call
            if self._opened:
                self._give(call)
            return call

    def _give(self, call: _Call) -> None:
        call.given, call.began = True, boot_time()
        self._process.send(call.line)

    def _awaited(self, call: _Call, patience: CallPatience) -> tuple[bytes, str]:
        is_calm = patience.cancel is None and patience.questions is None
        look = _LOOK_S if is_calm else _CANCEL_POLL_S
        while True:
            if (left := patience.left) <= 0:
                self._give_up(call, patience.name)
                late = TimedOut(patience.name, seconds=patience.timeout_s)
                late.details |= self._said(call)
                raise late
            if patience.is_cancelled:
                self._give_up(call, patience.name)
                raise Interrupted(
                    f"{patience.name} was cancelled and has been ended", details=self._said(call)
                )
            try:
                told = _next(call, min(left, look))
            except queue.Empty:
                continue
            if told is None:
                self._raise_lost(call, patience)
            if not told[0].startswith(_STEPS):
                return told
            if told[0].startswith(b"ask "):
                run = contextvars.copy_context().run
                put = partial(run, self._put, told[0][4:], call, patience)
                threading.Thread(target=put, name="vespe-asks", daemon=True).start()
            else:
                self._pass_on(told[0])

    def _put(self, line: bytes, call: _Call, patience: CallPatience) -> None:
        """Ask a person what the server asks, and send the answer on."""
        to = json.loads(line)["to"]
        said: JsonObject = {"action": "cancel", "content": {}}
        if patience.questions is not None:
            if not (answer := patience.questions.answer(line, call.over)):
                return
            said = json.loads(answer)
        self._process.send(strict_json.compact_bytes(said | {"answer": 1, "to": to}) + b"\n")

    def _pass_on(self, text: bytes) -> None:
        """Tell whoever listens to this call how far it is, or what the server has to say."""
        kind, _, said = text.partition(b" ")
        values = redact(json.loads(said), self._secrets)
        if not isinstance(values, list):
            return
        if kind == b"step":
            done, total, message = values
            report_progress(done, total, message=message)
        else:
            level, data = values
            report_message(level, data)

    def _give_up(self, call: _Call, name: str) -> None:
        """End a call: alone where the server reads that it is cancelled and leaves nothing of it,
        else with the session.
        """
        with self._lock:
            wanted = len(self._calls) > 1
            if call.given:
                self._process.send(b'{"cancel": %d}\n' % call.number)
            else:
                del self._calls[call.number]
        if self._obeyed(call) if call.given else wanted:
            return
        with self._lock:
            self._over = True
            self._blamed = self._blamed or name
            self._process.end()
        self._process.wait(_END_S)

    def _obeyed(self, call: _Call) -> bool:
        until = time.monotonic() + _OBEY_S
        try:
            told = call.told.get(timeout=_OBEY_S)
            while told is not None and told[0].startswith(_STEPS):
                told = call.told.get(timeout=max(0.0, until - time.monotonic()))
            if told is None:
                return True
        except queue.Empty:
            return False
        while self._process.born_since(call.began):
            if time.monotonic() >= until:
                return False
            time.sleep(_CANCEL_POLL_S)
        return True

    def _answer(self, call: _Call, text: bytes, logs: str, patience: CallPatience) -> SessionAnswer:
        if text.startswith(b'{"large"'):
            large = json.loads(text)
            raise OutputTooLarge(
                f"{patience.name} wrote more than {defaults.LARGER_CAP_BYTES} bytes as its result",
                kept=large["kept"].encode("ascii"),
                details={
                    "bytes": large["large"],
                    "cap_bytes": defaults.LARGER_CAP_BYTES,
                    "stream": "result",
                },
            )
        try:
            return exchange.answer(text, logs, name=patience.name, kit=patience.kit)
        except ToolExecutionError as error:
            if not call.sent and text.startswith(b'{"error"'):
                self._over = True
                raise Unsent(error) from None
            if text.startswith(b'{"error": {"kind": "lost"'):
                error.message = f"{error.message}; {exchange.UNKNOWN}"
            raise

    def _raise_lost(self, call: _Call, patience: CallPatience) -> NoReturn:
        with self._lock:
            error = self._end_of(call, patience)
        if call.sent or self._closed:
            raise error
        raise Unsent(error)

    def _end_of(self, call: _Call | None, patience: CallPatience) -> VespeError:
        """Return the error of a call whose session is over."""
        name, logs = patience.name, self._logs(call)
        if self._closed:
            return Interrupted(f"{name} has been ended: the sessions of this process are closed")
        if self._blamed:
            why = f"because a call of {self._blamed} did not end when it was cancelled"
            return SessionEnded(
                f"the session with the MCP server of {name} was ended {why}; {exchange.UNKNOWN}"
            )
        error: VespeError = exchange.ended(name, logs)
        if self._failure:
            try:
                exchange.answer(self._failure, logs, name=name, kit=patience.kit)
            except VespeError as told:
                error = told
        if call is not None and call.sent:
            if isinstance(error, exchange.Unauthorized):
                error = ToolExecutionError(error.message, hint=error.hint, details=error.details)
            error.message = f"{error.message}; {exchange.UNKNOWN}"
        return error

    def _logs(self, call: _Call | None) -> str:
        return exchange.written(self._process.said_since(call.mark if call else 0), self._secrets)

    def _said(self, call: _Call) -> JsonObject:
        text = self._logs(call)[-_SAID_BYTES:]
        return {"stderr": text} if text else {}

    def _heard(self, line: bytes) -> None:
        number, _, text = line.partition(b" ")
        with self._lock:
            if number != b"0":
                self._tell(self._calls.get(int(number)), text)
            elif text != b"open":
                self._failure, self._over = text, True
            else:
                self._opened = True
                for call in self._calls.values():
                    self._give(call)

    def _tell(self, call: _Call | None, text: bytes) -> None:
        if call is None:
            return
        if text == b"sent":
            call.sent = True
        else:
            call.told.put((text, "" if text.startswith(_STEPS) else self._logs(call)))

    def _ended(self) -> None:
        with self._lock:
            self._over = True
            for call in self._calls.values():
                call.told.put(None)
