"""Kits, what is pinned, and what their sources have: asked by a form alone."""

import subprocess
from pathlib import Path

import pytest

from tests.support.inspecting import Pages
from tests.support.ondisk import python_tool, vespe, write_kit


def test_every_kit_is_shown_with_its_state_and_nothing_is_asked_where_nothing_is_pinned(
    pages: Pages,
) -> None:
    page = pages.get("kits")
    assert "file_io_with_git" in page
    assert "vespe kit activate file_io_with_git" in page
    assert "Check for updates" not in page


def _git(repository: Path, *words: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b.invalid", *words],
        cwd=repository,
        check=True,
        capture_output=True,
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a kit of one tool."""
    kit = write_kit(tmp_path, "greetings")
    python_tool(kit / "tool-hello", "hello", 'return "hello"')
    _git(kit, "init", "-q", "-b", "main")
    _git(kit, "add", "-A")
    _git(kit, "commit", "-qm", "one")
    return kit


def test_a_source_that_moved_is_told_with_what_it_changes(project: Path, repository: Path) -> None:
    done = vespe("kit", "install", f"{repository}@main", "--yes", cwd=project)
    assert done.returncode == 0, done.stderr
    pages, pinned = Pages(project), (project / ".vespe/kits.lock.json").read_bytes()
    assert "up to date" in pages.follow(pages.post("kits"))
    script = repository / "tool-hello/main.py"
    script.write_text(
        script.read_text(encoding="utf-8").replace('"hello"', '"good day"'), encoding="utf-8"
    )
    _git(repository, "commit", "-qam", "two")
    asked = pages.follow(pages.post("kits"))
    assert "Show the changes" in asked
    assert "vespe kit update greetings" in asked
    changed = pages.follow(pages.post("kits", kit="greetings"))
    assert "good day" in changed
    assert 'class="new"' in changed
    assert (project / ".vespe/kits.lock.json").read_bytes() == pinned  # nothing was installed


def test_a_kit_from_a_folder_is_not_said_to_be_up_to_date(project: Path, tmp_path: Path) -> None:
    folder = write_kit(tmp_path, "folder")
    python_tool(folder / "tool-hello", "hello", 'return "hello"')
    assert vespe("kit", "install", str(folder), "--yes", cwd=project).returncode == 0
    pages = Pages(project)
    asked = pages.follow(pages.post("kits"))
    assert "This kit was installed from a folder or a file" in asked
    assert "up to date" not in asked
    assert "no changes" in pages.follow(pages.post("kits", kit="folder"))
