"""The worker processes that run modules: one at a time asks each, those that nobody uses wait, and
end when that takes long.
"""

import json
import marshal
import os
import sys
import threading
import time
from typing import Final

from vespe import defaults
from vespe.errors import InvalidDocument, StorageError
from vespe.files import atomic, locations
from vespe.models import JsonObject
from vespe.processes import child_scripts
from vespe.processes.answering import Answer, AnsweringProcess

_CHILD: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "child.py")
_FLAGS: Final = ("-I", "-B", "-X", "utf8")
_IDLE_S: Final = 60.0
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
        self.used = 0.0

    def ask(
        self, request: JsonObject, *, until: float, cancel: threading.Event | None
    ) -> tuple[JsonObject, Answer]:
        """Have a module run; returns what became of it. Raises as `AnsweringProcess.ask` does."""
        data = marshal.dumps(request)
        answer = self._process.ask(len(data).to_bytes(8, "big") + data, until=until, cancel=cancel)
        head: JsonObject = json.loads(answer.head)
        if head["kind"] != "broken":
            self.knows.add(request["module"])
        return head, answer

    def close(self) -> None:
        """End the process."""
        self._process.end()


class Workers:
    """The workers of this process; safe to share between threads. A process that was forked off
    begins with none.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._pid = os.getpid()
        self._tidied = False

    def take(self) -> Worker:
        """Return a worker that is nobody else's until it is given back: the one used last, or a new
        one.
        """
        with self._lock:
            if self._pid != os.getpid():
                self._idle, self._pid, self._tidied = [], os.getpid(), False
            return self._idle.pop() if self._idle else Worker()

    def give_back(self, worker: Worker) -> None:
        """Keep a worker for the next call; one that has no answer to give is not to be given
        back.
        """
        worker.used = time.monotonic()
        with self._lock:
            keep = len(self._idle) < _MOST_IDLE and len(worker.knows) < _MOST_MODULES
            if keep:
                self._idle.append(worker)
            if keep and not self._tidied:
                self._tidied = True
                threading.Thread(target=self._tidy, name="vespe-wasm", daemon=True).start()
        if not keep:
            worker.close()

    def close(self) -> None:
        """End those that wait."""
        with self._lock:
            ended, self._idle = self._idle, []
        for worker in ended:
            worker.close()

    def _tidy(self) -> None:
        """End what nobody has used for long, until none is left."""
        while True:
            time.sleep(_IDLE_S / 4)
            with self._lock:
                old = [worker for worker in self._idle if worker.used < time.monotonic() - _IDLE_S]
                self._idle = [worker for worker in self._idle if worker not in old]
                self._tidied = bool(self._idle)
                over = not self._tidied
            for worker in old:
                worker.close()
            if over:
                return


def _cache() -> tuple[str, bytes] | None:
    """Return the directory of compiled code and the key that signs it, which is kept elsewhere;
    None where they cannot be had.
    """
    directory, file = (
        os.path.join(locations.user_cache_dir(), "wasm"),
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
