"""A supervisor with the tree below it: the pipes to both, what came through them, and the word that
ends the tree.
"""

import contextlib
import fcntl
import gc
import os
import selectors
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from vespe import defaults
from vespe.errors import InvalidArguments, StorageError
from vespe.processes import signals
from vespe.processes.child_scripts import BOOT, ENTER, SUPERVISOR, boot_message, compiled

if TYPE_CHECKING:
    from vespe.processes.ask_channel import AskChannel, Questions
    from vespe.processes.sandbox.held import Policy
    from vespe.processes.sandbox.proxy import Proxy

_RESULT_FD = 3
_GIVEN = 6
"""How many descriptors every supervisor is given; then those of a proxy, and of what asks."""
_LAST = _GIVEN + 1
_CHUNK = 64 * 1024
_LOADER_VARIABLES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH")
"""What an interpreter may need in order to start at all; the supervisor gets nothing else of the
environment.
"""
_OURS_TO_WRITE = ("control", "stdin")
_FROM_HERE_S = 1.0


def payload(
    programs: Sequence[Sequence[str]],
    *,
    cwd: str,
    env: Mapping[str, str],
    result: bool,
    sandbox: "Policy | None" = None,
    asks: bool = False,
) -> dict[str, Any]:
    """Return programs, by their argv, as the supervisor's `main` takes them.

    Each runs where the one before ended with 0. With `result` a descriptor for results is open in
    them, and its number is the last element of the first one's argv; with `asks` another one to ask
    a person by. `boot` is what a fork of the
    supervisor is to run instead of starting the program. Raises InvalidArguments for what no
    process can be given.
    """
    prefix = sandbox.prefix if sandbox is not None else ()
    first, *then = ([*prefix, *argv] for argv in programs)
    channel = sandbox is not None and sandbox.connect is not None
    return {
        "programs": [
            _program([*first, str(_RESULT_FD)] if result else first),
            *(_program(argv) for argv in then),
        ],
        "cwd": _path(cwd, "the working directory"),
        "env": {
            _path(name, "a variable's name"): _path(value, f"the variable {name}")
            for name, value in env.items()
        },
        "result": result,
        "vespe": os.getpid(),
        "sandbox": entering(sandbox) if sandbox is not None else None,
        "boot": "",
        "channel": channel,
        "ask": _GIVEN + channel if asks else -1,
        "given": _GIVEN + channel + asks,
    }


def entering(policy: "Policy") -> tuple[Any, Mapping[str, Any]] | None:
    """Return what a child needs to be held to a policy, as marshal carries it: the code that has
    `enter`, and what `enter` takes.

    None where nothing is to be held.
    """
    return (compiled(ENTER), policy.message) if "filter" in policy.message else None


def _program(argv: Sequence[str]) -> list[bytes]:
    return [
        _path(argv[0], "the program"),
        *(_argument(text, index) for index, text in enumerate(argv[1:], 1)),
    ]


def _argument(text: str, index: int) -> bytes:
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidArguments(
            f"argument {index} of the process contains a lone surrogate, which UTF-8 cannot encode"
        ) from None
    if b"\0" in data:
        raise InvalidArguments(f"argument {index} of the process holds a NUL character")
    return data


def _path(text: str, what: str) -> bytes:
    """A text that may have come from the operating system: undecodable bytes are given back as they
    were.
    """
    try:
        data = os.fsencode(text)
    except UnicodeEncodeError:
        raise InvalidArguments(
            f"{what} holds a character that the file system cannot say: {text!a}"
        ) from None
    if b"\0" in data:
        raise InvalidArguments(f"{what} holds a NUL character")
    return data


class Output:
    """One pipe that the tree writes to: at most `cap` bytes kept, its head or its tail, all
    counted.
    """

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
        """Take what is left in the pipe after the tree has ended; an outsider that holds it open is
        not waited for.
        """
        before = -1
        while before != self.count and not self.overflows:
            before = self.count
            self.read()

    def lines(self) -> list[bytes]:
        """Return the whole lines that are there, and keep the rest; to be asked after each
        `read`.
        """
        end = self.data.rfind(b"\n", max(len(self.data) - _CHUNK, 0)) + 1
        whole = bytes(self.data[:end]).split(b"\n")[:-1]
        del self.data[:end]
        return whole

    def kept_since(self, mark: int) -> bytes:
        """Return what is kept of what came after the first `mark` bytes."""
        fresh = min(self.count - mark, self.cap)
        return bytes(self.data[-fresh:]) if fresh > 0 else b""

    @property
    def overflows(self) -> bool:
        return not self.keep_tail and self.count > self.cap

    @property
    def kept(self) -> bytes:
        return bytes(self.data[-self.cap :] if self.keep_tail else self.data[: self.cap])


