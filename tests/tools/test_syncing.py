"""Schemas derived again from functions."""

from pathlib import Path

import pytest

from tests.support.ondisk import python_tool, write_tool
from vespe.errors import InvalidDocument, UsageError
from vespe.tools import authoring, directory, syncing

SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}


def test_a_schema_that_says_what_its_function_takes_stays(tmp_path: Path) -> None:
    tool = directory.load(
        python_tool(tmp_path / "tool-a", "a", "return n", params="n: int", schema=SCHEMA)
    )
    assert syncing.derived_config(tool)["schema"]["input"]["properties"] == SCHEMA["properties"]


def test_what_a_person_wrote_stays_and_members_keep_their_order(tmp_path: Path) -> None:
    own = {"description": "how many", "type": "integer", "minimum": 1}
    schema = {**SCHEMA, "properties": {"n": own}}
    tool = directory.load(
        python_tool(tmp_path / "tool-a", "a", "return n", params="n: int", schema=schema)
    )
    kept = syncing.derived_config(tool)["schema"]["input"]["properties"]["n"]
    assert kept == own and list(kept) == list(own)


def test_fixed_arguments_are_no_inputs(tmp_path: Path) -> None:
    details = {"type": "python_script", "path": "main.py", "entrypoint": "a", "args": {"k": 1}}
    path = write_tool(
        tmp_path / "tool-a",
        "a",
        implementation=details,
        files={"main.py": "def a(n: int, k: int):\n    return n\n"},
    )
    assert list(syncing.derived_config(directory.load(path))["schema"]["input"]["properties"]) == [
        "n"
    ]


def test_a_tool_of_another_type_is_refused(tmp_path: Path) -> None:
    tool = directory.load(
        write_tool(
            tmp_path / "tool-a", "a", implementation={"type": "shell_command", "entrypoint": "cat"}
        )
    )
    with pytest.raises(UsageError, match="not a Python script"):
        syncing.derived_config(tool)


def test_a_config_that_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = python_tool(tmp_path / "tool-a", "a", "return 1")
    tool = directory.load(path)
    (path / "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InvalidDocument, match="changed"):
        authoring.write_config(tool, tool.document)
