"""Interpreters that are kept ready in a process that lives: a call is a fork of one, and nothing of
it is left behind.
"""

import contextlib
import functools
import marshal
import os
import select
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from vespe.lazy import socket
from vespe.processes.answering import AnsweringProcess
from vespe.processes.child_scripts import BOOT, ENTER, SUPERVISOR, ZYGOTE, Interpreter
from vespe.processes.keeper import Keeper

if TYPE_CHECKING:
    from vespe.processes.sandbox.held import Policy, Shared

_T = TypeVar("_T")
_MAX_ZYGOTES: Final = 8
_MAX_PERSISTENT: Final = 16
_MAX_FORKING: Final = 8
_MAX_SUPERVISORS: Final = 64
"""Of one zygote: more calls at a time than that have a process of their own each, as in a process
that does not live.
"""
_MAX_SHARING: Final = 8
"""Of those that are free, so many at most hold a policy."""
_MAX_SPARES: Final = 2
_JUST_NOW_S: Final = 0.05
"""A call that began longer ago probably waits for something."""
_SWEEP_S: Final = 1.0
"""How long is waited for what a supervisor left that was killed."""
_END_S: Final = 1.0


class Workers:
    """The zygotes of one process that lives, for calls from several threads; `close` ends them.
    `persistent` has the processes of the tools that keep state, one for each. `forking` has those
    that have imported what tools depend on, in their sandbox, and fork each call; `threaded` has
    the keys of those that cannot, since what they import starts threads.
    """

    def __init__(self) -> None:
        self._zygotes = Keeper[_Zygote](most=_MAX_ZYGOTES, use="shared")
        self._spoilt: set[Hashable] = set()
        self._spares = _Spares()
        self.persistent = Keeper[AnsweringProcess](most=_MAX_PERSISTENT, use="serial")
        self.forking = Keeper[AnsweringProcess](most=_MAX_FORKING, use="exclusive")
        self.threaded: set[Hashable] = set()
        self._directories: Any = None
        self._ended = weakref.WeakMethod(self._drop_directories)

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def lease(
        self,
        interpreter: Interpreter,
        *,
        apart: bool = False,
        shared: "Shared | None" = None,
        kept: str = "",
    ) -> "Lease | None":
        """Return a supervisor for one call, `apart` in a namespace of processes, and for calls that
        have something `shared` alone, before others the one that has `kept` their temporary
        directory; or None where there is to be none, without waiting. Raises OSError where none can
        be had.
        """
        if not is_possible():
            return None
        key = interpreter.key()
        if key in self._spoilt and not interpreter.preload:
            return None
        make = functools.partial(_Zygote, interpreter, key, self._spoilt, self._spares, self._ended)
        with self._zygotes.borrow(key, make) as (zygote, _):
            return zygote.lease(apart=apart, shared=shared, kept=kept)

    def directories(self, make: Callable[[], _T]) -> _T:
        """Return what keeps the temporary directories of calls, made where there is nothing yet;
        it is closed with this.
        """
        if self._directories is None:
            self._directories = make()
        return self._directories  # type: ignore[no-any-return]  # the one caller makes one kind

    def _drop_directories(self) -> None:
        """Delete the directories that wait for calls: who would do it if this process were killed
        is gone.
        """
        directories = self._directories
        if directories is not None:
            directories.drop()

    def close(self) -> None:
        """End what is kept; the next call begins anew."""
        self.persistent.close()
        self.forking.close()
        self._zygotes.close()
        directories, self._directories = self._directories, None
        if directories is not None:
            directories.close()


def is_possible() -> bool:
    """Whether this system can: forks without an exec are safe, and processes can be named for
    good.
    """
    return sys.platform == "linux" and hasattr(os, "pidfd_open") and hasattr(os, "memfd_create")


