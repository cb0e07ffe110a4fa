"""Unfinished successors of a file."""

import os
from pathlib import Path

from vespe.leftovers import sweep_beside


def test_the_unfinished_successors_of_the_file_go_and_nothing_else(tmp_path: Path) -> None:
    for name in ("a.json", "a.json.1f-2a.tmp", "a.json.tmp", "b.json.1f-2a.tmp", "a.json.1f-2a.tmp.bak"):
        (tmp_path / name).touch()
    sweep_beside(tmp_path / "a.json")
    assert sorted(os.listdir(tmp_path)) == ["a.json", "a.json.1f-2a.tmp.bak", "a.json.tmp", "b.json.1f-2a.tmp"]


def test_a_directory_that_is_not_there_is_no_error(tmp_path: Path) -> None:
    sweep_beside(tmp_path / "nowhere/a.json")
