"""`vespe task show`."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from vespe.features.tasks import store
from vespe.features.tasks.store import TaskStore
from vespe.models import Failure, Outcome


def test_the_exit_code_is_that_of_the_call(project: Path, command: Callable[..., Any]) -> None:
    tasks = TaskStore()

    def shown(outcome: Outcome | None, **changes: Any) -> Any:
        task = tasks.create("t", None, {}, owner="a", project=str(project))
        if outcome is not None:
            task = store.ended(task, outcome)
        tasks.update(replace(task, **changes))
        return command("task", "show", task.id)

    assert shown(None).code == 0
    assert shown(Outcome(tool="t", uid=None, result="fine")).out == "fine"
    refused = Failure(code="not_trusted", message="no", retryable=False, details={}, hint="do it")
    failed = shown(Outcome(tool="t", uid=None, error=refused))
    assert failed.code == 6 and "no" in failed.err and "do it" in failed.err
    left = shown(None, status="failed", message="interrupted: x", error={"code": 1, "message": "x"})
    assert left.code == 1 and "failed" in left.err
    tasks.close()


def test_an_unknown_task_is_not_found(project: Path, command: Callable[..., Any]) -> None:
    done = command("task", "show", "0" * 32)
    assert done.code == 3 and "there is no task" in done.err