class _Zygote:
    """One zygote and its supervisors. `spoilt` has the keys of those that cannot be forked after
    their imports: one that says so adds its own. `spares` says which supervisors have the next
    call's process ready. What `ended` gives is called at its end, where it is there still.
    """

    def __init__(
        self,
        interpreter: Interpreter,
        key: Hashable,
        spoilt: set[Hashable],
        spares: "_Spares",
        ended: Callable[[], Callable[[], None] | None],
    ) -> None:
        ours, theirs = socket.socketpair()
        # Text streams keep what their descriptor was at first: pipes, as in each call. Nobody reads
        # these.
        reader, writer = os.pipe()
        try:
            self.pid = os.posix_spawn(
                interpreter.argv[0],
                [*interpreter.argv, "-c", BOOT],
                interpreter.env,
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, theirs.fileno(), 0),
                    *((os.POSIX_SPAWN_DUP2, writer, number) for number in (1, 2)),
                ],
                setpgroup=0,
                setsigmask=(),
            )
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
            os.close(reader)
            os.close(writer)
        self.env = {
            (os.fsencode(name), os.fsencode(value)) for name, value in interpreter.env.items()
        }
        self.socket, self.idle, self.leased = ours, [], 0  # type: tuple[socket.socket, list[Lease], int]
        self._key, self._spoilt, self.spares, self._ended = key, spoilt, spares, ended
        self.lock = threading.Lock()
        self.over = threading.Event()
        threading.Thread(target=self._reap, name="vespe-zygote", daemon=True).start()
        message = {
            "supervisor": interpreter.code(SUPERVISOR)[0],
            "enter": interpreter.code(ENTER)[0],
            "scripts": interpreter.code(*interpreter.scripts),
            "preload": [] if key in spoilt else list(interpreter.preload),
            "vespe": os.getpid(),
        }
        with contextlib.suppress(OSError):
            ours.sendall(interpreter.boot(ZYGOTE, message))

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)
        with self.lock:
            idle, self.idle = self.idle, []
            with contextlib.suppress(OSError):
                # it has said why it cannot be forked, and did not end for another reason
                if self.socket.recv(200, socket.MSG_DONTWAIT):
                    self._spoilt.add(self._key)
            self.socket.close()
        self.over.set()
        for lease in idle:
            lease.close()
        if (ended := self._ended()) is not None:
            ended()

    def keep(self, path: str) -> None:
        """Let a temporary directory be deleted by the zygote where this process is killed."""
        file = _in_memory(os.fsencode(path))
        try:
            socket.send_fds(self.socket, [b"d"], [file])
        finally:
            os.close(file)

    def is_usable(self) -> bool:
        """Whether it forks supervisors."""
        return not self.over.is_set()

    def lease(self, *, apart: bool, shared: "Shared | None", kept: str) -> "Lease | None":
        """Return a supervisor that is free, or else a new one; raises OSError where the zygote is
        gone.
        """
        with self.lock:
            found = self._idle_one(apart, shared, kept)
            over = self._let_go(room=found is None)
            is_full = self.leased >= _MAX_SUPERVISORS
            self.leased += found is None and not is_full
        for one in over:
            one.close()
        if found is not None or is_full:
            return found
        ours, theirs = socket.socketpair()
        try:
            socket.send_fds(self.socket, [b"a" if apart else b"s"], [theirs.fileno()])
        except OSError:
            ours.close()
            self.over.wait(_END_S)
            self.over.set()
            raise
        finally:
            theirs.close()
        return Lease(self, ours, apart=apart)

    def _idle_one(self, apart: bool, shared: "Shared | None", kept: str) -> "Lease | None":
        """Return a supervisor that is free: before others the one that has made what is shared, and
        of those the one that has kept this directory, or none.
        """
        fits = [one for one in self.idle if one.apart == apart and one.shared in (shared, None)]
        fits.sort(
            key=lambda one: (one.shared is shared, one.kept == kept, not one.kept)
        )  # what was used last stands last
        found = fits[-1] if fits else None
        if found is not None:
            self.idle.remove(found)
        return found

    def _let_go(self, *, room: bool) -> "list[Lease]":
        """Take away those that have made what is no longer so, and one more of those that have
        made something where there is to be room.
        """
        sharing = [one for one in self.idle if one.shared is not None]
        stale = [one for one in sharing if one.shared is not None and not one.shared.is_valid]
        left = [one for one in sharing if one not in stale]
        is_full = room and self.leased - len(stale) >= _MAX_SUPERVISORS
        surplus = 1 if is_full else max(len(left) - _MAX_SHARING, 0)
        over = [*stale, *left[:surplus]]
        self.idle = [one for one in self.idle if one not in over]
        self.leased -= len(over)
        return over

    def give_back(self, lease: "Lease", *, whole: bool) -> None:
        """Keep a supervisor that has ended its call for the next one; one that has not is left to
        itself.
        """
        with self.lock:
            if whole and self.socket.fileno() >= 0 and self.is_usable():
                self.idle.append(lease)
                return
            self.leased -= 1
        lease.close()

    def abandon(self) -> None:
        """Close our ends alone, in a fork of Vespe."""
        self.socket.close()
        for lease in self.idle:
            lease.close()

    def end(self, farewell_s: float) -> None:
        """Let it end, and its supervisors: those that serve a call once that is over."""
        with contextlib.suppress(OSError):
            self.socket.send(b"x")
        with self.lock:
            idle, self.idle = self.idle, []
            self.socket.close()
        for lease in idle:
            lease.close()

    def wait(self, seconds: float) -> bool:
        """Wait until it is over; False where that takes longer."""
        return self.over.wait(seconds)