class Lease(Protocol):
    """A supervisor that is kept ready, for one call; see `workers.Lease`."""

    group: int

    @property
    def pid(self) -> int:
        """The supervisor's process; 0 while it is not there."""
        ...

    def begin(
        self, descriptors: Sequence[int], command: dict[str, Any], sandbox: "Policy | None"
    ) -> None:
        """Let the call begin."""
        ...

    def wake(self) -> None:
        """Let the supervisor go on where the tool has stopped it."""
        ...

    def kill(self) -> bool:
        """Kill the supervisor where that ends all that it started; False where it does not."""
        ...

    def wait_for_the_end(self) -> None:
        """Wait until a supervisor that was killed is gone, with all that it left."""
        ...

    def give_back(self, *, whole: bool) -> None:
        """Say that the call is over."""
        ...


class Supervised:
    """A supervisor and its tree, from our side; every method is for one thread at a time.

    `program` is what errors call what is started. `feeds` holds what is still to be written, by
    descriptor; `outputs` what has been read. `is_brief` says that it lives for one call: then its
    supervisor may be a fork of this process, and keep all that this one has.
    """

    is_brief = False

    def __init__(self, program: str, lease: "Lease | None" = None) -> None:
        self.program = program
        self.lease = lease
        self.supervisor = 0
        self.supervised = True
        self.control = -1
        self.open: set[int] = set()
        self.selector = selectors.PollSelector()
        self.feeds: dict[int, memoryview] = {}
        self.outputs: dict[str, Output] = {}
        self.proxy: Proxy | None = None
        self.asks: AskChannel | None = None

    def start(
        self,
        command: dict[str, Any],
        *,
        stdin: bytes,
        cap_bytes: int,
        sandbox: "Policy | None" = None,
        ask: int = -1,
    ) -> None:
        """Make the pipes and start the supervisor on their other ends, or let the one that is
        leased begin; raises StorageError.

        A sandbox that reaches hosts gets its proxy. `ask` is the tool's end of what it asks by,
        which is closed here.
        """
        theirs: list[int] = []
        unused = [ask] if ask >= 0 else []
        # A proxy runs in a thread of its own.
        is_alone = self.lease is None and (sandbox is None or sandbox.connect is None)
        forked = self.is_brief and is_alone and not command["boot"] and _can_fork()
        fed = {
            "control": b"" if self.lease or forked else boot_message(SUPERVISOR, command),
            "stdin": stdin,
        }
        try:
            for name in ("control", "status", "stderr", "stdin", "stdout", "result"):
                theirs.append(self._pipe(name, fed.get(name, b""), cap_bytes))
            if sandbox is not None and sandbox.connect is not None:
                theirs.append(self._channel(sandbox.connect))
            theirs += unused
            unused = []
            if forked:
                self.supervisor = os.fork() or _become_supervisor(command, theirs)
            elif self.lease is None:
                self._spawn(command, theirs)
            else:
                # it is gone: the status pipe says that nothing has begun
                with contextlib.suppress(OSError):
                    self.lease.begin(theirs, command, sandbox)
        except OSError as error:
            raise StorageError("start a process for", self.program, error) from error
        finally:
            for fd in (*theirs, *unused):
                os.close(fd)

    def _spawn(self, command: dict[str, Any], theirs: list[int]) -> None:
        """Start a supervisor of this tree's own; in the tool's interpreter and environment, where
        the tool is to be a fork of it.
        """
        argv, env = (
            [sys.executable, "-I", "-S", "-B"],
            {name: os.environ[name] for name in _LOADER_VARIABLES if name in os.environ},
        )
        if command["boot"]:
            argv, env = [os.fsdecode(part) for part in command["programs"][0][:-3]], command["env"]
        self.supervisor = os.posix_spawn(
            argv[0],
            [*argv, "-c", BOOT],
            env,
            file_actions=[(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate(theirs)],
            setpgroup=0,  # from its first moment a terminal's Ctrl-C is ours alone
            setsigmask=(),
        )

    def _channel(self, connect: "Callable[[str, int], Any]") -> int:
        """Start the proxy; returns the end of its channel that the supervisor gets, above the
        numbers that it will be copied to.
        """
        from vespe.processes.sandbox.proxy import Proxy

        self.proxy = Proxy(connect)
        return _above(self.proxy.theirs)

    def _pipe(self, name: str, data: bytes, cap_bytes: int) -> int:
        """Make one pipe, keep our end of it, and give theirs: above the numbers that it will be
        copied to.
        """
        reader, writer = os.pipe()
        ours, theirs = (writer, reader) if name in _OURS_TO_WRITE else (reader, writer)
        self.open.add(ours)
        os.set_blocking(ours, False)
        if name in _OURS_TO_WRITE:
            self.control = ours if name == "control" else self.control
            self.feeds[ours] = memoryview(data)
            self.selector.register(ours, selectors.EVENT_WRITE, "feed")
            self.write(ours)
        else:
            tail = {"status": _CHUNK, "stderr": defaults.LOG_TAIL_BYTES}.get(name, 0)
            self.outputs[name] = Output(ours, tail or cap_bytes, keep_tail=bool(tail))
            self.selector.register(ours, selectors.EVENT_READ, name)
        return _above(theirs)

    def asks_by(self, questions: "Questions | None", *, always: bool = False) -> int:
        """Make what the process asks by, where anybody answers or may later (`always`), and return
        the end that it is to be given; -1 for none.
        """
        if questions is None and not always:
            return -1
        from vespe.processes.ask_channel import AskChannel

        self.asks = AskChannel()
        self.asks.begin(questions)
        self.selector.register(self.asks.ours, selectors.EVENT_READ, "ask")
        return _above(self.asks.give())

    def take_question(self, fd: int) -> None:
        """Read what the process asks; where that is no question any more, nobody listens."""
        if self.asks is not None and not self.asks.take():
            self.selector.unregister(fd)
            self.asks.hang_up()

    def write(self, fd: int) -> None:
        """Write what the pipe takes; where that was all, or nobody reads, it is `fed`."""
        try:
            self.feeds[fd] = (
                self.feeds[fd][os.write(fd, self.feeds[fd]) :] if self.feeds[fd] else self.feeds[fd]
            )
        except BlockingIOError:
            return
        except BrokenPipeError:
            self.feeds[fd] = memoryview(b"")
        if not self.feeds[fd]:
            self.selector.unregister(fd)
            self.fed(fd)

    def fed(self, fd: int) -> None:
        """Take note that a pipe has all that it was to be given: one other than the control pipe is
        closed.
        """
        if fd != self.control:
            self.shut(fd)

    def shut(self, fd: int) -> None:
        """Close one of our ends."""
        self.open.discard(fd)
        os.close(fd)

    def tell_end(self, grace_s: float) -> None:
        """Tell the supervisor to end the tree."""
        if self.feeds.get(self.control):
            # It has not even read its command: the end of file tells it to go.
            with contextlib.suppress(KeyError):
                self.selector.unregister(self.control)
            self.shut(self.control)
        elif self.control in self.open:
            with contextlib.suppress(OSError):
                os.write(self.control, b"%f\n" % grace_s)
            self.wake()

    def wake(self) -> None:
        """Let the supervisor go on where the tool has stopped it; it is our child and not waited
        for, so the pid is its own.
        """
        if self.lease is not None:
            return self.lease.wake()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.supervisor, signal.SIGCONT)
        return None

    def abandon(self) -> None:
        """Close our ends in a fork of this process: the tree is the parent's."""
        self.selector.close()
        if self.asks is not None:
            self.asks.close()
        for fd in tuple(self.open):
            self.shut(fd)

    def close(self) -> None:
        """Take what is left in the pipes, close them, and wait for the supervisor: in the
        background where it hangs.
        """
        if self.proxy is not None:
            self.proxy.close()
        if self.asks is not None:
            self.asks.end()
        for output in self.outputs.values():
            output.drain()
        self.selector.close()
        if self.asks is not None:
            self.asks.close()
        for fd in tuple(self.open):
            self.shut(fd)
        if self.lease is not None:
            self._give_back(self.lease)
        elif self.supervisor and self.supervised:
            _end_from_here(self.supervisor, self.supervisor)
            threading.Thread(target=_wait, args=(self.supervisor,), daemon=True).start()
        elif self.supervisor:
            _wait(self.supervisor)

    def _give_back(self, lease: "Lease") -> None:
        """Give a supervisor back that has said how its call ended; one that a tool has killed
        leaves its tree to the zygote.
        """
        whole = not self.supervised and b"\nE " in self.outputs["status"].data
        if self.supervised and lease.pid and not lease.kill():
            _end_from_here(lease.pid, lease.group)
        elif not whole:
            lease.wait_for_the_end()
        lease.give_back(whole=whole)


