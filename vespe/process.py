"""Start a process, feed it, bound what it writes, and end its whole tree: at its end, at the deadline, when Vespe dies."""

import contextlib
import errno
import fcntl
import os
import selectors
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vespe import defaults
from vespe.child_scripts import BOOT, boot_message
from vespe.errors import Interrupted, InvalidArguments, OutputTooLarge, StorageError, TimedOut, ToolExecutionError
from vespe.termination import open_to_signals, own_handlers_wait, whole

_SUPERVISOR = os.path.join(os.path.dirname(os.path.abspath(__file__)), "supervisor.py")
_RESULT_FD = 3
_PATIENCE_S = 0.4
"""How long after a tree's last KILL the call still waits for its supervisor."""
_CANCEL_POLL_S = 0.05
_LOOK_S = 0.5
"""How long at most it is waited at a time: a signal that comes just before a wait, or to another thread, does not end it."""
_CHUNK = 64 * 1024
_SAID_BYTES = 2048
_LOADER_VARIABLES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH")
"""What an interpreter may need in order to start at all; the supervisor gets nothing else of the environment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One process to run: fixed argv, no shell.

    `argv[0]` with a slash is a path, else a name in the absolute directories of `env`'s PATH. `env` is the whole
    environment. `stdin` is all that the process can read; with `result_fd` a descriptor for one result is open in
    it, and its number is argv's last element. `timeout_s` counts from the call of `run`; `cap_bytes` bounds stdout,
    and the result. `name` is what errors call it, by default the program's. `then` are programs that run after it, each where the
    one before ended with 0; they share all of this, and the last that ran says how the process ended.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """How a process ended: `returncode`, or the number of the `signal` that killed it; one of them is None.

    `stdout` and `result` (None without `result_fd`) are whole; `stderr` is the last LOG_TAIL_BYTES of `stderr_bytes`.
    """

    returncode: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    result: bytes | None
    stderr_bytes: int
    duration_s: float


@whole
def run(command: Command, *, cancel: threading.Event | None = None) -> Finished:
    """Run a command to its end and give what it wrote; nothing that it started is left when this returns or raises.

    Raises InvalidArguments (an argument that no process can be given), ToolExecutionError (it does not start),
    OutputTooLarge (with `kept`), TimedOut, Interrupted (`cancel` was set), StorageError (no descriptors or processes
    are left). On KeyboardInterrupt the tree ends first.
    """
    payload = _payload(command)
    with own_handlers_wait():
        call = _Call(command)
        try:
            call.start(payload)
            call.watch(cancel)
        except KeyboardInterrupt:
            call.end("interrupted", defaults.ORPHAN_GRACE_S)
            call.watch(None)
            raise
        finally:
            call.close()
    return call.finished()


def child_environment(base: Mapping[str, str], extra: Mapping[str, str]) -> dict[str, str]:
    """Give the environment of a tool's process: CHILD_ENVIRONMENT and LC_* out of `base`, and all of `extra`."""
    allowed = {name: value for name, value in base.items() if name in defaults.CHILD_ENVIRONMENT or name.startswith("LC_")}
    return allowed | dict(extra)


def _payload(command: Command) -> bytes:
    """The command as the supervisor's `main` takes it, after the supervisor itself."""
    argv = [*command.argv, str(_RESULT_FD)] if command.result_fd else list(command.argv)
    document = {
        "programs": [_program(one) for one in (argv, *command.then)],
        "cwd": _path(command.cwd, "the working directory"),
        "env": {_path(name, "a variable's name"): _path(value, f"the variable {name}") for name, value in command.env.items()},
        "result": command.result_fd,
        "vespe": os.getpid(),
    }
    return boot_message(_SUPERVISOR, document)


def _program(argv: Sequence[str]) -> list[bytes]:
    return [_path(argv[0], "the program"), *(_argument(text, index) for index, text in enumerate(argv[1:], 1))]


def _argument(text: str, index: int) -> bytes:
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidArguments(f"argument {index} of the process holds a lone surrogate, which UTF-8 cannot say") from None
    if b"\0" in data:
        raise InvalidArguments(f"argument {index} of the process holds a NUL character")
    return data


def _path(text: str, what: str) -> bytes:
    """A text that may have come from the operating system: undecodable bytes are given back as they were."""
    try:
        data = os.fsencode(text)
    except UnicodeEncodeError:
        raise InvalidArguments(f"{what} holds a character that the file system cannot say: {text!a}") from None
    if b"\0" in data:
        raise InvalidArguments(f"{what} holds a NUL character")
    return data