class _Spares:
    """Which supervisors make a process for the next call ahead: the two that were used last."""

    def __init__(self) -> None:
        self.forget()
        _ALL_SPARES.add(self)

    def forget(self) -> None:
        """Begin anew in a fork: the supervisors are the parent's, and another thread of it may have
        had the lock.
        """
        self._lock = threading.Lock()
        self._leases: list[Lease] = []
        self._begun: dict[Lease, float] = {}

    def take(self, lease: "Lease") -> bool:
        """Say whether a supervisor is to make one after the call that begins: it is not where
        there are enough, and all are in use, nor where other calls have begun just now and keep the
        rest of the processors busy. There to make one ahead takes time from those, 11 % of that of
        a batch of a Python tool.
        """
        now = time.monotonic()
        with self._lock:
            self._begun.pop(lease, None)
            rivals = sum(now - began < _JUST_NOW_S for began in self._begun.values())
            self._begun[lease] = now
            others = [one for one in self._leases if one is not lease and one.is_open]
            over = None
            if rivals >= max(_processors() - 1, 1):
                self._leases = others
                return False
            if len(others) >= _MAX_SPARES:
                over = next((one for one in others if not one.is_busy), None)
                if over is None:
                    return False
                others.remove(over)
            self._leases = [*others, lease]
        if over is not None:
            over.end_spare()
        return True

    def end(self, lease: "Lease") -> None:
        """Take note that a call is over."""
        with self._lock:
            self._begun.pop(lease, None)


