"""What a server knows of its project at one moment."""

import time
from pathlib import Path

import pytest

from tests.support.ondisk import python_tool
from vespe.calls.path import open_path
from vespe.errors import InvalidDocument
from vespe.features.mcp.server.selection import Selection
from vespe.features.mcp.server.snapshot import Snapshot, differs, look, unreadable
from vespe.projects.init import found_project
from vespe.projects.workspace import open_workspace
from vespe.trust import gate


@pytest.fixture
def root(home: Path, tmp_path: Path) -> Path:
    found_project(tmp_path)
    for name in "ab":
        python_tool(tmp_path / f".vespe/tools/tool-{name}", name, "return 1")
    time.sleep(0.12)  # until their stamps are older than clocks are coarse
    return tmp_path


def looked(root: Path, before: Snapshot | None = None) -> Snapshot:
    workspace = open_workspace(root)
    path = open_path(workspace)
    return look(
        workspace,
        path,
        selection=Selection(),
        granted=gate.TrustCheck(workspace.config, environ={}).check,
        token=None,
        before=before,
    )


def test_what_did_not_change_is_not_read_again(root: Path) -> None:
    before = looked(root)
    config = root / ".vespe/tools/tool-b/config.json"
    config.write_text(
        config.read_text(encoding="utf-8").replace("written by hand", "mended"), encoding="utf-8"
    )
    after = looked(root, before)
    assert after.tools["a"] is before.tools["a"] and after.tools["b"] is not before.tools["b"]
    assert differs(before, after, definition=lambda tool: {"description": tool.description})
    assert not differs(before, after, definition=lambda tool: {"name": tool.name})


@pytest.mark.parametrize("asked", [1, 100])
def test_a_name_holds_until_its_tool_or_what_comes_before_it_changes(
    root: Path, asked: int
) -> None:
    before = looked(root)
    assert before.firm and all(before.still_holds("a") for _ in range(asked))
    python_tool(root / ".vespe/tools/tool-c", "c", "return 1")
    assert not before.still_holds("a")


def test_a_tool_that_was_written_this_moment_is_not_believed_yet(root: Path) -> None:
    python_tool(root / ".vespe/tools/tool-c", "c", "return 1")
    after = looked(root)
    assert not after.firm and not after.still_holds("c")


def test_a_project_that_cannot_be_opened_shows_nothing_and_says_why(root: Path) -> None:
    broken = unreadable(looked(root), InvalidDocument("is not JSON", path="config.json"))
    assert (broken.names, broken.firm) == ((), False) and "config.json" in broken.left_out[0]
