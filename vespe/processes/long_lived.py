"""A process that lives on under a supervisor: lines to it and from it at any time, until it is
ended with its whole tree.
"""

import contextlib
import os
import re
import selectors
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from vespe import defaults
from vespe.errors import StorageError
from vespe.lazy import pattern
from vespe.processes.process import not_started
from vespe.processes.supervised_tree import OpenTree, payload
from vespe.records import dataclass

if TYPE_CHECKING:
    from vespe.processes.sandbox.held import Policy

MAX_LINE_BYTES: Final = 4 * defaults.LARGER_CAP_BYTES
"""What one line that the process writes may have; past it the process is ended."""
_PATIENCE_S: Final = 0.4
_LOOK_S: Final = 60.0
_ENDED: Final = pattern(rb"^E (\d+)$", re.MULTILINE)
_FAILED: Final = pattern(rb"^F (\d+) (\w+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """Who is told of a process: `heard` of each line, `over` once when the whole tree is gone, in a
    thread of the process's own.

    `said` is told what the tree writes to stderr, as it comes. A process that writes a line of more
    than `max_line_bytes` is ended.
    """

    heard: Callable[[bytes], None]
    over: Callable[[], None]
    said: Callable[[bytes], None] | None = None
    max_line_bytes: int = MAX_LINE_BYTES


class LastingProcess:
    """One process for as long as its owner wants it; safe to share between threads.

    The process reads lines from stdin and writes lines to the descriptor that is the last of its
    arguments, or, where its listener has `said`, to its stdout. What the tree wrote to stderr
    before a line has been taken before `heard` gets the line.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        listener: Listener,
        sandbox: "Policy | None" = None,
    ) -> None:
        self._sandbox, self._listener = sandbox, listener
        self._lines_of = "result" if listener.said is None else "stdout"
        self.flooded = False
        self._tree = _Tree(os.path.basename(argv[0]))
        self._argv, self._cwd, self._env = argv, cwd, env
        self._lock = threading.Lock()
        self._waiting: deque[bytes] = deque()
        self._farewell_at: float | None = None
        self._end_at: float | None = None
        self._grace_s = defaults.ORPHAN_GRACE_S
        self._said_goodbye = False
        self._gone = threading.Event()
        self._room = threading.Condition(self._lock)
        self._waker = -1

    def start(self) -> None:
        """Start it; raises InvalidArguments and StorageError."""
        command = payload(
            [self._argv],
            cwd=self._cwd,
            env=self._env,
            result=self._listener.said is None,
            sandbox=self._sandbox,
        )
        with contextlib.ExitStack() as undone:
            undone.callback(self._tree.close)
            self._waker = self._tree.waker()
            self._tree.start(
                command, stdin=b"", cap_bytes=self._listener.max_line_bytes, sandbox=self._sandbox
            )
            threading.Thread(target=self._pump, name="vespe-lasting", daemon=True).start()
            undone.pop_all()

    def send(self, line: bytes) -> None:
        """Send the process a line, as soon as it takes it; one that is over or is being ended gets
        nothing more.
        """
        with self._lock:
            self._waiting.append(line)
            self._wake()

    def wait_for_room(self, limit: int, *, seconds: float) -> bool:
        """Wait until it has at most `limit` bytes still to take, or is over; False where that takes
        longer.
        """
        with self._room:
            return self._room.wait_for(
                lambda: (
                    self._waker < 0 or sum(map(len, self._waiting)) + self._tree.backlog <= limit
                ),
                seconds,
            )

    def close(self, *, farewell_s: float) -> None:
        """End its stdin once it has taken what was sent, and after so long whatever of the tree is
        still there. Returns at once.
        """
        with self._lock:
            if self._farewell_at is None:
                self._farewell_at = time.monotonic() + farewell_s
                self._wake()

    def end(self, grace_s: float = defaults.ORPHAN_GRACE_S) -> None:
        """End the tree: TERM, the grace, KILL. Returns at once."""
        with self._lock:
            self._farewell_at, self._grace_s = 0.0, grace_s
            self._wake()

    def wait(self, seconds: float) -> bool:
        """Wait until nothing of it is left; False where that takes longer."""
        return self._gone.wait(seconds)

    def abandon(self) -> None:
        """Close this process's descriptors of it: it belongs to the process that forked this
        one.
        """
        self._tree.abandon()

    def check_ended(self) -> int:
        """Return the exit status of what is over, 128 and the signal's number where one ended it.

        Raises ToolExecutionError and InvalidArguments where it has never begun.
        """
        said = bytes(self._tree.outputs["status"].data)
        if failed := _FAILED.search(said):
            raise not_started(
                self._argv, cwd=self._cwd, number=int(failed[1]), stage=failed[2].decode("ascii")
            )
        ended = _ENDED.search(said)
        code = os.waitstatus_to_exitcode(int(ended[1])) if ended else -signal.SIGKILL
        return code if code >= 0 else 128 - code

    @property
    def written(self) -> int:
        """How many bytes the tree has written to stderr so far."""
        with self._lock:
            return self._tree.outputs["stderr"].count

    def said_since(self, mark: int) -> bytes:
        """Return what the tree wrote to stderr since `written` was `mark`: the last LOG_TAIL_BYTES
        of it.
        """
        with self._lock:
            return self._tree.outputs["stderr"].kept_since(mark)

    def born_since(self, moment: float) -> list[int]:
        """Return the processes of the tree that began after a moment of `boot_time`; none where the
        system does not tell.
        """
        found: list[int] = []
        queue = [self._tree.supervisor]
        while queue:
            children = _children(queue.pop())
            found += [pid for pid in children if _began(pid) > moment]
            queue += children
        return found

    def _wake(self) -> None:
        if self._waker >= 0:
            with contextlib.suppress(BlockingIOError):
                os.write(self._waker, b"x")

    def _pump(self) -> None:
        """Move bytes until the tree is gone, or until it should have been."""
        try:
            while self._tree.supervised and (wait := self._due()) > 0:
                for key, _ in self._tree.selector.select(wait):
                    self._serve(key.fd, key.data)
        finally:
            with self._room:
                self._tree.close()
                self._waker = -1
                self._room.notify_all()
            self._listener.over()
            self._gone.set()

    def _due(self) -> float:
        """Do what is due, and give how long to wait for more; 0 where it has been waited long
        enough.
        """
        with self._lock:
            now = time.monotonic()
            if self._end_at is not None:
                return self._end_at - now
            if self._farewell_at is None:
                return _LOOK_S
            if not self._said_goodbye and self._farewell_at:
                self._said_goodbye = True
                self._feed()
                self._tree.goodbye()
            if now >= self._farewell_at:
                self._end_at = now + self._grace_s + _PATIENCE_S
                self._tree.tell_end(self._grace_s)
                return self._grace_s + _PATIENCE_S
            return self._farewell_at - now

    def _serve(self, fd: int, name: str) -> None:
        lines, said = list[bytes](), b""
        with self._lock:
            if name == "wake":
                os.read(fd, 4096)
                self._feed()
            elif name == "feed":
                self._tree.write(fd)
                self._room.notify_all()
            else:
                before = self._tree.outputs[name].count
                lines = self._read(name)
                said = self._tree.outputs[name].kept_since(before) if name == "stderr" else b""
        if said and self._listener.said is not None:
            self._listener.said(said)
        for line in lines:
            self._listener.heard(line)

    def _feed(self) -> None:
        while self._waiting:
            self._tree.feed(self._waiting.popleft())

    def _read(self, name: str) -> list[bytes]:
        """Take what one pipe has; gives the lines that are whole now."""
        tree, output = self._tree, self._tree.outputs[name]
        if name == "result":
            # One read takes all that a pipe holds: what the tree wrote before this line is in it.
            tree.outputs["stderr"].read()
        tree.take(name)
        if name == "status" and b"\nE " in output.data and self._end_at is None:
            # What it left behind is the supervisor's to end.
            self._end_at = time.monotonic() + defaults.ORPHAN_GRACE_S + _PATIENCE_S
            tree.wake()
        if name != self._lines_of:
            return []
        lines = output.lines()
        if (
            max(map(len, (*lines, output.data))) > self._listener.max_line_bytes
            and not self.flooded
        ):
            self.flooded, self._farewell_at = True, 0.0
        if self.flooded:  # what it still writes while it is ended is the rest of that line
            output.data.clear()
        return [] if self.flooded else lines


class _Tree(OpenTree):
    """A tree that another thread can wake."""

    def waker(self) -> int:
        """Return a descriptor that wakes whoever selects, at each byte written to it; raises
        StorageError.
        """
        try:
            pipe = os.pipe()
        except OSError as error:
            raise StorageError("start a process for", self.program, error) from error
        for fd in pipe:
            self.open.add(fd)
            os.set_blocking(fd, False)
        self.selector.register(pipe[0], selectors.EVENT_READ, "wake")
        return pipe[1]


def boot_time() -> float:
    """Return the time since the machine started, as `born_since` takes it."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else 0.0


def _children(pid: int) -> list[int]:
    found = b""
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found += file.read()
    return [int(child) for child in found.split()]


def _began(pid: int) -> float:
    """Return when a process began, in `boot_time`, a clock tick too late; 0 for one that has
    ended.
    """
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
        return 0.0 if fields[0] == b"Z" else (int(fields[19]) + 1) / os.sysconf("SC_CLK_TCK")
    return 0.0
