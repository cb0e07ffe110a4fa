"""Calls that are answered with a task (SEP-2663): the tool's own configuration says which.

The call runs as every other one does. What differs is its caller: instead of the client's request,
the answer reaches the task's file, where `tasks/get` finds it. Questions of the tool wait there for
`tasks/update`.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final, Protocol

from vespe import features
from vespe.calls.asking import Asker, PersonReply, ToolQuestion
from vespe.errors import Interrupted, StorageError, VespeError
from vespe.features.mcp.server import messages, revisions
from vespe.features.mcp.server.messages import INVALID_PARAMS, ProtocolError, RequestId
from vespe.features.mcp.server.protocol import PendingCall
from vespe.models import JsonObject, JsonValue, Outcome

ALWAYS: Final = "always"
_POLL_MS: Final = 1000
_LOOK_S: Final = 0.1
_STATUS: Final = ("completed", "failed", "cancelled")
_MISSING_DATA: Final[JsonObject] = {"requiredCapabilities": {"extensions": {revisions.TASKS: {}}}}
_GONE: Final = "there is no such task"


class Caller(Protocol):
    """Who asked for a call: `calls_in_flight.Caller`."""

    def tell(self, message: JsonObject) -> None:
        """Take a notification."""
        ...

    def finish(self, answer: JsonObject) -> None:
        """Take the answer."""
        ...


def calls_of(tools: object) -> "TaskCalls | None":
    """Return the tasks of what is served; None where there are none."""
    found = getattr(tools, "task_calls", None)
    return found if isinstance(found, TaskCalls) else None


def missing_capability(identifier: RequestId) -> JsonObject:
    """Return the error for a client that does not know tasks."""
    return messages.failed(
        identifier,
        messages.MISSING_CAPABILITY,
        f"the client must declare the extension {revisions.TASKS}",
        data=_MISSING_DATA,
    )


class TaskCalls:
    """The tasks of one server; they belong to the project's user, or to the holder of its token.

    `wish` returns what a tool says of tasks.
    """

    def __init__(self, project: str, wish: Callable[[str], JsonValue]) -> None:
        self.wish = wish
        self._tasks: Any = features.load("tasks", "store")
        self.store: Any = self._tasks.TaskStore()
        self._project, self._owner = project, self._tasks.owner_of(project)
        self._running: dict[str, RunningTask] = {}

    def bind(self, token: str | None) -> None:
        """Let the tasks belong to whoever has the token."""
        self._owner = self._tasks.owner_of(self._project, token=token)

    def close(self) -> None:
        """End as a server does: what still runs is interrupted."""
        for running in list(self._running.values()):
            running.leave()

    def create(self, pending: PendingCall) -> "RunningTask":
        """Make the task of a call; raises StorageError."""
        task = self.store.create(
            pending.name, None, pending.arguments, owner=self._owner, project=self._project
        )
        running = RunningTask(self, task)
        self._running[task.id] = running
        return running

    def forget(self, identifier: str) -> None:
        """A task is over."""
        self._running.pop(identifier, None)

    def look(self) -> None:
        """End the calls of the tasks that somebody cancelled."""
        for running in list(self._running.values()):
            if self.store.is_cancelled(running.task.id):
                running.cancel()

    # requests

    def get(self, params: JsonObject) -> JsonObject:
        """Answer `tasks/get`; raises ProtocolError for a task that is not there, or not one of this
        client's.
        """
        return self.detailed(self._task(params))

    def update(self, params: JsonObject) -> JsonObject:
        """Answer `tasks/update`: hand answers on to the task's call."""
        task, given = self._task(params), params.get("inputResponses")
        if not isinstance(given, dict) or not all(isinstance(one, dict) for one in given.values()):
            raise ProtocolError(INVALID_PARAMS, "inputResponses must be an object of objects")
        for key, reply in given.items():
            self.store.answer(task, key, reply)
        return {}

    def cancel(self, params: JsonObject) -> JsonObject:
        """Answer `tasks/cancel`; a task that is over stays as it is."""
        task = self._task(params)
        self.store.cancel(task)
        if (running := self._running.get(task.id)) is not None:
            running.cancel()
        return {}

    def known(self, identifiers: JsonValue) -> list[JsonValue]:
        """Return those of some ids that are tasks of this client."""
        found: list[JsonValue] = []
        for identifier in identifiers if isinstance(identifiers, list) else ():
            try:
                self._task({"taskId": identifier})
            except ProtocolError:
                continue
            found.append(identifier)
        return found

    def news(self, identifiers: JsonValue, told: dict[str, str]) -> Iterator[JsonObject]:
        """Return the tasks that changed since they were `told`, which is kept up."""
        for identifier in identifiers if isinstance(identifiers, list) else ():
            try:
                task = self._task({"taskId": identifier})
            except ProtocolError:
                continue
            if told.get(task.id) != task.updated_at:
                told[task.id] = task.updated_at
                yield self.detailed(task)

    def _task(self, params: JsonObject) -> Any:
        identifier = params.get("taskId")
        if not isinstance(identifier, str):
            raise ProtocolError(INVALID_PARAMS, "taskId must be a string")
        try:
            return self.store.read(identifier, owner=self._owner)
        except VespeError:
            raise ProtocolError(INVALID_PARAMS, _GONE) from None

    def detailed(self, task: Any) -> JsonObject:
        """Return a task as clients are told of it, with its result, error or questions."""
        said = created(task)
        if task.status == "completed":
            said["result"] = task.result or {"content": []}
        elif task.status == "failed":
            said["error"] = task.error
        elif task.status == "input_required":
            said["inputRequests"] = {
                key: asked
                for key, asked in task.inputs.items()
                if not self.store.has_reply(task.id, key)
            }
        return said


