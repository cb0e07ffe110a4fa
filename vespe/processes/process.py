"""Start a process, feed it, bound what it writes, and end its whole tree: at its end, at the
deadline, when Vespe dies.
"""

import contextlib
import errno
import os
import selectors
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from vespe import defaults
from vespe.errors import Interrupted, InvalidArguments, OutputTooLarge, TimedOut, ToolExecutionError
from vespe.lazy import pattern
from vespe.processes.child_scripts import BOOT, Interpreter
from vespe.processes.signals import interruptible, uninterruptible
from vespe.processes.supervised_tree import Lease, Supervised, payload
from vespe.records import dataclass

if TYPE_CHECKING:
    from vespe.processes.ask_channel import Questions
    from vespe.processes.sandbox.held import Policy
    from vespe.processes.workers import Workers

_SAID = pattern(rb"[ES] [0-9]{1,9}|F [0-9]{1,9} [a-z]+")
"""What the supervisor says on its status pipe; a tool that runs as root can write anything else
into it.
"""
_PATIENCE_S = 0.4
"""How long after a tree's last KILL the call still waits for its supervisor."""
_CANCEL_POLL_S = 0.05
_LOOK_S = 0.5
"""How long at most it is waited at a time: a signal that comes just before a wait, or to another
thread, does not end it.
"""
_SAID_BYTES = 2048
_ATTEMPTS: Final = 3
_ALONE: Final = "no process that is kept ready could be forked, so this call started one of its own"
_PLAIN: Final = Interpreter(argv=(sys.executable, "-I", "-S", "-B"), env={})
"""What programs are started from: it is replaced by them, so nothing of it matters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One process to run: fixed argv, no shell.

    `argv[0]` with a slash is a path, else a name in the absolute directories of `env`'s PATH. `env`
    is the whole environment. `stdin` is all that the process can read; with `result_fd` a
    descriptor for one result is open in it, and its number is argv's last element. `timeout_s`
    counts from the call of `run`; `cap_bytes` bounds stdout, and the result. `name` is what errors
    call it, by default the program's. `then` are programs that run after it, each where the one
    before ended with 0; they share all of this, and the last that ran says how the process ended.
    With an `interpreter` `message` is what its script is told in place of stdin, and `argv` is its
    `program()`. `workers` keep what a call can be a fork of. `sandbox` is what all of them are held
    to. `questions` answers what the process asks a person, by a descriptor that `env` names.
    """

    argv: Sequence[str]
    cwd: str
    env: Mapping[str, str]
    stdin: bytes = b""
    result_fd: bool = False
    timeout_s: float
    cap_bytes: int = defaults.LARGER_CAP_BYTES
    name: str = ""
    then: Sequence[Sequence[str]] = ()
    sandbox: "Policy | None" = None
    interpreter: Interpreter | None = None
    message: Any = None
    workers: "Workers | None" = None
    questions: "Questions | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """How a process ended: `returncode`, or the number of the `signal` that killed it; one of them
    is None.

    `stdout` and `result` (None without `result_fd`) are whole; `stderr` is the last LOG_TAIL_BYTES
    of `stderr_bytes`. `notes` are sentences on how it came to run.
    """

    returncode: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    result: bytes | None
    stderr_bytes: int
    duration_s: float
    notes: tuple[str, ...] = ()


def run(command: Command, *, cancel: threading.Event | None = None) -> Finished:
    """Run a command to its end and give what it wrote; nothing that it started is left when this
    returns or raises.

    Raises InvalidArguments (an argument that no process can be given), ToolExecutionError (it does
    not start), OutputTooLarge (with `kept`), TimedOut, Interrupted (`cancel` was set), StorageError
    (no descriptors or processes are left). On KeyboardInterrupt, and whatever else a handler of
    signals raises while it is waited for, the tree ends first.
    """
    programs, interpreter, began = (
        (command.argv, *command.then),
        command.interpreter,
        time.monotonic(),
    )
    made = payload(
        programs,
        cwd=command.cwd,
        env=command.env,
        result=command.result_fd,
        sandbox=command.sandbox,
        asks=command.questions is not None,
    )
    tried = False
    for lease in _leases(command):
        tried = True
        ready = (
            None
            if lease is None
            else _run(
                _Call(command, began, lease), made | {"boot": interpreter is not None}, cancel
            )
        )
        if ready is not None:
            return ready
    is_here = (
        interpreter is not None
        and interpreter.argv[0] == sys.executable
        and not (command.sandbox and command.sandbox.prefix)
    )
    alone = cast(
        Finished, _run(_Call(command, began), made | {"boot": BOOT if is_here else ""}, cancel)
    )
    return replace(alone, notes=(_ALONE,)) if tried else alone


def _leases(command: Command) -> "Iterator[Lease | None]":
    """Yield supervisors that are there already, another one while a call does not begin; None where
    one is not to be had.
    """
    workers = command.workers
    # A proxy's channel is handed to a supervisor of the call's own.
    if (
        workers is None
        or command.then
        or (
            command.sandbox is not None
            and (command.sandbox.connect is not None or command.sandbox.prefix)
        )
    ):
        return
    for _ in range(_ATTEMPTS):
        try:
            lease = workers.lease(
                command.interpreter or _PLAIN,
                apart=command.sandbox is not None and command.sandbox.is_apart,
                shared=None if command.sandbox is None else command.sandbox.shared,
                kept="" if command.sandbox is None else command.sandbox.kept_directory,
            )
        except OSError:  # it has ended just now: the next is another one
            yield None
            continue
        if lease is None:
            return
        yield lease


def _run(call: "_Call", made: dict[str, Any], cancel: threading.Event | None) -> "Finished | None":
    """Run a call to its end; None where the supervisor that was leased did not begin it."""
    command = call.command
    with uninterruptible(), contextlib.closing(call):
        watched = False
        try:
            interpreter, is_ready = command.interpreter, call.lease is not None
            stdin = (
                interpreter.stdin(command.message, is_ready=is_ready)
                if interpreter
                else command.stdin
            )
            call.start(
                made,
                stdin=stdin,
                cap_bytes=command.cap_bytes,
                sandbox=command.sandbox,
                ask=call.asks_by(command.questions),
            )
            call.watch(cancel)
            watched = True
        finally:
            if (call.supervisor or call.lease) and not watched:
                call.end("interrupted", defaults.ORPHAN_GRACE_S)
                call.watch(None)
    return call.finished() if call.has_begun or call.lease is None or call.reason else None


def child_environment(base: Mapping[str, str], extra: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a tool's process: CHILD_ENVIRONMENT and LC_* out of `base`, and all
    of `extra`.
    """
    allowed = [
        name for name in base if name in defaults.CHILD_ENVIRONMENT or name.startswith("LC_")
    ]
    # `os.environ` decodes each value anew
    return {name: base[name] for name in allowed} | dict(extra)


