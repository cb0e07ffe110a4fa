"""The files of tasks: one for each, written before its call begins and once more when it has ended.

Only the process that runs a task writes its file. That process holds a lock as long as it lives, so
whoever reads a task that is not over and gets the lock knows that nobody runs it any more. What
does not work is to believe a process number: it comes back. A task whose process died is not run
again; its call may have taken effect.
"""

import contextlib
import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, TypeAlias

from vespe import defaults
from vespe.calls.log import arguments_digest
from vespe.documents import strict_json
from vespe.errors import InvalidDocument, NotFound, StorageError
from vespe.files import atomic, locations
from vespe.files.digests import sha256
from vespe.lazy import pattern, secrets
from vespe.models import Failure, JsonObject, JsonValue, Outcome
from vespe.records import dataclass

VERSION: Final = 1
WORKING, INPUT_REQUIRED = "working", "input_required"
COMPLETED, FAILED, CANCELLED = "completed", "failed", "cancelled"
ENDED: Final = frozenset((COMPLETED, FAILED, CANCELLED))
TTL_MS: Final = 7 * 24 * 3600 * 1000
"""How long a task is kept, from when it was made; one that runs is kept longer."""
MOST: Final = 10_000
"""So many tasks that are over are kept; the oldest go first."""
_ID: Final = pattern(r"[0-9a-f]{32}")
_MAX_BYTES: Final = 4 * defaults.LARGER_CAP_BYTES
_DIED_CODE: Final = -32603
_INTERRUPTED: Final = (
    "interrupted: the process that ran the task has ended; "
    "it is not known whether the call took effect"
)
_SWEEP_S: Final = 600.0
_DEATHS: Final = frozenset(("session_ended", "interrupted"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task. `owner` is whose it is (a digest), `project` the root of the tool's project, and
    `runner` names the lock of the process that runs it.

    `inputs` are the questions that wait for an answer, by key, as MCP says them. When it has ended,
    `outcome` is the Outcome's JSON, or `error` says why there is none: `{"code", "message"}`.
    `result` is what MCP clients are told, where one asked for the task.
    """

    id: str
    owner: str
    project: str
    tool: str
    uid: str | None
    arguments: str
    runner: str
    created_at: str
    updated_at: str
    status: str = WORKING
    message: str = ""
    ttl_ms: int = TTL_MS
    inputs: Mapping[str, JsonObject] = field(default_factory=dict)
    outcome: JsonObject | None = None
    result: JsonObject | None = None
    error: JsonObject | None = None

    @property
    def is_over(self) -> bool:
        """Whether it has ended; then it does not change any more."""
        return self.status in ENDED

    def to_json(self) -> JsonObject:
        """Return the task as its file has it."""
        return {
            "version": VERSION,
            **{name: getattr(self, name) for name in _FIELDS},
            "inputs": dict(self.inputs),
        }


_FIELDS: Final = (
    *("id", "owner", "project", "tool", "uid", "arguments", "runner", "created_at", "updated_at"),
    *("status", "message", "ttl_ms", "outcome", "result", "error"),
)
_STATUSES: Final = frozenset((WORKING, INPUT_REQUIRED)) | ENDED
_OBJECTS: Final = ("outcome", "result", "error")
_TEXTS: Final = (
    *("id", "owner", "project", "tool", "arguments", "runner", "created_at", "updated_at"),
    *("status", "message"),
)


Tasks: TypeAlias = list[Task]
Ages: TypeAlias = list[tuple[float, str]]


class TaskNotFound(NotFound):
    """There is no such task, or it is somebody else's."""

    code = "task_not_found"

    def __init__(self, identifier: str) -> None:
        super().__init__(
            f"there is no task {identifier[:80]!r}",
            hint="`vespe task list` shows the tasks of this project",
            details={"task": identifier[:80]},
        )


def owner_of(project: str, *, token: str | None = None) -> str:
    """Return whose tasks are: of the holder of a token, else of the project's user on this
    machine.
    """
    said = f"token\0{token}" if token else f"project\0{os.path.realpath(project)}\0{os.getuid()}"
    return sha256(said.encode("utf-8", "surrogateescape")).hexdigest()


def ended(task: Task, outcome: Outcome, *, cancelled: bool = False) -> Task:
    """Return a task with what became of its call: completed whatever its tool says, failed where
    its process died, or cancelled, unless the call was done before.
    """
    said, failure = outcome.to_dict(), outcome.error
    if failure is not None and cancelled:
        return replace(task, status=CANCELLED, outcome=said, inputs={})
    if failure is not None and died(failure):
        error: JsonObject = {"code": _DIED_CODE, "message": failure.message}
        return replace(
            task, status=FAILED, message=failure.message, outcome=said, error=error, inputs={}
        )
    return replace(task, status=COMPLETED, outcome=said, inputs={})


def died(failure: Failure) -> bool:
    """Say whether the process of a call died, or was ended from outside, before it had a result."""
    return failure.code in _DEATHS or failure.details.get("signal") is not None


def interrupted(task: Task) -> Task:
    """Return a task that nobody runs any more."""
    error: JsonObject = {"code": _DIED_CODE, "message": _INTERRUPTED}
    return replace(task, status=FAILED, message=_INTERRUPTED, error=error, inputs={})


class _Runner(NamedTuple):
    """The lock by which other processes see that this one lives."""

    name: str
    descriptor: int
    process: int


_OWN: Final[dict[str, _Runner]] = {}
"""This process's own, by the directory of the tasks."""
_LOCK: Final = threading.Lock()


class TaskStore:
    """The tasks of this user. Safe to share between threads, and with other processes."""

    def __init__(self) -> None:
        self._place = os.path.join(locations.user_state_dir(), "tasks")
        self._swept = 0.0
        self.unreadable: list[str] = []
        """The files among them that are no tasks, as far as they were seen."""

    def create(
        self, tool: str, uid: str | None, arguments: JsonValue, *, owner: str, project: str
    ) -> Task:
        """Make a task that this process runs; on return it is on disk. Raises StorageError."""
        self.sweep()
        now = _now()
        task = Task(
            id=secrets.token_hex(16),
            owner=owner,
            project=os.path.realpath(project),
            tool=tool,
            uid=uid,
            arguments=arguments_digest(arguments),
            runner=self._own(),
            created_at=now,
            updated_at=now,
        )
        self._write(task)
        return task

    def update(self, task: Task) -> Task:
        """Write a task that this process runs, as it is now. Raises StorageError."""
        task = replace(task, updated_at=_now())
        self._write(task)
        if task.is_over:
            self._forget_marks(task.id)
        return task

    def read(self, identifier: str, *, owner: str | None = None) -> Task:
        """Return a task; one that was left by its process ends now, as interrupted.

        Raises TaskNotFound, also where it is not the `owner`'s, and InvalidDocument where its file
        is no task's any more.
        """
        task = self._read(identifier)
        if task is None and owner is None and self._is_there(identifier):
            raise InvalidDocument(
                "is not a task file that this version of Vespe can read",
                path=self._path(identifier),
                hint="remove the file; the outcome of the call is unknown",
            )
        if task is None or (owner is not None and not secrets.compare_digest(task.owner, owner)):
            raise TaskNotFound(identifier)
        return task if task.is_over else self._looked_after(task)

    def list(self, *, project: str | None = None) -> list[Task]:
        """Return the tasks of a project, or all, the oldest first."""
        return [*self.recent(project=project)[0]]

    def recent(
        self, *, project: str | None = None, limit: int | None = None
    ) -> tuple[Sequence[Task], bool]:
        """Return the tasks of a project, or all, that changed last, the oldest first, and whether
        there are more of them: with a limit no more files are read than it takes.
        """
        root = None if project is None else os.path.realpath(project)
        found: Tasks = []
        for _, identifier in reversed(self._aged()):
            task = self._read(identifier)
            if task is None and self._is_there(identifier):
                self.unreadable.append(self._path(identifier))
            if task is None or root not in (None, task.project):
                continue
            if len(found) == limit:
                return _by_age(found), True
            found.append(task if task.is_over else self._looked_after(task))
        return _by_age(found), False

    def cancel(self, task: Task) -> None:
        """Ask the process that runs a task to end its call."""
        if not task.is_over:
            atomic.write_atomic(self._mark(task.id, "cancel"), b"", mode=0o600, durable=False)

    def is_cancelled(self, identifier: str) -> bool:
        """Whether somebody asked for its end."""
        return os.path.lexists(self._mark(identifier, "cancel"))

    def answer(self, task: Task, key: str, reply: JsonObject) -> None:
        """Answer a question of a task; what nobody asked is dropped."""
        if key in task.inputs:
            data = strict_json.compact_bytes(reply)
            atomic.write_atomic(self._answer_mark(task.id, key), data, mode=0o600, durable=False)

    def reply_to(self, identifier: str, key: str) -> JsonObject | None:
        """Return the answer to a question; None where there is none yet."""
        try:
            return strict_json.read_object(self._answer_mark(identifier, key))
        except (StorageError, InvalidDocument):
            return None

    def forget_reply(self, identifier: str, key: str) -> None:
        """Forget an answer, once the task no longer has its question: until then clients are not
        asked again.
        """
        with contextlib.suppress(OSError):
            os.unlink(self._answer_mark(identifier, key))

    def has_reply(self, identifier: str, key: str) -> bool:
        """Whether a question was answered, though the task has it still."""
        return os.path.lexists(self._answer_mark(identifier, key))

    def wait(self, identifier: str, *, seconds: float | None, look: Callable[[], object]) -> Task:
        """Return a task when it is over, or after so many seconds; `look` is called meanwhile."""
        deadline = None if seconds is None else time.monotonic() + seconds
        task = self.read(identifier)
        while not task.is_over and (deadline is None or time.monotonic() < deadline):
            look()
            time.sleep(0.1)
            task = self.read(identifier)
        return task

    def sweep(self) -> None:
        """Remove tasks that are over and old or too many, now and then."""
        if time.monotonic() < self._swept:
            return
        self._swept = time.monotonic() + _SWEEP_S
        aged = self._aged()
        old = time.time() - TTL_MS / 1000
        for place, (written, identifier) in enumerate(aged):
            if written < old or place < len(aged) - MOST:
                # A file that cannot be read stays: it may be a newer Vespe's, which sweeps it.
                with contextlib.suppress(NotFound, InvalidDocument, StorageError, OSError):
                    if self.read(identifier).is_over:
                        os.unlink(self._path(identifier))
                        self._forget_marks(identifier)

    def close(self) -> None:
        """Let go of this process's lock: the tasks that it has not ended are interrupted."""
        with _LOCK:
            own = _OWN.pop(self._place, None)
            if own is not None:
                with contextlib.suppress(OSError):
                    os.unlink(self._runner_path(own.name))
                os.close(own.descriptor)

    # files

    def _aged(self) -> Sequence[tuple[float, str]]:
        """Return when each task was written last, and its id, in that order."""
        aged: Ages = []
        for identifier in self._ids():
            with contextlib.suppress(OSError):
                aged.append((os.stat(self._path(identifier)).st_mtime, identifier))
        return sorted(aged)

    def _ids(self) -> Iterator[str]:
        with contextlib.suppress(OSError):
            yield from (
                name.removesuffix(".json")
                for name in os.listdir(self._place)
                if name.endswith(".json") and _ID.fullmatch(name.removesuffix(".json"))
            )

    def _path(self, identifier: str) -> str:
        return os.path.join(self._place, f"{identifier}.json")

    def _mark(self, identifier: str, kind: str) -> str:
        return os.path.join(self._place, f"{identifier}.{kind}")

    def _answer_mark(self, identifier: str, key: str) -> str:
        told = sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        return self._mark(identifier, f"answer-{told}")

    def _forget_marks(self, identifier: str) -> None:
        with contextlib.suppress(OSError):
            for name in os.listdir(self._place):
                if name.startswith(f"{identifier}.") and not name.endswith(".json"):
                    with contextlib.suppress(OSError):
                        os.unlink(os.path.join(self._place, name))

    def _write(self, task: Task) -> None:
        data = strict_json.compact_bytes(task.to_json()) + b"\n"
        atomic.private_directory(self._place)
        atomic.write_atomic(self._path(task.id), data, mode=0o600)

    def _is_there(self, identifier: str) -> bool:
        return bool(_ID.fullmatch(identifier)) and os.path.lexists(self._path(identifier))

    def _read(self, identifier: str) -> Task | None:
        if not _ID.fullmatch(identifier):
            return None
        try:
            data = atomic.read_bytes(self._path(identifier), limit=_MAX_BYTES)
            document = strict_json.parse_object(data, limit=_MAX_BYTES)
        except (StorageError, InvalidDocument):
            return None
        return _task_of(document, identifier)

    # the lock of the process that runs tasks

    def _runner_path(self, name: str) -> str:
        return os.path.join(self._place, f"{name}.runner")

    def _own(self) -> str:
        with _LOCK:
            own = _OWN.get(self._place)
            if own is None or own.process != os.getpid():
                atomic.private_directory(self._place)
                name = secrets.token_hex(16)
                path = self._runner_path(name)
                with atomic.translated("make", path):
                    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
                    descriptor = os.open(path, flags, 0o600)
                    # Not flock: a fork would hold that too.
                    fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                own = _OWN[self._place] = _Runner(name, descriptor, os.getpid())
            return own.name

    def _looked_after(self, task: Task) -> Task:
        """Return a task that is not over as it is, or as interrupted where its process died."""
        own = _OWN.get(self._place)
        if own is not None and own.name == task.runner and own.process == os.getpid():
            return task  # to open the lock's file and close it again would let go of the lock
        path = self._runner_path(task.runner)
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            return self._left(task)
        except OSError:
            return task
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return self._left(task)
        except OSError:  # it lives
            return task
        finally:
            os.close(descriptor)

    def _left(self, task: Task) -> Task:
        """Write that a task was left; what its process wrote at its end counts."""
        now = self._read(task.id)
        if now is None or now.is_over:
            return now or task
        task = replace(interrupted(now), updated_at=_now())
        with contextlib.suppress(StorageError):
            self._write(task)
            self._forget_marks(task.id)
        return task


def _task_of(document: JsonObject, identifier: str) -> Task | None:
    inputs: Any = document.get("inputs", {})
    if (
        document.get("version") != VERSION
        or document.get("id") != identifier
        or not all(isinstance(document.get(name), str) for name in _TEXTS)
        or document["status"] not in _STATUSES
        or not isinstance(document.get("ttl_ms"), int)
        or not isinstance(inputs, dict)
        or not all(isinstance(document.get(name), dict | None) for name in _OBJECTS)
        or not isinstance(document.get("uid"), str | None)
    ):
        return None
    if not _ID.fullmatch(document["runner"]):
        return None
    values: dict[str, Any] = {name: document.get(name) for name in _FIELDS}
    return Task(**values, inputs=inputs)


def _by_age(newest_first: Tasks) -> Tasks:
    oldest_first = list(reversed(newest_first))  # those of one moment keep their order
    return sorted(oldest_first, key=lambda task: task.created_at)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
