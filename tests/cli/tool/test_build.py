"""`vespe tool build`: from a source to a module that runs, for tools of a project and of a kit."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.compilers import needs_rust, stand_in

Command = Callable[..., Any]


@pytest.fixture
def tool(command: Command, project: Path) -> Path:
    return Path(
        command("tool", "create", "counts", "--type", "rust_function", "--json").document["path"]
    )


def test_lint_says_that_a_tool_is_not_compiled_then_nothing_then_that_its_source_changed(
    command: Command, tool: Path, tmp_path: Path
) -> None:
    compiler = stand_in(tmp_path)
    assert "layout-build" in command("lint").out and command("tool", "run", "counts").code == 1
    assert (
        command("tool", "build", "counts", "--compiler", compiler).code == 0
        and "layout-build" not in command("lint").out
    )
    (tool / "src" / "tool.rs").write_text("// changed\n", encoding="utf-8")
    assert "src/tool.rs was changed" in command("lint").out


def test_check_writes_nothing_and_is_exit_1_where_the_module_is_another(
    command: Command, tool: Path, tmp_path: Path
) -> None:
    compiler = stand_in(tmp_path)
    assert (
        command("tool", "build", "--check", "--compiler", compiler).code == 1
        and not (tool / "tool.wasm").exists()
    )
    command("tool", "build", "--compiler", compiler)
    assert command("tool", "build", "--check", "--compiler", compiler).code == 0
    (tool / "tool.wasm").write_bytes(b"other")
    assert command("tool", "build", "--check", "--compiler", compiler).code == 1


def test_json_tells_what_was_built_and_from_what(
    command: Command, tool: Path, tmp_path: Path
) -> None:
    (row,) = command(
        "tool", "build", "counts", "--compiler", stand_in(tmp_path), "--json"
    ).document["tools"]
    assert row["path"] == str(tool / "tool.wasm") and set(row["sources"]) == {
        "src/tool.rs",
        "src/vespe.rs",
    }
    assert json.loads((tool / "build.json").read_text(encoding="utf-8"))["module"] == row["module"]


def test_in_a_project_that_is_not_trusted_nothing_is_compiled(
    command: Command, tool: Path, tmp_path: Path
) -> None:
    """A build runs what a Cargo.toml names."""
    command("untrust")
    assert (
        command("tool", "build", "counts", "--compiler", stand_in(tmp_path)).code == 6
        and not (tool / "tool.wasm").exists()
    )
    assert command("tool", "build", "counts", "--compiler", stand_in(tmp_path), "--trust").code == 0


def test_what_has_no_source_is_refused_by_name_and_left_out_without(
    command: Command, project: Path
) -> None:
    command("tool", "create", "say", "--type", "shell_command")
    assert command("tool", "build", "say").code == 2 and command("tool", "build").code == 0


def test_the_tools_of_a_kit_that_one_edits_are_built_where_they_are(
    command: Command, project: Path, tmp_path: Path
) -> None:
    command("kit", "create", "mine", "--in", str(tmp_path))
    config = json.loads((tmp_path / "mine" / "kit_config.json").read_text(encoding="utf-8"))
    config["allow_types"].append("rust_function")
    (tmp_path / "mine" / "kit_config.json").write_text(json.dumps(config), encoding="utf-8")
    command("tool", "create", "counts", "--type", "rust_function", "--kit", str(tmp_path / "mine"))
    assert (
        command(
            "tool",
            "build",
            "counts",
            "--kit",
            str(tmp_path / "mine"),
            "--compiler",
            stand_in(tmp_path),
        ).code
        == 0
    )
    assert (
        list((tmp_path / "mine").glob("*/tool.wasm"))
        and command("tool", "build", "--kit", str(tmp_path)).code == 2
    )


@needs_rust
def test_a_person_who_never_wrote_rust_makes_changes_and_runs_a_tool(
    command: Command, tool: Path
) -> None:
    source = tool / "src" / "tool.rs"
    source.write_text(
        source.read_text(encoding="utf-8").replace("text.lines().count().into()", "102.into()"),
        encoding="utf-8",
    )
    assert command("tool", "build", "counts").code == 0
    assert command(
        "tool", "run", "counts", "--args", '{"text": "grüß dich\\n\\u0041"}', "--json"
    ).document["result"] == {
        "characters": 11,
        "words": 3,
        "lines": 102,
    }
