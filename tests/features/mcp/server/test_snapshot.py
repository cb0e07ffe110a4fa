"""What a server knows of its project at one moment."""

import time
from pathlib import Path
from typing import cast

import pytest

from tests.support.ondisk import python_tool
from vespe.calls.path import open_path
from vespe.calls.taint import Taint
from vespe.errors import InvalidDocument, InvalidTool
from vespe.features.mcp.server import snapshot
from vespe.features.mcp.server.selection import Selection
from vespe.features.mcp.server.snapshot import Looking, Snapshot, differs, look, unreadable
from vespe.projects.init import found_project
from vespe.projects.kept_entries import KeptEntries
from vespe.projects.open_project import OpenProject
from vespe.projects.workspace import open_workspace
from vespe.trust import gate


@pytest.fixture
def root(home: Path, tmp_path: Path) -> Path:
    found_project(tmp_path)
    for name in "ab":
        python_tool(tmp_path / f".vespe/tools/tool-{name}", name, "return 1")
    time.sleep(0.12)  # until their stamps are older than clocks are coarse
    return tmp_path


def looking_at(root: Path) -> Looking:
    workspace = open_workspace(root)
    path = open_path(workspace)
    live = cast(OpenProject, path.live)
    return Looking(
        live=live,
        path=path,
        selection=Selection(),
        granted=gate.TrustCheck(workspace.config, environ={}).check,
        entries=KeptEntries(live.tools),
        taint=Taint(),
    )


def looked(looking: Looking, before: Snapshot | None = None) -> Snapshot:
    return look(looking, looking.live.workspace, token=None, before=before)


def described(now: Snapshot, revision: str, name: str) -> str:
    return now.tools[name].description


def change(config: Path, before: str, after: str) -> None:
    config.write_text(config.read_text(encoding="utf-8").replace(before, after), encoding="utf-8")


def test_what_did_not_change_is_not_read_again(root: Path) -> None:
    looking = looking_at(root)
    before = looked(looking)
    old = before.tools["a"], before.tools["b"]
    before.texts["r"] = {name: described(before, "r", name) for name in "ab"}
    change(root / ".vespe/tools/tool-b/config.json", "written by hand", "mended")
    after = looked(looking, before)
    assert after.tools["a"] is old[0] and after.tools["b"] is not old[1]
    assert after.texts == {"r": {"a": before.texts["r"]["a"]}}
    assert differs(before, after, text=described)
    assert not differs(before, after, text=lambda now, revision, name: before.texts["r"][name])


def test_what_no_client_was_told_of_differs_where_its_file_does(root: Path) -> None:
    looking = looking_at(root)
    before = looked(looking)
    (root / ".vespe/tools/tool-b/beside.txt").touch()
    assert not differs(before, same := looked(looking, before), text=described)
    change(root / ".vespe/tools/tool-b/config.json", "written by hand", "mended")
    assert differs(same, looked(looking, same), text=described)


@pytest.mark.parametrize("asked", [1, 100])
def test_a_name_holds_until_its_tool_or_what_comes_before_it_changes(
    root: Path, asked: int
) -> None:
    looking = looking_at(root)
    before = looked(looking)
    assert before.firm and all(before.still_holds(looking, "a") for _ in range(asked))
    python_tool(root / ".vespe/tools/tool-c", "c", "return 1")
    assert not before.still_holds(looking)
    change(root / ".vespe/tools/tool-a/config.json", "written by hand", "mended")
    assert not before.still_holds(looking, "a")


def test_only_so_many_tools_are_kept_loaded(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "_MOST_KEPT", 1)
    looking = looking_at(root)
    now = looked(looking)
    first = now.tools["a"]
    assert now.tools["a"] is first and now.tools["b"].name == "b"
    assert now.tools["a"] is not first and now.tools["a"] == first


def test_a_tool_that_changes_after_the_look_is_judged_when_it_is_loaded(root: Path) -> None:
    now = looked(looking_at(root))
    change(root / ".vespe/tools/tool-a/config.json", '"name": "a"', '"name": "no name"')
    with pytest.raises(InvalidTool):
        now.tools["a"]


def test_a_tool_that_was_written_this_moment_is_not_believed_yet(root: Path) -> None:
    python_tool(root / ".vespe/tools/tool-c", "c", "return 1")
    looking = looking_at(root)
    after = looked(looking)
    assert not after.firm and not after.still_holds(looking, "c")


def test_a_project_that_cannot_be_opened_shows_nothing_and_says_why(root: Path) -> None:
    before = looked(looking_at(root))
    broken = unreadable(before, InvalidDocument("is not JSON", path="config.json"))
    assert (broken.names, broken.firm) == ((), False) and "config.json" in broken.left_out[0]
