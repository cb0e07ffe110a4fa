"""The files of tasks: whose they are, and what becomes of one whose process has died."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from vespe.errors import InvalidDocument
from vespe.features.tasks import store
from vespe.features.tasks.store import Task, TaskNotFound, TaskStore
from vespe.files.locations import user_state_dir
from vespe.models import Failure, Outcome

pytestmark = pytest.mark.usefixtures("home")
OWNER = "a" * 64
CHILD = """
import os, sys
from vespe.features.tasks.store import TaskStore
tasks = TaskStore()
task = tasks.create("t", "tool-t", {}, owner=sys.argv[1], project="/")
print(task.id, flush=True)
sys.stdin.read()
os._exit(1)
"""


@pytest.fixture
def tasks() -> Iterator[TaskStore]:
    made = TaskStore()
    yield made
    made.close()


def made(tasks: TaskStore) -> Task:
    return tasks.create("t", "tool-t", {"a": 1}, owner=OWNER, project="/")


def outcome(code: str = "", **details: object) -> Outcome:
    error = Failure(code=code, message="it broke", retryable=False, details=details)
    return Outcome(tool="t", uid=None, result=None if code else "ok", error=error if code else None)


def test_a_task_is_a_private_file_with_an_id_that_nobody_guesses(tasks: TaskStore) -> None:
    one, other = made(tasks), made(tasks)
    path = Path(user_state_dir(), "tasks", f"{one.id}.json")
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600 and "secret" not in path.read_text(
        encoding="utf-8"
    )
    assert len(one.id) == 32 and one.id != other.id
    assert json.loads(path.read_text(encoding="utf-8"))["status"] == "working"
    assert [task.id for task in tasks.list(project="/")] == [one.id, other.id]
    assert tasks.list(project="/tmp") == []


def test_p82_a_task_of_somebody_else_is_as_if_it_were_not_there(tasks: TaskStore) -> None:
    task = made(tasks)
    assert tasks.read(task.id, owner=OWNER) == task
    said = set()
    for identifier, owner in (
        (task.id, "b" * 64),
        ("0" * 32, OWNER),
        ("../" + task.id, OWNER),
        (task.id.upper() if task.id.upper() != task.id else "x", OWNER),
        ("", OWNER),
    ):
        with pytest.raises(TaskNotFound) as found:
            tasks.read(identifier, owner=owner)
        said.add(str(found.value).replace(repr(identifier), "ID"))
    assert said == {"there is no task ID"}
    assert store.owner_of("/a") != store.owner_of("/b") != store.owner_of("/b", token="t")
    assert store.owner_of("/a", token="t") == store.owner_of("/b", token="t")


@pytest.mark.parametrize(
    ("told", "cancelled", "status"),
    [
        (outcome(), False, "completed"),
        (outcome("tool_error"), False, "completed"),
        (outcome("tool_error", signal=9), False, "failed"),
        (outcome("interrupted"), False, "failed"),
        (outcome("session_ended"), False, "failed"),
        (outcome("interrupted"), True, "cancelled"),
        (outcome(), True, "completed"),
    ],
)
def test_how_a_task_ends(told: Outcome, cancelled: bool, status: str, tasks: TaskStore) -> None:
    task = tasks.update(store.ended(made(tasks), told, cancelled=cancelled))
    assert task.status == status and tasks.read(task.id) == task
    assert task.outcome is not None and (task.error is not None) == (status == "failed")


def test_a_task_whose_process_died_is_interrupted_and_one_that_lives_is_not(
    tasks: TaskStore,
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        identifier = child.stdout.readline().decode().strip()
        assert tasks.read(identifier, owner=OWNER).status == "working"
        child.kill()
    for reader in (tasks, TaskStore()):
        task = reader.read(identifier, owner=OWNER)
        assert task.status == "failed" and task.message.startswith("interrupted: ")
        assert task.error == {"code": -32603, "message": task.message}
    own = made(tasks)
    tasks.close()
    assert TaskStore().read(own.id).status == "failed"


def test_cancelling_and_answering_reach_the_process_that_runs_it(tasks: TaskStore) -> None:
    task = tasks.update(replace(made(tasks), status="input_required", inputs={"q1": {}}))
    other = TaskStore()
    other.answer(task, "q1", {"action": "accept"})
    other.answer(task, "q2", {"action": "accept"})
    assert tasks.has_reply(task.id, "q1") and not tasks.has_reply(task.id, "q2")
    assert tasks.reply_to(task.id, "q1") == {"action": "accept"}
    assert tasks.has_reply(task.id, "q1"), "until its question is gone from the task"
    tasks.forget_reply(task.id, "q1")
    assert tasks.reply_to(task.id, "q1") is None and not tasks.has_reply(task.id, "q1")
    assert not tasks.is_cancelled(task.id)
    other.cancel(task)
    assert tasks.is_cancelled(task.id)
    over = tasks.update(store.ended(task, outcome()))
    other.cancel(over)
    assert not tasks.is_cancelled(task.id) and over.inputs == {}


def test_a_file_that_is_damaged_or_newer_is_no_task(tasks: TaskStore) -> None:
    task = made(tasks)
    path = Path(user_state_dir(), "tasks", f"{task.id}.json")
    for text in (
        "{",
        "{}",
        path.read_text(encoding="utf-8").replace('"version":1', '"version":2'),
        "[]",
    ):
        path.write_text(text, encoding="utf-8")
        assert tasks.list() == []
        with pytest.raises(InvalidDocument, match="is not a task file"):
            tasks.read(task.id)


def test_tasks_that_are_over_go_after_a_week_and_those_that_run_do_not(tasks: TaskStore) -> None:
    running, over = made(tasks), tasks.update(store.ended(made(tasks), outcome()))
    for task in (running, over):
        path = Path(user_state_dir(), "tasks", f"{task.id}.json")
        os.utime(path, (0, 0))
    TaskStore().sweep()
    assert [task.id for task in tasks.list()] == [running.id]


@pytest.mark.parametrize("change", ["{", '{"version": 99}'])
def test_an_old_file_that_cannot_be_read_stays_and_stops_no_other(
    change: str, tasks: TaskStore
) -> None:
    task, over = made(tasks), tasks.update(store.ended(made(tasks), outcome()))
    path, other = (Path(user_state_dir(), "tasks", f"{one.id}.json") for one in (task, over))
    path.write_text(change, encoding="utf-8")
    os.utime(path, (0, 0))
    os.utime(other, (1, 1))
    new = made(TaskStore())
    assert tasks.list() == [new] and tasks.unreadable == [str(path)]
    assert path.read_text(encoding="utf-8") == change and not other.exists()


def test_the_newest_tasks_are_read_alone_and_more_are_told_of(tasks: TaskStore) -> None:
    every = [made(tasks) for _ in range(5)]
    found, has_more = tasks.recent(project="/", limit=2)
    assert has_more and [task.id for task in found] == [task.id for task in every[3:]]
    found, has_more = tasks.recent(project="/", limit=5)
    assert not has_more and found == every
    assert tasks.recent(project="/tmp", limit=1) == ([], False)


@pytest.mark.parametrize(
    "change",
    [
        {"version": 99},
        {"status": "lost"},
        {"outcome": ["a"]},
        {"runner": "../x"},
        {"inputs": 1},
        {"uid": 7},
        "no JSON",
    ],
)
def test_a_file_that_was_edited_is_named_and_hides_no_other(
    change: object, tasks: TaskStore
) -> None:
    task, other = made(tasks), made(tasks)
    path = Path(user_state_dir(), "tasks", f"{task.id}.json")
    document = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(
        json.dumps(document | change) if isinstance(change, dict) else str(change), encoding="utf-8"
    )
    assert tasks.list(project="/") == [other] and tasks.unreadable == [str(path)]
    with pytest.raises(InvalidDocument, match="is not a task file"):
        tasks.read(task.id)
    with pytest.raises(TaskNotFound):
        tasks.read(task.id, owner=OWNER)
