"""Whether a file is what it was."""

import os
from pathlib import Path

from vespe.files.stamps import are_settled, stamp


def test_a_stamp_changes_with_the_file_and_what_is_not_there_has_none(tmp_path: Path) -> None:
    path = tmp_path / "file"
    assert stamp(str(path)) is None
    path.write_text("a", encoding="utf-8")
    before = stamp(str(path))
    path.write_text("ab", encoding="utf-8")
    assert stamp(str(path)) != before


def test_a_stamp_is_believed_only_when_it_is_older_than_clocks_are_coarse(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("a", encoding="utf-8")
    found = stamp(str(path))
    assert found is not None and not are_settled([found])
    assert are_settled([None, stamp(os.sep)])
