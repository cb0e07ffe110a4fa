"""A task in words."""

from pathlib import Path

import pytest

from vespe.features.tasks import store
from vespe.features.tasks.store import TaskStore
from vespe.features.tasks.verbs import shown
from vespe.models import Failure, Outcome


@pytest.mark.usefixtures("home")
def test_completed_tells_of_a_call_that_failed_too() -> None:
    tasks = TaskStore()
    task = tasks.create("t", None, {}, owner="a", project="/")
    failure = Failure(code="tool_error", message="no", retryable=False, details={})
    assert shown.state(task) == "working" and shown.summary(task)["status"] == "working"
    failed = store.ended(task, Outcome(tool="t", uid=None, error=failure))
    assert shown.state(failed) == "completed, with an error"
    assert shown.local("no moment") == "no moment" and shown.local(task.created_at)[:2] == "20"
    tasks.close()


def test_the_moment_is_local(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert shown.local("2026-01-02T03:04:05.000Z").endswith(":04:05")