class OpenTree(Supervised):
    """A supervised tree whose stdin stays open: `stdin` is its descriptor."""

    stdin = -1
    _is_parting = False

    @property
    def backlog(self) -> int:
        """How many bytes it has still to take."""
        return len(self.feeds.get(self.stdin, b"")) if self.stdin in self.open else 0

    def fed(self, fd: int) -> None:
        """Keep the pipe, until it is to be ended."""
        self.stdin = self.stdin if fd == self.control else fd
        if self._is_parting and fd != self.control:
            self.shut(fd)

    def feed(self, data: bytes) -> None:
        """Have these bytes written to stdin: what the pipe takes now, the rest when it takes
        more.
        """
        if self.stdin not in self.open:
            return
        if waiting := self.feeds[self.stdin]:
            self.feeds[self.stdin] = memoryview(bytes(waiting) + data)
            return
        written = 0
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            written = os.write(self.stdin, data)
        self.feeds[self.stdin] = memoryview(data)[written:]
        if written < len(data):
            self.selector.register(self.stdin, selectors.EVENT_WRITE, "feed")

    def goodbye(self) -> None:
        """End stdin, once what is to be written is."""
        self._is_parting = True
        if self.stdin in self.open and not self.feeds[self.stdin]:
            self.shut(self.stdin)

    def take(self, name: str) -> Output:
        """Read one pipe that is ready; the end of the status pipe is the supervisor's."""
        output = self.outputs[name]
        if not output.read():
            self.selector.unregister(output.fd)
            self.supervised = self.supervised and name != "status"
        return output