def created(task: Any) -> JsonObject:
    """Return the task itself as clients are told of it."""
    message = {"statusMessage": task.message} if task.message else {}
    return {
        "taskId": task.id,
        "status": task.status,
        **message,
        "createdAt": task.created_at,
        "lastUpdatedAt": task.updated_at,
        "ttlMs": task.ttl_ms,
        "pollIntervalMs": _POLL_MS,
    }


class RunningTask:
    """A task whose call this process runs: the caller of that call. `end` ends the call."""

    def __init__(self, calls: TaskCalls, task: Any) -> None:
        self.task = task
        self._ends: threading.Event | None = None
        self._calls, self._lock = calls, threading.Lock()
        self._outcome: Outcome | None = None
        self._is_cancelled = False
        self._keys: set[str] = set()

    @property
    def asker(self) -> Asker:
        """What asks the user while the task waits."""
        return self.ask

    def tell(self, message: JsonObject) -> None:
        """Drop a notification: the request that it belonged to is answered."""

    def hear(self, outcome: Outcome) -> None:
        """Take what became of the call, before its answer is made."""
        self._outcome = outcome

    def finish(self, answer: JsonObject) -> None:
        """Write down the answer of the call."""
        outcome, store = self._outcome, features.load("tasks", "store")
        with self._lock:
            if self.task.is_over:
                return
            if outcome is not None:
                ended = store.ended(self.task, outcome, cancelled=self._is_cancelled)
                self.task = replace(ended, result=_plain(answer.get("result")))
            else:
                error = answer.get("error") or {"code": messages.INTERNAL_ERROR, "message": "lost"}
                self.task = replace(
                    self.task,
                    status="cancelled" if self._is_cancelled else "failed",
                    message=str(error.get("message", "")),
                    error={key: error[key] for key in ("code", "message", "data") if key in error},
                )
            self._write()

    def leave(self) -> None:
        """Write down that nobody waits for the call any more: the server ends."""
        store = features.load("tasks", "store")
        with self._lock:
            if not self.task.is_over:
                self.task = store.interrupted(self.task)
                self._write()

    def cancel(self) -> None:
        """End the call; its task is cancelled unless it is done already."""
        self._is_cancelled = True
        if self._ends is not None:
            self._ends.set()

    def ends(self, event: threading.Event) -> None:
        """Take what ends the call."""
        self._ends = event
        if self._is_cancelled:
            event.set()

    def ask(self, question: ToolQuestion) -> PersonReply:
        """Let the task wait for an answer to a question of its tool."""
        asked: JsonObject = {
            "method": "elicitation/create",
            "params": {
                "mode": "form",
                "message": f"{question.problem}\n{question.text}".strip(),
                "requestedSchema": question.schema,
            },
        }
        key = self._new_key(question.key)
        self._put({key: asked})
        try:
            while not question.over.wait(_LOOK_S):
                reply = self._calls.store.reply_to(self.task.id, key)
                if reply is not None:
                    content = reply.get("content")
                    action = reply.get("action")
                    return PersonReply(
                        action=action if action in ("accept", "decline") else "cancel",
                        content=content if isinstance(content, dict) else {},
                    )
        finally:
            self._put({}, without=key)
            self._calls.store.forget_reply(self.task.id, key)
        raise Interrupted("the call no longer waits for an answer")

    def _new_key(self, wanted: str) -> str:
        """Return a key that no question of the task has had: a client that has answered one of them
        passes over what comes with its key (SEP-2663).
        """
        with self._lock:
            key, number = wanted, 1
            while key in self._keys:
                number += 1
                key = f"{wanted}-{number}"
            self._keys.add(key)
        return key

    def _put(self, asked: JsonObject, *, without: str = "") -> None:
        """Let the task wait for one more answer, or no longer for one."""
        with self._lock:
            if not self.task.is_over:
                inputs = {key: one for key, one in self.task.inputs.items() if key != without}
                inputs |= asked
                status = "input_required" if inputs else "working"
                self.task = self._calls.store.update(
                    replace(self.task, status=status, inputs=inputs)
                )

    def _write(self) -> None:
        # Where it cannot be written it stays as it was, and ends as interrupted.
        with contextlib.suppress(StorageError):
            self.task = self._calls.store.update(self.task)
        self._calls.forget(self.task.id)


