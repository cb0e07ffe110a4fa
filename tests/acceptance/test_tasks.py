"""A few of the moments at which a task's process is killed; `./dev acceptance tasks` tries 200."""

from pathlib import Path

import pytest

from tests.acceptance.tasks import killed, make


@pytest.mark.usefixtures("home")
def test_no_task_whose_process_is_killed_is_lost_or_run_twice(tmp_path: Path) -> None:
    found = killed(make(tmp_path / "project"), 4)
    assert [found[one] for one in ("lost", "twice", "stuck", "wrong")] == [0, 0, 0, 0], found
