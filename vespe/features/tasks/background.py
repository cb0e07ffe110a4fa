"""Running a call in a process of its own that outlives the command which asked for it."""

import gc
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Final

from vespe.calls.outcomes import failed
from vespe.calls.path import RAISED, open_path
from vespe.calls.registry import ToolRegistry
from vespe.documents import strict_json
from vespe.errors import InvalidDocument, ToolExecutionError, VespeError
from vespe.features.tasks import store
from vespe.models import Call, JsonObject, Outcome, Tool
from vespe.processes import detached
from vespe.projects.workspace import open_workspace

_ROOT: Final = os.path.abspath(os.path.join(os.path.dirname(__file__), *[".."] * 3))
_START: Final = """\
import sys
sys.path.insert(0, sys.argv[1])
from vespe.__main__ import hide_memory
hide_memory()
from vespe.features.tasks.background import main
main()
"""
_LOOK_S: Final = 0.2
_MAX_BYTES: Final = 64 * 1024 * 1024


def start(
    tool: Tool, arguments: JsonObject, *, project: str, trusted: bool, options: JsonObject
) -> str:
    """Start the call of a tool, and return the id of its task, which is on disk by then. `options`
    are `timeout_s` and `log_arguments`.

    Raises ToolExecutionError where the process does not start, StorageError.
    """
    asked: JsonObject = {
        "tool": tool.uid,
        "arguments": arguments,
        "project": project,
        "trusted": trusted,
        **options,
    }
    command = [sys.executable, "-I", "-B", "-X", "utf8", "-c", _START, _ROOT]
    try:
        line = detached.start(command, strict_json.compact_bytes(asked))
    except OSError as error:
        raise ToolExecutionError(f"the process of the task did not start: {error}") from None
    try:
        answer = strict_json.parse_object(line)
    except InvalidDocument:
        answer = {}
    if "task" not in answer:
        said = str(answer.get("error") or "it ended without a message")
        raise ToolExecutionError(f"the process of the task did not start: {said}")
    return str(answer["task"])


def main() -> None:
    """Read from stdin what to call, print the task's id, and make the call."""
    gc.enable()  # unlike a command, a task may live for long
    asked = json.loads(sys.stdin.buffer.read(_MAX_BYTES))
    tasks = store.TaskStore()
    try:
        path = open_path(
            open_workspace(asked["project"]),
            registry=ToolRegistry(),
            environment=dict(os.environ),
            trusted=asked["trusted"],
            keep_arguments=asked["log_arguments"],
        )
        tool = path.tool(asked["tool"])
        root = path.workspace.root
        task = tasks.create(
            tool.name,
            tool.uid,
            asked["arguments"],
            owner=store.owner_of(root),
            project=root,
        )
    except VespeError as error:
        _tell({"error": str(error)})
        os._exit(1)
    _tell({"task": task.id})
    call = Call(tool=tool.uid, arguments=asked["arguments"], timeout_s=asked["timeout_s"])

    def work(cancel: threading.Event) -> Outcome:
        started = time.perf_counter()
        try:
            return path.run_tool(tool, call, cancel=cancel)
        except RAISED as error:  # the tool has not begun
            return failed(tool, error, started=started)

    _Running(tasks, task).run(work)
    os._exit(0)


def _tell(document: JsonObject) -> None:
    sys.stdout.buffer.write(strict_json.compact_bytes(document) + b"\n")
    sys.stdout.buffer.flush()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):
        os.dup2(nowhere, descriptor)


class _Running:
    def __init__(self, tasks: store.TaskStore, task: store.Task) -> None:
        self._tasks, self._task = tasks, task
        self._cancel = threading.Event()
        self._was_cancelled = False

    def run(self, work: Callable[[threading.Event], Outcome]) -> None:
        """Do the work in a thread, and write down what became of it."""
        outcomes: list[Outcome] = []

        def worked() -> None:
            outcomes.append(work(self._cancel))

        thread = threading.Thread(target=worked, name="vespe-task", daemon=True)
        thread.start()
        while thread.is_alive():
            if not self._was_cancelled and self._tasks.is_cancelled(self._task.id):
                self._was_cancelled = True
                self._cancel.set()
            thread.join(_LOOK_S)
        if outcomes:
            self._task = store.ended(self._task, outcomes[0], cancelled=self._was_cancelled)
        else:
            self._task = store.interrupted(self._task)
        self._tasks.update(self._task)
        self._tasks.close()
