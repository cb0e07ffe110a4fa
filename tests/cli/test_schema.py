"""`vespe schema`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vespe.schemas import published

Command = Callable[..., Any]


@pytest.mark.parametrize("name", published.NAMES)
def test_a_schema_is_printed_whole(command: Command, name: str) -> None:
    said = command("schema", name)
    assert said.code == 0 and json.loads(said.out) == published.read_published(name)


def test_without_a_name_all_are_listed(command: Command) -> None:
    assert [row["name"] for row in command("schema", "--json").document["schemas"]] == list(
        published.NAMES
    )
    assert all(name in command("schema").out for name in published.NAMES)


def test_a_name_that_does_not_exist_is_refused(command: Command) -> None:
    assert command("schema", "tools").code == 2
    assert command("schema", "tool", "--write").code == 2


def test_a_tool_made_after_write_names_its_schema_and_runs(command: Command, project: Path) -> None:
    assert command("schema", "--write").code == 0
    path = Path(
        command("tool", "create", "greet", "--type", "python_script", "--json").document["path"]
    )
    named = json.loads((path / "config.json").read_text(encoding="utf-8"))["$schema"]
    assert (path / named).resolve() == project.resolve() / ".vespe" / "schemas" / "tool.schema.json"
    assert command("tool", "run", "greet").code == 0 and command("lint").code == 0


def test_a_tool_made_without_write_names_none(command: Command, project: Path) -> None:
    path = Path(
        command("tool", "create", "greet", "--type", "python_script", "--json").document["path"]
    )
    assert "$schema" not in json.loads((path / "config.json").read_text(encoding="utf-8"))


def test_a_directory_of_schemas_that_is_a_link_is_not_written_through(
    command: Command, project: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    schemas = project / ".vespe" / "schemas"
    schemas.symlink_to(elsewhere)
    assert command("schema", "--write").code and not list(elsewhere.iterdir())
    schemas.unlink()
    schemas.mkdir()
    assert command("schema", "--write").code == 0 and (schemas / "tool.schema.json").is_file()
