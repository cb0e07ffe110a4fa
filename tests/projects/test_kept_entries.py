"""The tools of an open project, of which only those that changed are read again."""

import json
import time
from pathlib import Path

import pytest

from tests.support.ondisk import python_tool, write_kit, write_tool
from vespe.models import Entry
from vespe.projects.init import found_project
from vespe.projects.kept_entries import KeptEntries
from vespe.projects.open_project import OpenProject
from vespe.projects.workspace import open_workspace


@pytest.fixture
def live(home: Path, tmp_path: Path) -> OpenProject:
    root = tmp_path / "project"
    root.mkdir()
    found_project(root)
    for name in "ab":
        python_tool(root / f".vespe/tools/tool-{name}", name, "return 1")
    kit = write_kit(home / "data/vespe/kits", "mine")
    python_tool(kit / "tool-k", "k", "return 1")
    (root / ".vespe/config.json").write_text('{"active_kits": ["mine"]}', encoding="utf-8")
    time.sleep(0.12)  # until stamps are older than clocks are coarse
    return OpenProject(open_workspace(root))


def refreshed(
    live: OpenProject, kept: KeptEntries
) -> dict[str, tuple[Entry | None, Entry | None]] | None:
    workspace = live.workspace
    live.tools.refresh(exact=True)
    return kept.refresh(workspace)


def rewrite(config: Path, **keys: object) -> None:
    document = json.loads(config.read_text(encoding="utf-8"))
    config.write_text(json.dumps(document | keys), encoding="utf-8")


def test_what_changed_is_read_again_and_the_rest_stays_the_same_object(live: OpenProject) -> None:
    kept, tools = KeptEntries(live.tools), Path(live.root, ".vespe/tools")
    assert refreshed(live, kept) is None and refreshed(live, kept) == {}
    before = {row.entry.name: row.entry for row in kept.rows(live.workspace)}
    rewrite(tools / "tool-a/config.json", description="Another.")
    found = refreshed(live, kept) or {}
    assert list(found) == [str(tools / "tool-a")]
    after = {row.entry.name: row.entry for row in kept.rows(live.workspace)}
    assert [name for name in "abk" if after[name] is before[name]] == ["b", "k"]
    assert kept.rows(live.workspace) == live.workspace.ordered_rows()


def test_other_bytes_that_say_the_same_of_a_tool_are_another_entry(live: OpenProject) -> None:
    kept, config = KeptEntries(live.tools), Path(live.root, ".vespe/tools/tool-a/config.json")
    refreshed(live, kept)
    (before,) = [row.entry for row in kept.rows(live.workspace) if row.entry.name == "a"]
    digest = kept.digest(before)
    rewrite(config, tags=["more"])
    ((old, new),) = (refreshed(live, kept) or {}).values()
    assert old is before and new == before and new is not before
    assert new is not None and kept.digest(new) != digest != ""


def test_a_tool_that_comes_breaks_and_goes_is_seen(live: OpenProject) -> None:
    kept, tools = KeptEntries(live.tools), Path(live.root, ".vespe/tools")
    refreshed(live, kept)
    write_tool(tools / "tool-c", "c")
    (tools / "tool-a/main.py").unlink()
    (tools / "tool-b").rename(tools.parent / "aside")
    (tools / "tool-b").symlink_to(tools.parent / "aside")
    found = refreshed(live, kept) or {}
    assert {Path(path).name for path in found} == {"tool-a", "tool-b", "tool-c"}
    assert kept.rows(live.workspace) == live.workspace.ordered_rows()
    (tools / "tool-b").unlink()
    (tools / "tool-c/config.json").unlink()
    (tools / "stray.txt").touch()
    refreshed(live, kept)
    assert kept.rows(live.workspace) == live.workspace.ordered_rows()


def test_what_a_kit_states_of_its_limits_judges_its_tools_anew(
    live: OpenProject, home: Path
) -> None:
    kept = KeptEntries(live.tools)
    refreshed(live, kept)
    rewrite(home / "data/vespe/kits/mine/kit_config.json", allow_types=["http_request"])
    assert refreshed(live, kept) is None
    rows = kept.rows(live.workspace)
    assert rows == live.workspace.ordered_rows()
    assert [row.status for row in rows if row.entry.name == "k"] == ["broken"]
