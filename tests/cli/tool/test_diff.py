"""`vespe tool diff`."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool

Command = Callable[..., Any]
TEXT, WHOLE = (
    {"type": "object", "properties": {"a": {"type": kind}}} for kind in ("string", "integer")
)


@pytest.fixture
def versions(tmp_path: Path) -> dict[str, str]:
    schemas: dict[str, Any] = {
        "old": TEXT,
        "worse": WHOLE,
        "wider": {"type": "object", "properties": {"a": {}}},
    }
    return {
        name: str(python_tool(tmp_path / name / "tool-t", "t", "return 1", schema=schema))
        for name, schema in schemas.items()
    }


def test_a_breaking_change_is_exit_1_and_shows_what_callers_may_send(
    command: Command, versions: dict[str, str]
) -> None:
    said = command("tool", "diff", versions["old"], versions["worse"])
    assert (
        said.code == 1 and "breaking\tt\tinput\t/schema/input/properties/a/type (new)" in said.out
    )
    assert "1 breaking, 0 unknown, 0 compatible" in said.err


def test_compatible_and_unknown_changes_are_exit_0(
    command: Command, versions: dict[str, str]
) -> None:
    said = command("tool", "diff", versions["old"], versions["wider"], "--json")
    assert said.code == 0 and said.document["verdict"] == "compatible"
    Path(versions["wider"], "main.py").write_text(
        "def t(**inputs):\n    return 2\n", encoding="utf-8"
    )
    said = command("tool", "diff", versions["old"], versions["wider"], "--json")
    assert said.code == 0 and said.document["verdict"] == "unknown"


def test_json_holds_each_change_with_its_place_and_an_example(
    command: Command, versions: dict[str, str]
) -> None:
    document = command("tool", "diff", versions["old"], versions["worse"], "--json").document
    (change,) = document["tools"][0]["changes"]
    assert {key: change[key] for key in ("part", "verdict", "pointer", "side")} == {
        "part": "input",
        "verdict": "breaking",
        "pointer": "/schema/input/properties/a/type",
        "side": "new",
    }
    assert isinstance(change["example"]["a"], str)
    assert document["summary"] == {"breaking": 1, "unknown": 0, "compatible": 0}


def test_nothing_changed_is_said(command: Command, versions: dict[str, str]) -> None:
    said = command("tool", "diff", versions["old"], versions["old"])
    assert said.code == 0 and said.out == "" and "nothing changed" in said.err


def test_a_git_revision_is_compared_with_what_is_there_now(command: Command, project: Path) -> None:
    directory = python_tool(project / ".vespe/tools/tool-t", "t", "return 1", schema=TEXT)
    for arguments in (
        ("init", "-q"),
        ("add", "-A"),
        ("-c", "user.name=T", "-c", "user.email=t@example.invalid", "commit", "-qm", "one"),
    ):
        subprocess.run(["git", *arguments], cwd=project, check=True)
    config = directory / "config.json"
    config.write_text(
        config.read_text(encoding="utf-8").replace('"string"', '"boolean"'), encoding="utf-8"
    )
    assert command("tool", "diff", "HEAD:.vespe/tools", ".vespe/tools").code == 1
    assert command("tool", "diff", "HEAD:.vespe/tools/tool-t", "HEAD:.vespe/tools/tool-t").code == 0


def test_what_is_neither_a_directory_nor_a_kit_nor_a_revision_is_said(command: Command) -> None:
    assert command("tool", "diff", "nowhere", "nowhere").code == 3


def committed(project: Path) -> Path:
    directory = python_tool(project / ".vespe/tools/tool-t", "t", "return 1", schema=TEXT)
    for arguments in (
        ("init", "-q"),
        ("add", "-A"),
        ("-c", "user.name=T", "-c", "user.email=t@example.invalid", "commit", "-qm", "one"),
    ):
        subprocess.run(["git", *arguments], cwd=project, check=True)
    return directory


def test_tools_are_named_as_everywhere(command: Command, project: Path) -> None:
    committed(project)
    python_tool(project / ".vespe/tools/tool-w", "w", "return 1", schema=WHOLE)
    assert command("tool", "diff", "t", "w").code == 1
    assert command("tool", "diff", "t", "t").code == 0


def test_a_name_means_the_tool_of_the_revision(command: Command, project: Path) -> None:
    config = committed(project) / "config.json"
    config.write_text(
        config.read_text(encoding="utf-8").replace('"string"', '"boolean"'), encoding="utf-8"
    )
    assert command("tool", "diff", "HEAD:t", "t").code == 1
    assert command("tool", "diff", "HEAD:t", "HEAD:t").code == 0


@pytest.mark.parametrize(
    ("old", "says"),
    [
        ("nowhere", "nowhere is not a tool, a kit or a directory"),
        ("HEAD:nowhere", "no tool nowhere in the revision HEAD"),
    ],
)
def test_a_name_of_nothing_says_what_may_be_written(
    command: Command, project: Path, old: str, says: str
) -> None:
    committed(project)
    said = command("tool", "diff", old, "t")
    assert said.code == 3 and says in said.err and "REV:" in said.err


def test_what_models_see_is_compared_with_the_last_commit(command: Command, project: Path) -> None:
    python_tool(project / ".vespe/tools/tool-t", "t", "return 1", schema=TEXT)
    for arguments in (
        ("init", "-q"),
        ("add", "-A"),
        ("-c", "user.name=T", "-c", "user.email=t@example.invalid", "commit", "-qm", "one"),
    ):
        subprocess.run(["git", *arguments], cwd=project, check=True)
    assert command("tool", "diff", "--as-models").code == 0
    assert command("tool", "expose", "t", "--as", "other").code == 0
    said = command("tool", "diff", "--as-models")
    assert said.code == 1 and "breaking\tother\tname\t/tools/t/as (new)" in said.out
    assert command("tool", "diff", "--as-models", "HEAD", "HEAD").code == 0


def test_without_two_versions_the_way_on_is_said(command: Command, project: Path) -> None:
    said = command("tool", "diff", "t")
    assert said.code == 2 and "OLD and NEW" in said.err and "--as-models" in said.err