class Lease:
    """A supervisor for one call: given the descriptors and the command, woken, and given back."""

    def __init__(self, zygote: _Zygote, channel: "socket.socket", *, apart: bool) -> None:
        self._zygote, self._channel, self.apart = zygote, channel, apart
        self.shared: Shared | None = None
        self.kept = ""
        self.is_busy = False
        self.group = zygote.pid
        self._pid = 0
        self._pidfd = -1

    @property
    def pid(self) -> int:
        """The supervisor's process, as the zygote has said; 0 while it is not there."""
        if not self._pid:
            with contextlib.suppress(OSError, ValueError):
                self._pid = int(self._channel.recv(16, socket.MSG_DONTWAIT))
                self._pidfd = os.pidfd_open(self._pid)
        return self._pid

    def begin(
        self, descriptors: Sequence[int], command: dict[str, Any], sandbox: "Policy | None"
    ) -> None:
        """Let the call begin; raises OSError where the supervisor is gone."""
        # The zygote has the code of the sandbox, and the environment that calls share.
        held = command["sandbox"] and (None, command["sandbox"][1])
        env = dict(command["env"].items() - self._zygote.env) if command["boot"] else command["env"]
        files: list[int] = []
        self.is_busy = True
        try:
            shared = sandbox.shared if sandbox is not None else None
            if sandbox is not None and shared is not None:
                held = (None, dict(sandbox.of_call))
            files.append(_in_memory(command | {"sandbox": held, "env": env}))
            is_new = shared is not self.shared
            if shared is not None and is_new:
                files.append(_in_memory(dict(shared.message)))
                self.shared = shared
            said = b"p" if is_new else b"c"
            said = said.upper() if command["ask"] >= 0 else said
            spawned = self.apart and _is_spawned(command, shared)
            spare = shared is not None and not spawned and self._zygote.spares.take(self)
            wanted = b"+" if spare else b"-"
            if sandbox is not None and (kept := sandbox.kept_directory):
                wanted = b"k" if spare else b"K"
                if is_new or kept != self.kept:
                    self._zygote.keep(kept)
                    named = (os.fsencode(kept), *(sandbox.lasting or ()))
                    files.append(_in_memory({**sandbox.of_call, "kept": named}))
                    self.kept, wanted = kept, b"n" if spare else b"N"
            how = b"s" if spawned else b"f"
            socket.send_fds(self._channel, [said + wanted + how], [*descriptors, *files])
        finally:
            for file in files:
                os.close(file)

    def wake(self) -> None:
        """Let the supervisor go on where the tool has stopped it."""
        if self.pid and self._pidfd >= 0:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGCONT)

    def kill(self) -> bool:
        """Kill the supervisor where that ends all that it started; False where it does not."""
        if not self.apart or not self.pid or self._pidfd < 0:
            return False
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        return True

    def give_back(self, *, whole: bool) -> None:
        """Say that the call is over; `whole` that its supervisor has said so too."""
        self.is_busy = False
        self._zygote.spares.end(self)
        self._zygote.give_back(self, whole=whole)

    def wait_for_the_end(self) -> None:
        """Wait until a supervisor that was killed is gone, with all that it left."""
        poll = select.poll()
        poll.register(self._channel, select.POLLRDHUP)
        poll.poll(_SWEEP_S * 1000)

    @property
    def is_open(self) -> bool:
        """Whether the supervisor has not been told to end."""
        return self._channel.fileno() >= 0

    def end_spare(self) -> None:
        """Let the process end that the supervisor has made for the next call."""
        with contextlib.suppress(OSError):
            self._channel.send(b"---")

    def close(self) -> None:
        """Let the supervisor end."""
        self._channel.close()
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1


@functools.cache
def _processors() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


_ALL_SPARES: Final = weakref.WeakSet[_Spares]()


def _forget_all() -> None:
    for spares in list(_ALL_SPARES):
        spares.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


def _is_spawned(command: Mapping[str, Any], shared: "Shared | None") -> bool:
    """Whether a supervisor that is apart starts the tool from a thread that is held to the policy,
    without a fork.

    It forks where the tool is a fork of an interpreter, and where the policy has a limit of memory,
    which is a process's and no thread's.
    """
    return shared is not None and not command["boot"] and not shared.message["memory"]


def _in_memory(value: dict[str, Any] | bytes) -> int:
    """Return a file that nobody else sees, with a value as marshal carries it."""
    with contextlib.ExitStack() as stack:
        file = os.memfd_create("command")
        stack.callback(os.close, file)
        data = memoryview(marshal.dumps(value, 4))
        while data:
            data = data[os.write(file, data) :]
        stack.pop_all()
    return file
