"""`vespe init`."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.terminal import plain, vespe_on_a_terminal

Command = Callable[..., Any]


def test_a_new_project_is_trusted_and_has_no_active_kits(command: Command, tmp_path: Path) -> None:
    made = command("init", str(tmp_path / "new"), "--json")
    assert (made.code, made.document) == (0, {"path": str(tmp_path / "new"), "made": True})
    assert command("tool", "list", "--json", "--project", str(tmp_path / "new")).document == {
        "tools": []
    }


def test_a_second_init_changes_nothing_and_says_so(command: Command, project: Path) -> None:
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    said = command("init")
    assert said.code == 0 and "already" in said.err and said.out == ""
    assert before == {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}


def test_init_grants_no_trust_to_a_project_that_came_from_elsewhere(
    command: Command, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "cloned"
    (elsewhere / ".vespe").mkdir(parents=True)
    assert command("init", str(elsewhere)).code == 0
    made = command("tool", "create", "mine", "--type", "python_script", "--project", str(elsewhere))
    assert made.code == 0
    assert command("kit", "activate", "file_io_without_git", "--project", str(elsewhere)).code == 0
    assert command("tool", "run", "read_file", "path=x", "--project", str(elsewhere)).code == 6
    assert command("tool", "run", "mine", "--project", str(elsewhere)).code == 0


def test_a_file_in_the_way_is_a_sentence(command: Command, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / ".vespe").write_text("", encoding="utf-8")
    said = command("init", str(tmp_path / "taken"))
    assert said.code == 4 and "is not a directory" in said.err


def test_from_a_working_directory_that_is_gone_it_is_a_sentence(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    said = command("init")
    assert said.code == 1 and "cannot find the working directory" in said.err


def test_p47_without_room_for_trust_no_project_is_made_and_the_next_init_makes_one(
    command: Command, home: Path, tmp_path: Path
) -> None:
    (home / "state").rename(home / "aside")
    (home / "state").write_text("", encoding="utf-8")
    said = command("init", str(tmp_path / "new"))
    assert said.code == 1 and "cannot make" in said.err and list((tmp_path / "new").iterdir()) == []
    (home / "state").unlink()
    assert command("init", str(tmp_path / "new"), "--json").document["made"] is True


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def test_p41c_nothing_that_a_verb_makes_can_be_written_by_others_whatever_the_umask(
    command: Command, open_umask: None, home: Path, project: Path
) -> None:
    (project / "in.jsonl").write_text('{"text": "a"}\n', encoding="utf-8")
    for line in (
        "tool create aa --type python_script",
        "kit activate file_io_without_git",
        "config set sandbox auto",
        "schema --write",
        "tool run aa text=x",
        "batch aa in.jsonl -o out.jsonl",
        "tool copy read_file",
        "connect claude-code",
        "tool sync",
        "trust --yes",
    ):
        assert command(*line.split()).code in (0, 1), line
    made = {
        path
        for top in (home, project)
        for path in top.rglob("*")
        if not path.is_symlink() and path.stat().st_mode & 0o022
    }
    assert made == {project / "in.jsonl"}


def test_what_comes_next_begins_in_the_new_project(home: Path, tmp_path: Path) -> None:
    shown = plain(vespe_on_a_terminal("init", "my shop", cwd=tmp_path))
    assert "next: `cd 'my shop'`; then `vespe kit list` shows" in " ".join(shown.split())
    again = plain(vespe_on_a_terminal("init", cwd=tmp_path))
    assert "next: `vespe kit list` shows" in " ".join(again.split())
