"""`vespe kit list`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import write_kit

Command = Callable[..., Any]


def test_the_kits_that_ship_are_listed_with_their_tools(command: Command) -> None:
    found = {kit["kit_id"]: kit for kit in command("kit", "list", "--json").document["kits"]}
    assert {"file_io_with_git", "file_io_without_git"} <= found.keys()
    assert sum(kit["tools"] for kit in found.values()) >= 15
    assert {"kit_id", "version", "active", "root", "path", "tools", "problem"} <= found[
        "file_io_with_git"
    ].keys()


def test_a_kit_that_an_earlier_root_hides_says_so(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_kit(tmp_path / "kits", "file_io_with_git")
    monkeypatch.setenv("VESPE_KITS_PATH", str(tmp_path / "kits"))
    problems = [
        k["problem"]
        for k in command("kit", "list", "--json").document["kits"]
        if k["kit_id"] == "file_io_with_git"
    ]
    assert problems[0] is None and str(tmp_path / "kits") in problems[1]


def test_outside_a_project_kits_are_listed_too(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "nowhere").mkdir()
    monkeypatch.chdir(tmp_path / "nowhere")
    assert "file_io_with_git" in command("kit", "list").out
