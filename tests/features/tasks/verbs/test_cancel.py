"""`vespe task cancel`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from vespe.features.tasks import store
from vespe.features.tasks.store import TaskStore
from vespe.models import Outcome


def test_a_task_that_is_over_stays_as_it_is(project: Path, command: Callable[..., Any]) -> None:
    tasks = TaskStore()
    task = tasks.create("t", None, {}, owner="a", project=str(project))
    tasks.update(store.ended(task, Outcome(tool="t", uid=None, result=1)))
    done = command("task", "cancel", task.id)
    assert done.code == 0 and "completed" in done.err
    assert command("task", "cancel", "1" * 32).code == 3
    tasks.close()