class LateTask:
    """The caller of a call that becomes a task if it is not over in time: until then it is its
    client, and `promoted` is called when it no longer is.
    """

    def __init__(self, calls: TaskCalls, pending: PendingCall, client: Caller) -> None:
        self._calls, self._pending, self._client = calls, pending, client
        self._lock = threading.Lock()
        self._running: RunningTask | None = None
        self._outcome: Outcome | None = None
        self._is_over = False

    @property
    def asker(self) -> Asker | None:
        """What asks the user once the call is a task."""
        return None if self._running is None else self._running.ask

    def tell(self, message: JsonObject) -> None:
        """Pass a notification on while the client waits."""
        if self._running is None:
            self._client.tell(message)

    def hear(self, outcome: Outcome) -> None:
        """Take what became of the call."""
        self._outcome = outcome

    def finish(self, answer: JsonObject) -> None:
        """Answer the client, or its task."""
        with self._lock:
            self._is_over = True
            running = self._running
        if running is None:
            self._client.finish(answer)
            return
        if self._outcome is not None:
            running.hear(self._outcome)
        running.finish(answer)

    def promote(self) -> RunningTask | None:
        """Make a task of the call, and tell the client so; None where it is over already, or no
        task can be kept.
        """
        with self._lock:
            if self._is_over:
                return None
            try:
                self._running = self._calls.create(self._pending)
            except StorageError:  # the client waits on
                return None
        self._client.finish(answer_of(self._pending.id, self._running))
        return self._running


def answer_of(identifier: RequestId, running: RunningTask) -> JsonObject:
    """Return the answer to a call that has become a task."""
    return messages.answered(identifier, revisions.task_result(created(running.task)))


def _plain(result: JsonValue) -> JsonObject | None:
    """Return the result of a call without what says that it is an answer of its own."""
    if not isinstance(result, dict):
        return None
    meta = {
        key: value
        for key, value in (result.get("_meta") or {}).items()
        if not key.startswith(revisions.META)
    }
    kept = {key: value for key, value in result.items() if key not in ("resultType", "_meta")}
    return kept | ({"_meta": meta} if meta else {})
