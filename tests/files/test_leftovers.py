"""What killed processes and tools leave."""

import os
from pathlib import Path

from vespe.files.trees import delete, sweep_beside


def test_the_unfinished_successors_of_the_file_go_and_nothing_else(tmp_path: Path) -> None:
    for name in ("a.json", "a.json.1f-2a.tmp", "a.json.tmp", "b.json.1f-2a.tmp", "a.json.1f-2a.tmp.bak"):
        (tmp_path / name).touch()
    sweep_beside(tmp_path / "a.json")
    assert sorted(os.listdir(tmp_path)) == ["a.json", "a.json.1f-2a.tmp.bak", "a.json.tmp", "b.json.1f-2a.tmp"]


def test_a_directory_that_is_not_there_is_no_error(tmp_path: Path) -> None:
    sweep_beside(tmp_path / "nowhere/a.json")


def test_a_read_only_directory_goes_whole_and_what_a_link_leads_to_stays(tmp_path: Path) -> None:
    ours, kept = tmp_path / "ours", tmp_path / "kept"
    kept.mkdir()
    (kept / "file").touch()
    (ours / "below").mkdir(parents=True)
    (ours / "below/link").symlink_to(kept)
    (ours / "below").chmod(0o555)
    delete(str(ours))
    assert not ours.exists() and (kept / "file").exists()