class _Output:
    """One pipe that the tree writes to: at most `cap` bytes kept, its head or its tail, all counted."""

    __slots__ = ("cap", "count", "data", "fd", "keep_tail")

    def __init__(self, fd: int, cap: int, *, keep_tail: bool = False) -> None:
        self.fd, self.cap, self.keep_tail = fd, cap, keep_tail
        self.data, self.count = bytearray(), 0

    def read(self) -> bool:
        """Take what is there; False at the end of file."""
        try:
            chunk = os.read(self.fd, _CHUNK)
        except BlockingIOError:
            return True
        self.count += len(chunk)
        self.data += chunk
        if self.keep_tail and len(self.data) > self.cap * 2:
            del self.data[: -self.cap]
        return bool(chunk)

    def drain(self) -> None:
        """Take what is left in the pipe after the tree has ended; an outsider that holds it open is not waited for."""
        before = -1
        while before != self.count and not self.overflows:
            before = self.count
            self.read()

    @property
    def overflows(self) -> bool:
        return not self.keep_tail and self.count > self.cap

    @property
    def kept(self) -> bytes:
        return bytes(self.data[-self.cap :] if self.keep_tail else self.data[: self.cap])


class _Call:
    """One run: the supervisor, the pipes to it and to the tool, and why it is being ended. Only its waits can be interrupted."""

    def __init__(self, command: Command) -> None:
        self.command = command
        self.program = command.name or os.path.basename(command.argv[0])
        self.began = time.monotonic()
        self.deadline = self.began + command.timeout_s
        self.give_up: float | None = None
        self.reason = ""
        self.supervisor = 0
        self.supervised = True
        self.control = -1
        self.open: set[int] = set()
        self.selector = selectors.PollSelector()
        self.feeds: dict[int, memoryview] = {}
        self.outputs: dict[str, _Output] = {}
        self.duration_s = 0.0

    def start(self, payload: bytes) -> None:
        """Make the pipes and start the supervisor on their other ends."""
        theirs: list[int] = []
        try:
            for name in ("control", "status", "stderr", "stdin", "stdout", "result"):
                theirs.append(self._pipe(name, payload))
            self.supervisor = os.posix_spawn(
                sys.executable,
                [sys.executable, "-I", "-S", "-B", "-c", BOOT],
                {name: os.environ[name] for name in _LOADER_VARIABLES if name in os.environ},
                file_actions=[(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate(theirs)],
                setpgroup=0,  # from its first moment a terminal's Ctrl-C is ours alone
                setsigmask=(),
            )
        except OSError as error:
            raise StorageError("start a process for", self.command.argv[0], error) from error
        finally:
            for fd in theirs:
                os.close(fd)

    def _pipe(self, name: str, payload: bytes) -> int:
        """Make one pipe, keep our end of it, and give theirs: above the numbers that it will be copied to."""
        reader, writer = os.pipe()
        ours, theirs = (writer, reader) if name in ("control", "stdin") else (reader, writer)
        self.open.add(ours)
        os.set_blocking(ours, False)
        if name in ("control", "stdin"):
            self.control = ours if name == "control" else self.control
            self.feeds[ours] = memoryview(payload if name == "control" else self.command.stdin)
            self.selector.register(ours, selectors.EVENT_WRITE, "feed")
            self._write(ours)
        else:
            tail = {"status": _CHUNK, "stderr": defaults.LOG_TAIL_BYTES}.get(name, 0)
            self.outputs[name] = _Output(ours, tail or self.command.cap_bytes, keep_tail=bool(tail))
            self.selector.register(ours, selectors.EVENT_READ, name)
        if theirs > 5:
            return theirs
        moved = fcntl.fcntl(theirs, fcntl.F_DUPFD_CLOEXEC, 6)
        os.close(theirs)
        return moved

    def _write(self, fd: int) -> None:
        """Write what the pipe takes; where that was all, or nobody reads, a pipe other than the control pipe is closed."""
        try:
            self.feeds[fd] = self.feeds[fd][os.write(fd, self.feeds[fd]) :] if self.feeds[fd] else self.feeds[fd]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self.feeds[fd] = memoryview(b"")
        if not self.feeds[fd]:
            self.selector.unregister(fd)
            if fd != self.control:
                self._close(fd)

    def _close(self, fd: int) -> None:
        self.open.discard(fd)
        os.close(fd)

    def watch(self, cancel: threading.Event | None) -> None:
        """Read and write until the tree is gone, or until it should have been."""
        while self.supervised:
            now = time.monotonic()
            if self.give_up is None:
                if now >= self.deadline:
                    self.end("timed out", defaults.GRACE_S)
                elif cancel is not None and cancel.is_set():
                    self.end("cancelled", defaults.ORPHAN_GRACE_S)
            elif now >= self.give_up:
                return
            look = _CANCEL_POLL_S if cancel is not None and self.give_up is None else _LOOK_S
            wait = min((self.give_up or self.deadline) - now, look)
            for key, _ in self._ready(max(wait, 0)):
                self._serve(key.fd, key.data)

    @open_to_signals
    def _ready(self, wait_s: float) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait for pipes that are ready; what an interruption takes away is ready again the next time."""
        return self.selector.select(wait_s)

    def _serve(self, fd: int, name: str) -> None:
        """Move the bytes of one pipe that is ready."""
        if name == "feed":
            return self._write(fd)
        output = self.outputs[name]
        if not output.read() or output.overflows:
            self.selector.unregister(fd)
            self.supervised = self.supervised and name != "status"
        if output.overflows and not self.reason:
            self.end(name, defaults.ORPHAN_GRACE_S)
        elif name == "status" and self.give_up is None and b"\nE " in output.data:
            # The process itself has ended; what it left behind is the supervisor's, and no longer the deadline's.
            self.give_up = time.monotonic() + defaults.ORPHAN_GRACE_S + _PATIENCE_S
            self._wake()
        return None

    def end(self, reason: str, grace_s: float) -> None:
        """Tell the supervisor to end the tree; `reason` decides what the call will raise."""
        self.reason = self.reason or reason
        self.give_up = time.monotonic() + grace_s + _PATIENCE_S
        if self.feeds.get(self.control):
            # It has not even read its command: the end of file tells it to go.
            with contextlib.suppress(KeyError):
                self.selector.unregister(self.control)
            self._close(self.control)
        elif self.control in self.open:
            with contextlib.suppress(OSError):
                os.write(self.control, b"%f\n" % grace_s)
            self._wake()

    def _wake(self) -> None:
        """Let the supervisor go on where the tool has stopped it; it is our child and not waited for, so the pid is its own."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.supervisor, signal.SIGCONT)

    def close(self) -> None:
        """Take what is left in the pipes, close them, and wait for the supervisor: in the background where it hangs."""
        for output in self.outputs.values():
            output.drain()
        self.duration_s = time.monotonic() - self.began
        self.selector.close()
        for fd in tuple(self.open):
            self._close(fd)
        if self.supervisor and self.supervised:
            threading.Thread(target=_wait, args=(self.supervisor,), daemon=True).start()
        elif self.supervisor:
            _wait(self.supervisor)

    def finished(self) -> Finished:
        """What became of the process, or the error that says why not."""
        said = dict(line.split(b" ", 1) for line in self.outputs["status"].kept.splitlines())
        self._raise_what_ended_it()
        if b"F" in said:
            number, stage = said[b"F"].split(b" ")
            raise _not_started(self.command, int(number), stage.decode("ascii"))
        if b"E" not in said:
            raise ToolExecutionError(f"{self.program} was ended together with the process that watched it", details=self._said())
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
            raise Interrupted(f"{self.program} was cancelled and has been ended", details=self._said())
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


def _wait(pid: int) -> None:
    # A program that ignores SIGCHLD has its children waited for by the kernel.
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)


def _not_started(command: Command, number: int, stage: str) -> InvalidArguments | ToolExecutionError:
    """The sentence for what the operating system said when the process should have begun."""
    program, why = command.argv[0], os.strerror(number)
    details = {"program": program, "errno": number}
    if stage == "cwd":
        return ToolExecutionError(f"{program} cannot start in the directory {command.cwd}: {why}", details=details)
    if number == errno.E2BIG:
        size = max(len(text.encode("utf-8", "surrogateescape")) for text in command.argv)
        return InvalidArguments(f"the arguments are longer than the operating system takes: the longest has {size} bytes")
    if number == errno.ENOENT and "/" not in program:
        return ToolExecutionError(f"there is no program called {program!r} on PATH", hint="install it, or mend PATH", details=details)
    if number == errno.ENOENT and os.path.exists(program):
        return ToolExecutionError(f"{program} cannot run: its first line names an interpreter that does not exist", details=details)
    if number == errno.EACCES:
        return ToolExecutionError(f"{program} is not executable", hint=f"chmod +x {program}", details=details)
    if number == errno.ENOEXEC:
        return ToolExecutionError(f"{program} is no program: it has neither a machine's format nor a #! line", details=details)
    return ToolExecutionError(f"{program} cannot start: {why}", details=details)
