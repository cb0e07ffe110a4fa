"""Processes that live from call to call: kept by key, borrowed and returned, and ended when nobody
has used them for long, when they are worn out, with their owner, or at exit.
"""

# One keeper serves three ways of sharing (`Use`), so that idleness, limits, forks and the end are
# dealt with once. What does not work:
# - Ending a process in the thread that returns it: that call would wait for it. The one loop does
#   it, in a thread that lives while there is something to end.
# - Ending processes inside a finalizer: the garbage collector runs it in any thread, also in one
#   that holds the locks that the end needs. So it hands over to a thread.
# - Ending in a fork: the processes are the parent's. The fork closes its copies of the descriptors.

import _thread
import atexit
import contextlib
import math
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Final, Generic, Literal, NamedTuple, Protocol, TypeVar

from vespe import defaults
from vespe.lazy import queue
from vespe.processes.answering import NoAnswer
from vespe.processes.signals import interruptible, uninterruptible
from vespe.records import dataclass

_LOOK_S: Final = 0.05
"""How often a call that waits for its turn looks whether it is cancelled."""
_FAREWELL_S: Final = 0.3
"""How long a process may take to end by itself when its keeper is closed."""
_CLOSE_S: Final = 1.2
"""How long closing waits for what it has ended."""

Use = Literal["exclusive", "serial", "shared"]
"""How calls with the same key share: each has a process that nobody else uses; they use one process
one after another; they use one process at the same time.
"""


class KeptProcess(Protocol):
    """What a keeper keeps. `is_usable`, `wait` and `abandon` do not wait for the process."""

    def is_usable(self) -> bool:
        """Whether it takes another call."""
        ...

    def end(self, farewell_s: float) -> None:
        """End it with all that it started; it may take `farewell_s` to end by itself. The calls
        that it is serving fail.
        """
        ...

    def wait(self, seconds: float) -> bool:
        """Wait until nothing of it is left; False where that takes longer."""
        ...

    def abandon(self) -> None:
        """Close this process's descriptors of it: it belongs to the process that forked this
        one.
        """
        ...