def _can_fork() -> bool:
    """Whether a supervisor can be a fork of this process, in place of an interpreter: in our own
    command, while it has one thread. It saves a shell tool 6 ms of processor time
    (`python -m tests.benchmarks.tricks`); a Python tool is a fork of its supervisor, so that there
    an interpreter starts anyway.
    """
    from vespe.processes import supervisor

    return signals.in_command() and supervisor.is_single()


def _become_supervisor(command: dict[str, Any], theirs: Sequence[int]) -> NoReturn:
    """Be what `_spawn` starts: with no descriptors but these, in a process group of its own."""
    try:
        # what Vespe left behind would close descriptors by numbers that are others' here
        gc.disable()
        from vespe.processes import supervisor

        os.setpgid(0, 0)  # from its first moment a terminal's Ctrl-C is ours alone
        for number, fd in enumerate(theirs):
            os.dup2(fd, number)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        supervisor.main(command)
    finally:
        os._exit(1)


def _end_from_here(pid: int, group: int) -> None:
    """Kill all that is below a supervisor that does not end: its tree may stop it faster than it
    goes on; then let it go on.
    """
    from vespe.processes import supervisor

    until = time.monotonic() + _FROM_HERE_S
    while (left := supervisor.below(pid)) and time.monotonic() < until:
        for one in left:
            supervisor.kill(one, spared=group)  # that of what stands between the tool and Vespe
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
        time.sleep(supervisor.KILL_STEP_S)


def _wait(pid: int) -> None:
    # A program that ignores SIGCHLD has its children waited for by the kernel.
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)


def _above(descriptor: int) -> int:
    """Return a descriptor for the same, above all that the supervisor is given."""
    if descriptor > _LAST:
        return descriptor
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _LAST + 1)
    os.close(descriptor)
    return moved
