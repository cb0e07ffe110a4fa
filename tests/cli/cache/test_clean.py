"""`vespe cache clean`."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool, write_kit

Command = Callable[..., Any]


@pytest.fixture
def unused(command: Command, tmp_path: Path) -> Command:
    """A store with one kit that nobody needs, and one that a project does."""
    for kit_id in ("needed", "unused"):
        python_tool(write_kit(tmp_path / kit_id, kit_id) / f"tool-{kit_id}", kit_id, "return 1")
        project = tmp_path / f"of-{kit_id}"
        assert command("init", str(project)).code == 0
        assert (
            command(
                "kit", "install", str(tmp_path / kit_id), "--yes", "--project", str(project)
            ).code
            == 0
        )
    shutil.rmtree(tmp_path / "of-unused")
    return command


def test_a_dry_run_says_what_would_go_and_removes_nothing(unused: Command) -> None:
    said = unused("cache", "clean", "--dry-run", "--json").document
    assert [kit["kit_id"] for kit in said["removed"]] == ["unused"] and said["dry_run"]
    assert len(unused("cache", "list", "--json").document["kits"]) == 2


def test_without_a_terminal_it_takes_a_yes(unused: Command) -> None:
    assert unused("cache", "clean").code == 6
    said = unused("cache", "clean", "--yes", "--json").document
    assert [kit["kit_id"] for kit in said["removed"]] == ["unused"] and said["bytes"] > 0
    assert [kit["kit_id"] for kit in unused("cache", "list", "--json").document["kits"]] == [
        "needed"
    ]


def test_nothing_to_remove_asks_nothing(command: Command) -> None:
    assert command("cache", "clean").code == 0
