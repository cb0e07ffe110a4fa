"""The processes that run programs: monty's workers, each started inside Vespe's sandbox, and ended
where a program should not go on.

Why a launcher: monty's pool starts the program that it is given, so it is given one that enters the
sandbox and then becomes monty. Why a watch: while a worker computes, the thread that waits for it
cannot be interrupted, not even by Ctrl-C. So another thread looks, and ends the worker.
"""

import atexit
import contextlib
import marshal
import os
import signal
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

from vespe import defaults
from vespe.calls.in_process import Pause
from vespe.calls.sandboxing import isolating
from vespe.errors import Interrupted, MissingExtra, OutputTooLarge, ProgramFailed, TimedOut
from vespe.files.private_copy import private_directory
from vespe.lazy import pydantic_monty, shlex
from vespe.processes.supervised_tree import entering
from vespe.records import dataclass

T = TypeVar("T")
MEMORY_BYTES: Final = 64 * 1024 * 1024
"""What a program may use of memory."""
_PROCESS_MB: Final = 1024
"""What its process may, which checks types too."""
_MOST: Final = 32
PRINTED: Final = "printed too much"
LONGER: Final = "raise the time limit with --timeout (`timeout_s` in Python), or split the program"
_POLL_S: Final = 0.05
_IDLE_S: Final = 5.0
_ENDING: Final = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
_LAUNCH: Final = """\
import marshal, os, sys
with open(sys.argv[1], "rb") as file:
    code, policy, program, prefix = marshal.load(file)
os.setsid()
os.closerange(3, 65536)
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
os.chdir(os.path.dirname(sys.argv[1]))
if code is not None:
    space = {"__name__": "vespe_sandbox"}
    exec(code, space)
    space["enter"](policy)
argv = [*prefix, program, *map(os.fsencode, sys.argv[2:])]
os.execve(argv[0], argv, {b"PATH": b"/usr/bin:/bin", b"LANG": b"C.UTF-8"})
"""


class Watched:
    """A program on its way in a worker: why it was ended, how long it `waited` for persons, and
    until when it may go on, later by that.
    """

    def __init__(self, pid: int, cancel: threading.Event | None, timeout_s: float) -> None:
        self.pid, self.timeout_s, self._cancel = pid, timeout_s, cancel
        self.waited = Pause()
        self._until = time.monotonic() + timeout_s
        self.reason = ""

    @property
    def until(self) -> float:
        """Until when it may go on, as `time.monotonic` has it."""
        return self._until + self.waited.seconds

    def why(self, *, signalled: bool) -> str:
        """Say why it is to end now, or ""."""
        if signalled or (self._cancel is not None and self._cancel.is_set()):
            return "cancelled"
        return "timed out" if time.monotonic() >= self.until else ""


class _Watch:
    """The thread that ends workers; it lives as long as there are programs, and a moment longer."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._programs: set[Watched] = set()
        self._is_alive = False
        self._pipe: tuple[int, int] | None = None
        self._heard: set[Watched] = set()

    @contextlib.contextmanager
    def over(self, program: Watched) -> Iterator[None]:
        """Watch a program, and the signals of this process where it runs in its main thread."""
        restored = self._listen(program)
        with self._lock:
            self._programs.add(program)
            starts, self._is_alive = not self._is_alive, True
        if starts:
            threading.Thread(target=self._look, name="vespe-programs", daemon=True).start()
        try:
            yield
        finally:
            with self._lock:  # past this nothing of it is ended: its worker is another's
                self._programs.discard(program)
                self._heard.discard(program)
            restored()

    def _listen(self, program: Watched) -> Callable[[], object]:
        if threading.current_thread() is not threading.main_thread():
            return lambda: None
        if self._pipe is None:
            self._pipe = os.pipe()
            for descriptor in self._pipe:
                os.set_blocking(descriptor, False)
        old = signal.set_wakeup_fd(self._pipe[1], warn_on_full_buffer=False)
        if old not in (-1, self._pipe[1]):  # a loop's, which hears of signals itself
            signal.set_wakeup_fd(old)
            return lambda: None
        with self._lock:
            self._heard.add(program)
        return lambda: signal.set_wakeup_fd(old)

    def _signalled(self) -> bool:
        if self._pipe is None:
            return False
        with contextlib.suppress(BlockingIOError):
            return not _ENDING.isdisjoint(os.read(self._pipe[0], 512))
        return False

    def _look(self) -> None:
        idle_until = time.monotonic() + _IDLE_S
        while True:
            with self._lock:
                signalled = self._signalled()
                for program in self._programs:
                    end(program, program.why(signalled=signalled and program in self._heard))
                if self._programs:
                    idle_until = time.monotonic() + _IDLE_S
                elif time.monotonic() >= idle_until:
                    self._is_alive = False
                    return
            time.sleep(_POLL_S)  # to be woken by each program would take a third of a short one


def end(program: Watched, why: str) -> None:
    """End a program's worker, where there is a reason."""
    if why and not program.reason:
        program.reason = why
        with contextlib.suppress(ProcessLookupError):
            os.kill(program.pid, signal.SIGKILL)


