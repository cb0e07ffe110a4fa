"""A tool of an MCP server, run as every other tool is."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.mcp_servers import ByHand, definition
from vespe import errors
from vespe.models import Implementation, Tool
from vespe.tool_types import Context
from vespe.tools import mcp_definitions
from vespe.types.mcp_tool.execution import McpTool


def tool_of(server: ByHand, name: str = "echo", **args: Any) -> Tool:
    digest = mcp_definitions.digest(definition(name))
    implementation = Implementation(
        type="mcp_tool",
        entrypoint=name,
        args={"command": list(server.command), "digest": digest, **args},
    )
    return Tool(
        uid="tool-x",
        name=name,
        description="",
        input_schema={"type": "object"},
        implementation=implementation,
        kit_id="byhand",
    )


def context(tmp_path: Path) -> Context:
    return Context(
        project_root=str(tmp_path),
        directory=str(tmp_path),
        environment={"PATH": os.environ["PATH"]},
        timeout_s=30,
    )


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("echo", '{"a": 1}'),
        ("structured", {"n": 1}),
        ("nothing", ""),
        (
            "image",
            {
                "content": [
                    {"type": "text", "text": "a dot"},
                    {"type": "image", "data": "AA==", "mimeType": "image/png"},
                ]
            },
        ),
    ],
)
def test_a_result_is_its_text_its_structure_or_all_its_blocks(
    name: str, result: object, tmp_path: Path
) -> None:
    server = ByHand(tmp_path / "s", definition(name))
    assert McpTool().execute(tool_of(server, name), {"a": 1}, context(tmp_path)).result == result


def test_a_tool_that_says_that_it_failed_is_an_error_in_its_words(tmp_path: Path) -> None:
    server = ByHand(tmp_path / "s", definition("fails"))
    with pytest.raises(errors.ToolExecutionError, match="no such city"):
        McpTool().execute(tool_of(server, "fails"), {}, context(tmp_path))


def test_a_plan_says_what_would_start_and_keeps_secrets_unsaid(tmp_path: Path) -> None:
    tool = tool_of(ByHand(tmp_path / "s"), headers={"Authorization": "Bearer ${env:TOKEN}"})
    plan = McpTool().plan(tool, {"text": "hi"}, context(tmp_path))
    assert plan["entrypoint"] == "echo" and plan["arguments"] == {"text": "hi"}
    assert plan["headers"] == {"Authorization": "Bearer ${env:TOKEN}"}


def test_a_secret_that_is_missing_never_becomes_an_empty_header(tmp_path: Path) -> None:
    with pytest.raises(errors.Refused):
        McpTool().execute(
            tool_of(ByHand(tmp_path / "s"), headers={"X": "${env:TOKEN}"}), {}, context(tmp_path)
        )


def test_a_tool_without_an_implementation_is_none_of_ours(tmp_path: Path) -> None:
    bare = Tool(uid="tool-x", name="x", description="", input_schema={"type": "object"})
    with pytest.raises(errors.InvalidTool):
        McpTool().plan(bare, {}, context(tmp_path))
