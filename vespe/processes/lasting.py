"""Processes that keep what a tool keeps: one for each tool that asks for it, one call at a time,
until one of its terms is over.
"""

import threading
import time
from collections.abc import Callable, Hashable
from typing import Final

from vespe.processes.answering import Answer, AnsweringProcess, NoAnswer
from vespe.processes.kept_contexts import KeptContexts
from vespe.records import dataclass

_LOOK_S: Final = 0.05
_MOST: Final = 16
"""Past so many, the one that was asked longest ago ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How long a process is kept: for `max_calls`, while somebody asks it within `max_idle_s`, and
    while what it is `made_of` stays.
    """

    made_of: Hashable
    max_calls: int
    max_idle_s: float


class Lasting:
    """The processes of one owner, for calls from several threads; `close` ends them, and then
    leaves their `contexts`.
    """

    def __init__(self) -> None:
        self.contexts = KeptContexts()
        self._lock = threading.Lock()
        self._kept: dict[Hashable, _Kept] = {}
        self._tidied = False

    def ask(
        self,
        key: Hashable,
        make: Callable[[], AnsweringProcess],
        *,
        terms: Terms,
        request: bytes,
        until: float,
        cancel: threading.Event | None,
    ) -> Answer:
        """Have the process of a key answer, made where there is none; calls of one key wait for
        each other.

        Raises as `AnsweringProcess.ask` does.
        """
        kept = self._of(key, terms)
        while not kept.lock.acquire(timeout=_LOOK_S):
            if time.monotonic() > until:
                raise NoAnswer("late", b"")
            if cancel is not None and cancel.is_set():
                raise NoAnswer("cancelled", b"")
        answered = False
        try:
            if kept.process is None:
                kept.process, kept.calls = make(), 0
            kept.calls += 1
            answer = kept.process.ask(request, until=until, cancel=cancel)
            answered = True
            return answer
        finally:
            kept.used = time.monotonic()
            if not answered:
                kept.process = None  # it is gone
            elif kept.calls >= terms.max_calls:
                kept.end()
            kept.lock.release()

    def _of(self, key: Hashable, terms: Terms) -> "_Kept":
        with self._lock:
            kept = self._kept.pop(key, None)
            over = [kept] if kept is not None and kept.terms.made_of != terms.made_of else []
            if kept is None or over:
                kept = _Kept(terms)
            over += [self._kept.pop(next(iter(self._kept)))] if len(self._kept) >= _MOST else []
            self._kept[key] = kept
            if not self._tidied:
                self._tidied = True
                threading.Thread(target=self._tidy, name="vespe-lasting", daemon=True).start()
        for one in over:
            threading.Thread(target=one.end_when_free, name="vespe-lasting", daemon=True).start()
        return kept

    def _tidy(self) -> None:
        """End what nobody has asked for long, until none is left."""
        while True:
            time.sleep(
                min([one.terms.max_idle_s for one in list(self._kept.values())], default=1.0) / 4
            )
            with self._lock:
                now = time.monotonic()
                old = {
                    key: one
                    for key, one in self._kept.items()
                    if one.used < now - one.terms.max_idle_s and not one.lock.locked()
                }
                for key in old:
                    del self._kept[key]
                self._tidied = over = bool(self._kept)
            for one in old.values():
                one.end_when_free()
            if not over:
                return

    def close(self) -> None:
        """End them all; one that answers just now, after that."""
        with self._lock:
            kept, self._kept = list(self._kept.values()), {}
        for one in kept:
            one.end_when_free()
        self.contexts.close()


class _Kept:
    def __init__(self, terms: Terms) -> None:
        self.terms, self.lock = terms, threading.Lock()
        self.process: AnsweringProcess | None = None
        self.calls, self.used = 0, time.monotonic()

    def end(self) -> None:
        process, self.process = self.process, None
        if process is not None:
            process.end()

    def end_when_free(self) -> None:
        with self.lock:
            self.end()
