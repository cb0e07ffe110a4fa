"""One tool in another's place: whether callers find the same contract."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool, write_kit
from vespe.projects.substitutions import substitutions
from vespe.projects.workspace import open_workspace

TEXT = {"type": "object", "properties": {"a": {"type": "string"}}}
NUMBER = {"type": "object", "properties": {"a": {"type": "number"}}}


@pytest.fixture
def stocked(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VESPE_KITS_PATH", str(tmp_path / "kits"))
    kit = write_kit(tmp_path / "kits", "mine")
    for name in ("same", "other", "alone"):
        python_tool(kit / f"tool-{name}", name, "return 1", schema=TEXT)
    (project / ".vespe/config.json").write_text('{"active_kits": ["mine"]}', encoding="utf-8")
    return project


def found(project: Path, **more: Any) -> list[tuple[str, str]]:
    return [
        (one.name, one.verdict) for one in substitutions(open_workspace(project).scopes, **more)
    ]


def test_a_tool_with_the_same_schemas_keeps_the_contract_whatever_it_runs(stocked: Path) -> None:
    python_tool(
        stocked / ".vespe/tools/tool-mine", "same", "return 2", schema=TEXT, description="Another."
    )
    python_tool(stocked / ".vespe/tools/tool-mine2", "other", "return 2", schema=NUMBER)
    assert found(stocked) == [("other", "breaking"), ("same", "compatible")]


def test_a_substitution_says_who_stands_for_whom_and_why_it_breaks(stocked: Path) -> None:
    python_tool(stocked / ".vespe/tools/tool-mine", "other", "return 2", schema=NUMBER)
    said = str(substitutions(open_workspace(stocked).scopes)[0])
    assert (
        "other of project_tools shadows that of mine and is not compatible with it "
        "(/schema/input/properties/a/type: only number" in said
    )


def test_only_the_scopes_asked_about_are_judged_and_broken_tools_are_not(
    stocked: Path, tmp_path: Path
) -> None:
    python_tool(stocked / ".vespe/tools/tool-mine", "same", "return 2", schema=TEXT)
    assert (
        found(stocked, about=["mine"]) == [("same", "compatible")]
        and found(stocked, about=["none"]) == []
    )
    (tmp_path / "kits/mine/tool-same/main.py").unlink()
    assert found(stocked) == []
