"""`vespe task list`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.usefixtures("project")
def test_a_project_without_tasks_says_how_to_start_one(command: Callable[..., Any]) -> None:
    done = command("task", "list")
    assert done.code == 0 and "vespe tool run NAME --background" in done.err


def test_outside_a_project_it_says_so(
    command: Callable[..., Any], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    assert command("task", "list").code == 3
