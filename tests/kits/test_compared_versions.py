"""Versions of tools matched and compared: single tools, directories of tools, kits, and what is
gone or new.
"""

from pathlib import Path

import pytest

from tests.support.ondisk import python_tool, write_kit
from vespe.errors import InvalidTool, NotFound
from vespe.kits.compared_versions import compare


def verdicts(old: Path | str, new: Path | str) -> list[tuple[str, str, str]]:
    return [
        (one.tool, change.part, change.verdict)
        for one in compare(str(old), str(new))
        for change in one.changes
    ]


def test_two_tools_are_compared_whatever_they_are_called(tmp_path: Path) -> None:
    old = python_tool(tmp_path / "tool-a", "a", "return 1", params="", description="d")
    new = python_tool(tmp_path / "tool-b", "b", "return 1", params="", description="d")
    assert ("b", "name", "breaking") in verdicts(old, new)


def test_a_script_that_differs_is_unknown_and_one_that_does_not_is_no_change(
    tmp_path: Path,
) -> None:
    one, same, other = (
        python_tool(tmp_path / name / "tool-a", "a", body)
        for name, body in (("1", "return 1"), ("2", "return 1"), ("3", "return 2"))
    )
    assert verdicts(one, same) == []
    assert verdicts(one, other) == [("a", "command", "unknown")]
    (change,) = compare(str(one), str(other))[0].changes
    assert change.message.startswith("the implementation changed (main.py), and its effect")


def test_what_changed_of_an_implementation_is_a_place_in_config_json(tmp_path: Path) -> None:
    old, new = (
        python_tool(tmp_path / at / "tool-a", "a", "return 1", permissions={}) for at in "on"
    )
    config = new / "config.json"
    said = config.read_text(encoding="utf-8").replace('"entrypoint": "a"', '"entrypoint": "b"')
    config.write_text(said, encoding="utf-8")
    (change,) = compare(str(old), str(new))[0].changes
    assert "(/implementation_details/entrypoint)" in change.message


def test_in_a_set_tools_are_matched_by_name_then_by_uid(tmp_path: Path) -> None:
    for uid, name in (("tool-1", "stays"), ("tool-2", "before"), ("tool-3", "gone")):
        python_tool(tmp_path / "old" / uid, name, "return 1", params="", description="d")
    for uid, name in (("tool-9", "stays"), ("tool-2", "after"), ("tool-4", "fresh")):
        python_tool(tmp_path / "new" / uid, name, "return 1", params="", description="d")
    found = {
        (tool, part, verdict)
        for tool, part, verdict in verdicts(tmp_path / "old", tmp_path / "new")
        if part != "command"
    }
    assert found == {
        ("gone", "tool", "breaking"),
        ("fresh", "tool", "compatible"),
        ("after", "name", "breaking"),
    }


def test_kits_are_named_by_their_id(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VESPE_KITS_PATH", str(tmp_path / "kits"))
    for kit_id in ("one", "two"):
        write_kit(tmp_path / "kits", kit_id)
    python_tool(tmp_path / "kits/two/tool-a", "a", "return 1")
    assert verdicts("one", "two") == [("a", "tool", "compatible")]
    assert verdicts(tmp_path / "kits/two", "one") == [("a", "tool", "breaking")]


def test_a_project_stands_for_its_own_tools(project: Path, tmp_path: Path) -> None:
    python_tool(project / ".vespe/tools/tool-a", "a", "return 1")
    assert (
        verdicts(project, project / ".vespe") == []
        and verdicts(project, project / ".vespe/tools") == []
    )


def test_what_is_not_there_or_cannot_be_read_is_said(tmp_path: Path, home: Path) -> None:
    (tmp_path / "tool-x").mkdir()
    (tmp_path / "tool-x/config.json").write_text("{", encoding="utf-8")
    (tmp_path / "empty").mkdir()
    for name, error in (
        ("nowhere", NotFound),
        ("Not/a-kit", NotFound),
        ("empty", InvalidTool),
        ("tool-x", InvalidTool),
    ):
        with pytest.raises(error):
            compare(name, name, cwd=str(tmp_path))