P = TypeVar("P", bound=KeptProcess)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How long a process is kept: for `max_calls`, while it is used at least every `max_idle_s`
    seconds, and while what it is `made_of` stays the same.
    """

    made_of: Hashable = None
    max_calls: int = sys.maxsize
    max_idle_s: float = math.inf


_FOREVER: Final = Terms()


class Closed(Exception):
    """The keeper has been closed for good."""


class Loan(NamedTuple, Generic[P]):
    """A process for one call, and whether it was made for this call."""

    process: P
    is_new: bool


class _Kept(Generic[P]):
    __slots__ = ("calls", "is_kept", "key", "process", "terms", "used", "users")

    def __init__(self, key: Hashable, process: P, terms: Terms) -> None:
        self.key, self.process, self.terms = key, process, terms
        self.users = self.calls = 0
        self.used = 0.0
        self.is_kept = True


class Keeper(Generic[P]):
    """The processes of one owner, for calls from several threads.

    At most `most` are kept beside those in use: past that, the one that was used longest ago ends.
    """

    def __init__(self, *, most: int, use: Use) -> None:
        self._most, self._use = most, use
        self._is_closed = False
        self._begin()
        _ALL.add(self)

    def _begin(self) -> None:
        self._changed = threading.Condition(threading.Lock())
        self._kept: list[_Kept[P]] = []
        """The one that was used last stands last."""
        self._worn: list[P] = []
        self._ending: list[P] = []
        self._bell = queue.SimpleQueue[None]()
        self._looks_at = math.inf
        self._is_tidied = False
        self._given: dict[Hashable, str] = {}
        self._contexts = contextlib.ExitStack()
        self._finalizer = weakref.finalize(self, _let_go, self._kept, self._bell, self._contexts)
        self._finalizer.atexit = False

    @contextlib.contextmanager
    def borrow(
        self,
        key: Hashable,
        make: Callable[[], P],
        *,
        terms: Terms = _FOREVER,
        until: float = math.inf,
        cancel: threading.Event | None = None,
    ) -> Iterator[Loan[P]]:
        """Lend the process of a key for the `with` block; `make` makes one where there is none.

        Raises what `make` raises; Closed; NoAnswer where its turn does not come until a moment of
        `time.monotonic`, or until `cancel` is set.
        """
        with uninterruptible():
            kept, is_new = self._take(key, make, terms, until=until, cancel=cancel)
            try:
                with interruptible():
                    yield Loan(kept.process, is_new)
            finally:
                self._give_back(kept)

    def enter(self, key: Hashable, make: Callable[[], AbstractContextManager[str]]) -> str:
        """Return what the context of a key gave: entered once, and left when this is closed and the
        processes have ended. Raises what entering raises.
        """
        with self._changed:
            if key not in self._given:
                self._given[key] = self._contexts.enter_context(make())
            return self._given[key]

    def close(self, *, for_good: bool = False, is_exit: bool = False) -> None:
        """End all processes and leave the contexts; `for_good` lets nobody borrow any more.

        Calls in shared processes fail; other calls go on, and this waits for them except at exit.
        """
        with self._changed:
            self._is_closed = self._is_closed or for_good
            kept = list(self._kept)
            self._kept.clear()
            for one in kept:
                one.is_kept = False
            is_shared = self._use == "shared"
            self._worn += [one.process for one in kept if is_shared or not one.users]
            if not (is_shared or is_exit) and any(one.users for one in kept):
                self._look_by(0.0)  # also where this wait is interrupted
                self._changed.wait_for(lambda: not any(one.users for one in kept))
            now, self._worn = self._worn, []
            self._ending += now
            ending, self._given, contexts = self._ending, {}, self._contexts.pop_all()
        self._end(now, ending, contexts)

    @staticmethod
    def _end(worn: list[P], ending: list[P], contexts: contextlib.ExitStack) -> None:
        with contexts:
            for process in worn:
                process.end(_FAREWELL_S)
            until = time.monotonic() + _CLOSE_S
            for process in ending:
                process.wait(max(until - time.monotonic(), 0.0))

    def _take(
        self,
        key: Hashable,
        make: Callable[[], P],
        terms: Terms,
        *,
        until: float,
        cancel: threading.Event | None,
    ) -> tuple[_Kept[P], bool]:
        with self._changed:
            while True:
                if self._is_closed:
                    raise Closed
                kept = self._found(key, terms)
                if kept is None or not kept.users or self._use == "shared":
                    break
                self._wait_for_a_turn(until, cancel)
            if is_new := kept is None:
                kept = _Kept(key, make(), terms)
                self._kept.append(kept)
            kept.terms = terms
            kept.users += 1
            kept.calls += 1
            return kept, is_new

    def _found(self, key: Hashable, terms: Terms) -> _Kept[P] | None:
        for kept in reversed(self._kept):
            if kept.key != key:
                continue
            if kept.terms.made_of != terms.made_of or not kept.process.is_usable():
                self._drop(kept)
                return self._found(key, terms)
            if not kept.users or self._use != "exclusive":
                return kept
        return None

    def _wait_for_a_turn(self, until: float, cancel: threading.Event | None) -> None:
        with interruptible():
            self._changed.wait(_LOOK_S)
        if time.monotonic() > until:
            raise NoAnswer("late", b"")
        if cancel is not None and cancel.is_set():
            raise NoAnswer("cancelled", b"")

    def _give_back(self, kept: _Kept[P]) -> None:
        with self._changed:
            kept.users -= 1
            kept.used = time.monotonic()
            if not kept.is_kept:
                self._wear(kept)
            elif kept.calls >= kept.terms.max_calls or not kept.process.is_usable():
                self._drop(kept)
            else:
                self._kept.remove(kept)
                self._kept.append(kept)
                idle = [one for one in self._kept if not one.users]
                for one in idle[: max(len(idle) - self._most, 0)]:
                    self._drop(one)
                self._look_by(kept.used + kept.terms.max_idle_s)
            self._changed.notify_all()

    def _drop(self, kept: _Kept[P]) -> None:
        """Lend a process no more; it ends when nobody uses it."""
        self._kept.remove(kept)
        kept.is_kept = False
        self._wear(kept)

    def _wear(self, kept: _Kept[P]) -> None:
        if not kept.users and not kept.process.wait(0.0):
            self._worn.append(kept.process)
            self._look_by(0.0)

    def _look_by(self, moment: float) -> None:
        """Have the loop look at what is kept by a moment of `time.monotonic`."""
        if moment >= self._looks_at:
            return
        self._looks_at = moment
        if self._is_tidied:
            self._bell.put(None)
        else:
            self._is_tidied = True
            arguments = weakref.ref(self), self._bell
            threading.Thread(target=_tidy, args=arguments, name="vespe-keeper", daemon=True).start()

    def tidy(self) -> float | None:
        """End what is worn out and what nobody has used for long; return how many seconds later to
        look again, or None where nothing is kept that will be due.
        """
        with self._changed:
            now = time.monotonic()
            for kept in [one for one in self._kept if not one.users and _due(one, now) <= now]:
                self._drop(kept)
            worn, self._worn = self._worn, []
            self._ending = [one for one in self._ending if not one.wait(0.0)] + worn
        for process in worn:
            process.end(defaults.GRACE_S)
        with self._changed:
            now = time.monotonic()
            due = (
                0.0 if self._worn else min([_due(one, now) for one in self._kept], default=math.inf)
            )
            self._looks_at, self._is_tidied = due, due < math.inf
            return max(due - now, 0.0) if self._is_tidied else None

    def abandon(self) -> None:
        """Begin anew in a fork: what is kept belongs to the parent."""
        for kept in self._kept:
            kept.process.abandon()
            kept.users = sys.maxsize  # a fork within a call must not end it either
        _OF_THE_PARENT.append(self._contexts)
        self._finalizer.detach()
        self._begin()


def _due(kept: _Kept[P], now: float) -> float:
    return (now if kept.users else kept.used) + kept.terms.max_idle_s


def _tidy(keeper: "weakref.ref[Keeper[P]]", bell: "queue.SimpleQueue[None]") -> None:
    """Be the loop of a keeper, for as long as there is one, and something to end."""
    while (one := keeper()) is not None and (wait := one.tidy()) is not None:
        del one
        with contextlib.suppress(queue.Empty):
            bell.get(timeout=min(wait, threading.TIMEOUT_MAX))


def _let_go(
    kept: "list[_Kept[P]]", bell: "queue.SimpleQueue[None]", contexts: contextlib.ExitStack
) -> None:
    """End what a keeper kept that nobody closed."""
    bell.put(None)
    if kept:
        processes = [one.process for one in kept]
        _thread.start_new_thread(Keeper._end, (processes, processes, contexts))
    else:
        contexts.close()


_ALL: Final = weakref.WeakSet[Keeper[Any]]()
_OF_THE_PARENT: Final[list[contextlib.ExitStack]] = []
"""Contexts that a fork must not leave: they would be left if they were collected."""


def _abandon_all() -> None:
    for keeper in list(_ALL):
        keeper.abandon()


def _close_all() -> None:
    for keeper in list(_ALL):
        keeper.close(is_exit=True)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_all)
atexit.register(_close_all)
