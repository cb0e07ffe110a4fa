"""A directory that others may write in is told from one that is its user's own."""

import os
from pathlib import Path

import pytest

from vespe.files.ownership import foreign_writer


@pytest.mark.parametrize(
    ("mode", "why"),
    [(0o757, "by everybody"), (0o777, "by everybody"), (0o755, None), (0o700, None)],
)
def test_a_directory_that_everybody_may_write_is_told_from_one_that_is_the_user_s_own(
    mode: int, why: str | None, tmp_path: Path
) -> None:
    tmp_path.chmod(mode)
    said = foreign_writer(str(tmp_path))
    assert (said is None) if why is None else (said is not None and why in said)


@pytest.mark.root
def test_a_directory_of_another_user_or_for_another_group_is_told_from_one_for_the_user_s_own_group(
    tmp_path: Path,
) -> None:
    tmp_path.chmod(0o775)
    assert foreign_writer(str(tmp_path)) is None  # root's own group
    os.chown(tmp_path, 0, 12345)
    assert "by its group" in str(foreign_writer(str(tmp_path)))
    os.chown(tmp_path, 12345, 0)
    assert "another user (number 12345)" in str(foreign_writer(str(tmp_path)))
    assert foreign_writer(str(tmp_path / "gone")) is None
