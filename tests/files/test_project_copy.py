"""A copy of a project: what it has, and how long it is there."""

import os
from pathlib import Path

import pytest

from vespe.errors import Refused, StorageError
from vespe.files.project_copy import copied_project


def test_a_copy_has_links_as_links_and_no_pipes(project: Path) -> None:
    os.mkfifo(project / "pipe")
    (project / "link").symlink_to("a.txt")
    with copied_project(str(project)) as copy:
        assert (
            os.path.islink(f"{copy}/link")
            and not os.path.lexists(f"{copy}/pipe")
            and os.path.isdir(f"{copy}/.vespe")
        )
    assert not os.path.exists(copy)


def test_what_is_too_large_or_gone_is_not_copied(project: Path) -> None:
    (project / "large").write_bytes(b"x" * 5000)
    (project / "link").symlink_to("large")
    with copied_project(str(project), most=1 << 20) as copy:
        assert os.path.getsize(f"{copy}/large") == 5000
    with (
        pytest.raises(Refused, match="too large to be copied"),
        copied_project(str(project), most=4999),
    ):
        pass
    with pytest.raises(StorageError), copied_project(str(project / "gone")):
        pass
