"""What a server shows, and why it leaves the others out."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool, write_kit, write_tool
from vespe.calls.registry import ToolRegistry
from vespe.errors import NotTrusted
from vespe.features.mcp.server.selection import Candidates, Chosen, Selection, shown
from vespe.models import Tool
from vespe.projects.init import found_project
from vespe.projects.workspace import open_workspace
from vespe.trust import gate
from vespe.trust.gate import Grant


@pytest.fixture
def root(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a tool of its own, a kit with one of the same name and one more, and a broken
    one.
    """
    directory = tmp_path / "project"
    directory.mkdir()
    found_project(directory)
    kit = write_kit(tmp_path / "kits", "things")
    monkeypatch.setenv("VESPE_KITS_PATH", str(tmp_path / "kits"))
    Path(directory, ".vespe/config.json").write_text(
        json.dumps({"active_kits": ["things"]}), encoding="utf-8"
    )
    python_tool(
        directory / ".vespe/tools/tool-both",
        "both",
        "return 'project'",
        annotations={"readOnlyHint": True},
    )
    python_tool(kit / "tool-kits-both", "both", "return 'kit'")
    python_tool(kit / "tool-only", "only", "return 1")
    write_tool(directory / ".vespe/tools/tool-bad", "bad name!")
    write_tool(directory / ".vespe/tools/tool-idle", "idle")
    return directory


def look(root: Path, registered: str = "", denied: str = "", **selection: Any) -> Chosen:
    workspace = open_workspace(root)

    def granted(directory: str | None) -> Grant:
        return gate.check(workspace.config, directory, environ={})

    def refused(tool: Tool) -> str:
        return "it is denied" if tool.name == denied else ""

    chosen = Selection(**selection)
    registry = ToolRegistry()
    for name in registered.split():
        registry.register(print, name=name)
    candidates = Candidates(
        rows=workspace.ordered_rows(),
        registry=registry,
        load=lambda item: item if isinstance(item, Tool) else workspace.load(item),
    )
    return shown(
        workspace,
        candidates,
        selection=chosen,
        granted=granted,
        refused=refused if denied else None,
    )


def test_p43_a_tool_that_may_never_run_is_left_out_with_its_reason(root: Path) -> None:
    found = look(root, denied="both")
    assert list(found.tools) == ["only"] and "both is left out: it is denied" in found.left_out


def test_p43_available_tools_with_valid_names_are_shown_once_in_the_order_of_their_names(
    root: Path,
) -> None:
    found = look(root)
    assert list(found.tools) == ["both", "only"] and found.tools["both"].scope == "project_tools"


def test_p43_each_that_is_left_out_has_its_reason(root: Path) -> None:
    bad, both, idle = look(root).left_out
    assert "bad name!" in bad and "tool-bad" in bad and "it has no implementation" in idle
    assert (
        both
        == "both of things is left out: project_tools has a tool of the same name and comes first"
    )


def test_p43_what_another_hides_is_said_only_where_it_is_asked_for(root: Path) -> None:
    hidden = "both of things is left out: project_tools has a tool of the same name and comes first"
    assert hidden in look(root, kits=("things",)).left_out
    assert hidden not in (
        *look(root, kits=("project_tools",)).left_out,
        *look(root, names=("only",)).left_out,
    )


def test_a_tool_without_an_implementation_is_shown_where_this_process_has_one(root: Path) -> None:
    assert "idle" in look(root, registered="idle").tools


@pytest.mark.parametrize(
    ("selection", "names"),
    [
        ({"kits": ("things",)}, ["only"]),
        ({"kits": ("project_tools",)}, ["both"]),
        ({"names": ("only",)}, ["only"]),
        ({"names": ("tool-both",)}, ["both"]),
        ({"read_only": True}, ["both"]),
    ],
)
def test_kits_names_and_read_only_narrow_it(
    root: Path, selection: dict[str, Any], names: list[str]
) -> None:
    assert list(look(root, **selection).tools) == names


def test_what_is_asked_for_by_name_and_not_there_is_said(root: Path) -> None:
    assert any("nowhere" in sentence for sentence in look(root, kits=("nowhere",)).left_out)
    assert any("'nothing'" in sentence for sentence in look(root, names=("nothing",)).left_out)


def test_p1_nothing_of_an_untrusted_project_is_shown_and_of_one_with_a_trusted_tool_only_that(
    root: Path,
) -> None:
    gate.untrust(root)
    with pytest.raises(NotTrusted):
        look(root)
    gate.trust_tool(root, "tool-both")
    assert list(look(root).tools) == ["both"]