_watch = _Watch()
_pools: "dict[tuple[int, str], _Pool]" = {}
_began: list[int] = []
"""The process in which monty was first used: its threads are not in one that is forked off, where
it would wait for ever.
"""
_lock = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSession:
    """A worker that is this program's alone. `turn` has it go on, whatever that takes."""

    inner: "pydantic_monty.MontySession"
    watched: Watched

    def turn(self, work: Callable[[], T]) -> T:
        """Have the worker go on. Raises what the program raises, and where the worker ended
        ProgramFailed, TimedOut or Interrupted.
        """
        try:
            return work()
        except pydantic_monty.MontyCrashedError as error:
            raise self._ended(error) from None

    def _ended(self, error: Exception) -> Exception:
        if self.watched.reason == "cancelled":
            return Interrupted("the program was cancelled and has been ended")
        if self.watched.reason == "timed out":
            return TimedOut("the program", seconds=self.watched.timeout_s, hint=LONGER)
        if self.watched.reason == PRINTED:
            return OutputTooLarge(
                f"the program printed more than {defaults.MAX_OUTPUT_BYTES:,} bytes and was ended"
            )
        return ProgramFailed(
            "the process that ran the program ended: it may have needed too much memory",
            details={"said": str(error)[:200]},
        )


@contextlib.contextmanager
def session(
    setting: str, *, cancel: threading.Event | None = None, timeout_s: float, **options: Any
) -> Iterator[WorkerSession]:
    """Take a worker for one program, or for one check; `options` are those of monty's checkout.

    `setting` is the user's `sandbox`. Raises MissingExtra, ProgramFailed where no worker starts,
    and Refused where a sandbox is required and there is none.
    """
    pool = _pool(setting)
    try:
        opened = pool.inner.checkout(**options)
        inner = opened.__enter__()
    except (OSError, RuntimeError, TimeoutError, pydantic_monty.MontyError) as error:
        _forget(pool)
        raise ProgramFailed(
            f"the process that runs programs did not start: {error}",
            hint="run `vespe doctor`, which tests the sandbox that the process runs in",
        ) from None
    watched = Watched(inner.worker_pid or 0, cancel, timeout_s)
    try:
        with _watch.over(watched):
            yield WorkerSession(inner=inner, watched=watched)
    finally:
        opened.__exit__(None, None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pool:
    inner: "pydantic_monty.Monty"
    key: tuple[int, str]
    held: contextlib.ExitStack


def _pool(setting: str) -> _Pool:
    """Return this process's workers under a setting; raises ProgramFailed where it was forked off
    one that has some.
    """
    key = os.getpid(), setting
    if _began and _began[0] != key[0]:
        raise ProgramFailed(
            "this process was forked from one that has run programs, and cannot run any",
            hint='start it anew (multiprocessing: "spawn"), or fork before the first program',
        )
    with _lock:
        if key not in _pools:
            _pools[key] = _opened(key, setting)
        return _pools[key]


def require() -> None:
    """Raise MissingExtra where monty is not here."""
    try:
        pydantic_monty.Monty  # noqa: B018  # reading it imports the module
    except ImportError as error:
        raise MissingExtra(
            "running programs", extra="code", module=error.name or "pydantic_monty"
        ) from None


def _opened(key: tuple[int, str], setting: str) -> _Pool:
    require()
    _began[:] = [key[0]]
    with contextlib.ExitStack() as held:
        directory = held.enter_context(private_directory())
        pool = pydantic_monty.Monty(
            binary_path=_launcher(directory, setting),
            min_processes=0,
            max_processes=_MOST,
            checkout_timeout=60.0,
        )
        held.enter_context(pool)
        return _Pool(inner=pool, key=key, held=held.pop_all())


def _forget(pool: _Pool) -> None:
    with _lock:
        if _pools.get(pool.key) is pool:
            del _pools[pool.key]
    with contextlib.suppress(Exception):
        pool.held.close()


def _launcher(directory: str, setting: str) -> str:
    """Write what starts a worker inside the sandbox, and return its path."""
    program = _binary()
    policy = isolating(program, scratch=directory, setting=setting, memory_mb=_PROCESS_MB)
    held = entering(policy) if policy is not None else None
    prefix = policy.prefix if policy is not None else ()
    message = f"{directory}/worker"
    with open(message, "xb") as file:
        code, entered = held or (None, None)
        words = tuple(map(os.fsencode, prefix))
        carried: Any = (code, entered, os.fsencode(program), words)
        marshal.dump(carried, file)
    path = f"{directory}/monty"
    with open(path, "x", encoding="utf-8") as script:
        script.write(
            f"#!/bin/sh\nexec {shlex.quote(sys.executable)} -I -S -B -c {shlex.quote(_LAUNCH)} "
            f'{shlex.quote(message)} "$@"\n'
        )
    os.chmod(path, 0o700)
    return path


def _binary() -> str:
    """Return the path of monty's own program, which its package installs beside this interpreter,
    whatever PATH says.
    """
    for scheme in (sysconfig.get_default_scheme(), f"{os.name}_user"):
        path = os.path.join(sysconfig.get_path("scripts", scheme), "monty")
        if os.access(path, os.X_OK):
            return os.path.realpath(path)
    raise MissingExtra("running programs", extra="code", module="pydantic_monty_runtime")


@atexit.register
def _close_all() -> None:
    pid = os.getpid()
    for pool in [pool for (owner, _), pool in _pools.items() if owner == pid]:
        _forget(pool)
