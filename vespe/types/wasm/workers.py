"""The worker processes that run modules: each runs one at a time, for whoever has borrowed it."""

import json
import marshal
import os
import sys
import threading
from contextlib import AbstractContextManager
from typing import Final

from vespe import defaults
from vespe.errors import InvalidDocument, StorageError
from vespe.files import atomic, locations
from vespe.models import JsonObject
from vespe.processes import child_scripts
from vespe.processes.answering import AnsweringProcess, ProcessAnswer
from vespe.processes.keeper import Keeper, Loan, Terms

_CHILD: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "child.py")
_FLAGS: Final = ("-I", "-B", "-X", "utf8")
_TERMS: Final = Terms(max_idle_s=60.0)
_MOST_IDLE: Final = 4
_MOST_MODULES: Final = 64
"""A worker that has so many modules compiled is replaced by the next call's."""
_KEY_BYTES: Final = 32


class Worker:
    """A process with modules in it; `knows` are their digests."""

    def __init__(self) -> None:
        message = {"cache": (cache := _cache()) and cache[0], "key": cache[1] if cache else b""}
        argv = (sys.executable, *_FLAGS, "-c", child_scripts.BOOT)
        self._process = AnsweringProcess(
            argv, cwd="/", env={}, first=child_scripts.boot_message(_CHILD, message)
        )
        self.knows: set[str] = set()
        self._runs = True

    def ask(
        self, request: JsonObject, *, until: float, cancel: threading.Event | None
    ) -> tuple[JsonObject, ProcessAnswer]:
        """Have a module run; returns what became of it. Raises as `AnsweringProcess.ask` does."""
        data = marshal.dumps(request)
        answer = self._process.ask(len(data).to_bytes(8, "big") + data, until=until, cancel=cancel)
        head: JsonObject = json.loads(answer.head)
        self._runs = head["kind"] != "missing"
        if head["kind"] != "broken":
            self.knows.add(request["module"])
        return head, answer

    def is_usable(self) -> bool:
        """Whether it runs another module: not where it has too many, or cannot run any."""
        return self._runs and len(self.knows) < _MOST_MODULES and self._process.is_usable()

    def end(self, farewell_s: float = 0.0) -> None:
        """End the process."""
        self._process.end(farewell_s)

    def wait(self, seconds: float) -> bool:
        """Wait until nothing of it is left; False where that takes longer."""
        return self._process.wait(seconds)

    def abandon(self) -> None:
        """Leave the process to the parent of this one, which is a fork."""
        self._process.abandon()


WORKERS: Final = Keeper[Worker](most=_MOST_IDLE, use="exclusive")
"""The workers of this process."""


def borrow() -> AbstractContextManager[Loan[Worker]]:
    """Lend a worker that is nobody else's: the one used last, or a new one."""
    return WORKERS.borrow("worker", Worker, terms=_TERMS)


def _cache() -> tuple[str, bytes] | None:
    """Return the directory of compiled code and the key that signs it, which is kept elsewhere;
    None where they cannot be had.
    """
    directory, file = (
        f"{locations.user_cache_dir()}/wasm",
        os.path.join(locations.user_state_dir(), "wasm.key"),
    )
    try:
        atomic.private_directory(directory)
        if not os.path.lexists(file):
            atomic.private_directory(os.path.dirname(file))
            atomic.write_atomic(file, os.urandom(_KEY_BYTES), mode=0o600)
        key = atomic.read_bytes(file, limit=defaults.MAX_FILE_BYTES)
    except (InvalidDocument, StorageError, OSError):
        return None
    return (directory, key) if len(key) == _KEY_BYTES else None