class _Call(Supervised):
    """One run: the supervisor, the pipes to it and to the tool, and why it is being ended. Only its
    waits can be interrupted.
    """

    is_brief = True

    def __init__(self, command: Command, began: float, lease: "Lease | None" = None) -> None:
        super().__init__(command.name or os.path.basename(command.argv[0]), lease)
        self.command = command
        self.began = began
        self._until = self.began + command.timeout_s
        self.give_up: float | None = None
        self.reason = ""
        self.duration_s = 0.0

    @property
    def deadline(self) -> float:
        """When the call is to be over: later by what a person was waited for."""
        questions = self.command.questions
        return self._until if questions is None else self._until + questions.paused_s

    def watch(self, cancel: threading.Event | None) -> None:
        """Read and write until the tree is gone, or until it should have been."""
        questions = self.command.questions
        while self.supervised:
            now = time.monotonic()
            if self.give_up is None:
                if now >= self.deadline:
                    self.end("timed out", defaults.GRACE_S)
                elif (cancel is not None and cancel.is_set()) or (
                    questions is not None and questions.is_suspended
                ):
                    self.end("cancelled", defaults.ORPHAN_GRACE_S)
            elif now >= self.give_up:
                return
            looks = cancel is not None or questions is not None
            look = _CANCEL_POLL_S if looks and self.give_up is None else _LOOK_S
            wait = min((self.give_up or self.deadline) - now, look)
            for key, _ in self._ready(max(wait, 0)):
                self._serve(key.fd, key.data)

    def _ready(self, wait_s: float) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait for pipes that are ready; what an interruption takes away is ready again the next
        time.
        """
        with interruptible():
            return self.selector.select(wait_s)

    def _serve(self, fd: int, name: str) -> None:
        """Move the bytes of one pipe that is ready."""
        if name == "feed":
            return self.write(fd)
        if name == "ask":
            return self.take_question(fd)
        output = self.outputs[name]
        if not output.read() or output.overflows:
            self.selector.unregister(fd)
            self.supervised = self.supervised and name != "status"
        if output.overflows and not self.reason:
            self.end(name, defaults.ORPHAN_GRACE_S)
        elif name == "status" and self.give_up is None and b"\nE " in output.data:
            # The process itself has ended; what it left behind is the supervisor's, and no longer
            # the deadline's.
            self.give_up = time.monotonic() + defaults.ORPHAN_GRACE_S + _PATIENCE_S
            self.wake()
        return None

    def end(self, reason: str, grace_s: float) -> None:
        """Tell the supervisor to end the tree; `reason` decides what the call will raise."""
        self.reason = self.reason or reason
        self.give_up = time.monotonic() + grace_s + _PATIENCE_S
        self.tell_end(grace_s)

    def close(self) -> None:
        """As every supervised tree closes; what the call took is known before that."""
        self.duration_s = time.monotonic() - self.began
        super().close()

    @property
    def has_begun(self) -> bool:
        """Whether any code of the tool may have run."""
        return self.outputs["status"].data.startswith(b"S ")

    def finished(self) -> Finished:
        """What became of the process, or the error that says why not."""
        said = {
            line[:1]: line[2:]
            for line in self.outputs["status"].kept.splitlines()
            if _SAID.fullmatch(line)
        }
        self._raise_what_ended_it()
        if b"F" in said:
            number, stage = said[b"F"].split(b" ")
            raise not_started(
                self.command.argv,
                cwd=self.command.cwd,
                number=int(number),
                stage=stage.decode("ascii"),
            )
        if b"E" not in said:
            raise ToolExecutionError(
                f"{self.program} was ended together with the process that watched it",
                details=self._said(),
            )
        status, stderr = int(said[b"E"]), self.outputs["stderr"]
        return Finished(
            returncode=os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
            signal=os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
            stdout=self.outputs["stdout"].kept,
            stderr=stderr.kept,
            result=self.outputs["result"].kept if self.command.result_fd else None,
            stderr_bytes=stderr.count,
            duration_s=self.duration_s,
        )

    def _raise_what_ended_it(self) -> None:
        if self.reason == "timed out":
            late = TimedOut(self.program, seconds=self.command.timeout_s)
            late.details |= self._said()
            raise late
        if self.reason == "cancelled":
            raise Interrupted(
                f"{self.program} was cancelled and has been ended", details=self._said()
            )
        for name, what in (("stdout", "to its standard output"), ("result", "as its result")):
            output = self.outputs[name]
            if output.overflows:
                raise OutputTooLarge(
                    f"{self.program} wrote more than {output.cap} bytes {what} and was ended",
                    kept=output.kept,
                    details={"bytes": output.count, "cap_bytes": output.cap, "stream": name},
                )

    def _said(self) -> dict[str, Any]:
        """The end of what the process wrote to its standard error, for an error's details."""
        text = self.outputs["stderr"].kept[-_SAID_BYTES:].decode("utf-8", "replace")
        return {"stderr": text} if text else {}


