"""Which lock a verb means."""

from pathlib import Path

import pytest

from vespe.cli import options
from vespe.errors import ProjectNotFound


def test_the_project_s_lock_or_the_user_s_own(project: Path, home: Path, tmp_path: Path) -> None:
    assert options.lock_of(str(project), user=False) == str(project / ".vespe/kits.lock.json")
    assert options.lock_of(None, user=True) == str(home / "data/vespe/kits.lock.json")
    with pytest.raises(ProjectNotFound):
        options.lock_of(str(tmp_path), user=False)