def not_started(
    argv: Sequence[str], *, cwd: str, number: int, stage: str
) -> InvalidArguments | ToolExecutionError:
    """Return the sentence for what the operating system said when the process should have begun."""
    program, why = argv[0], os.strerror(number)
    details = {"program": program, "errno": number}
    if stage == "sandbox":
        return ToolExecutionError(
            f"{program} did not start: its sandbox cannot be set up: {why}",
            hint="`vespe doctor` tries it; `vespe config set sandbox off` does without, "
            "at your own risk",
            details=details,
        )
    if stage == "cwd":
        return ToolExecutionError(
            f"{program} cannot start in the directory {cwd}: {why}",
            details={**details, "directory": cwd},
        )
    if number == errno.E2BIG:
        size = max(len(text.encode("utf-8", "surrogateescape")) for text in argv)
        return InvalidArguments(
            "the arguments are longer than the operating system takes: "
            f"the longest has {size} bytes"
        )
    if number == errno.ENOENT and "/" not in program:
        return ToolExecutionError(
            f"there is no program called {program!r} on PATH",
            hint="pass the program's arguments apart from its name; a tool has them in `args.argv`"
            if " " in program
            else "install it, or correct PATH",
            details=details,
        )
    if number == errno.ENOENT and os.path.exists(program):
        return ToolExecutionError(
            f"{program} cannot run: its first line names an interpreter that does not exist",
            details=details,
        )
    if number == errno.EACCES:
        return ToolExecutionError(
            f"{program} is not executable", hint=f"chmod +x {program}", details=details
        )
    if number == errno.ENOEXEC:
        return ToolExecutionError(
            f"{program} is not a program: it has neither a machine's format nor a #! line",
            details=details,
        )
    return ToolExecutionError(f"{program} cannot start: {why}", details=details)
