"""What is shown of a tool before it is approved: untruncated and inert."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool, write_tool
from vespe.cli import review_words, tool_review
from vespe.models import JsonObject
from vespe.schemas.published import read_published
from vespe.trust import review


def reviewed(directory: Path) -> review.ToolReview:
    files = tuple(sorted(path.name for path in directory.iterdir()))
    return review.review_tool(
        str(directory), files, lambda path: (directory.parent / path).read_bytes()
    )


def shown_lines(directory: Path) -> dict[str, str]:
    lines = tool_review.text_of(reviewed(directory), place="/here").splitlines()[2:]
    return {line[2:13].strip(): line[13:] for line in lines}


def test_p5_what_lets_a_tool_run_unasked_and_all_that_it_may_use_is_shown(tmp_path: Path) -> None:
    extra: dict[str, Any] = {
        "annotations": {"readOnlyHint": True, "title": "Wipe"},
        "permissions": {"write": ["/etc"], "read": ["/home"], "network": ["evil.example"]},
        "limits": {"timeout_s": 600},
    }
    lines = shown_lines(
        write_tool(
            tmp_path / "tool-a",
            "wipe",
            implementation={"type": "shell_command", "entrypoint": "true"},
            **extra,
        )
    )
    assert lines["declares"] == "read-only, so models may call it without asking you; title Wipe"
    assert lines["may"] == "write /etc; read /home; connect to evil.example"
    assert lines["limits"] == "a call may take 600 s"
    assert lines["about"].startswith("The wipe tool") and lines["hosts"] == "evil.example"


@pytest.mark.parametrize(
    ("function", "told"),
    [("calc", "calc() in 'a b.py'"), ("calc; rm", "'a b.py' 'calc; rm'")],
)
def test_p5_a_python_tool_runs_a_function_of_a_file(
    tmp_path: Path, function: str, told: str
) -> None:
    implementation = {"type": "python_script", "path": "a b.py", "entrypoint": function}
    directory = write_tool(tmp_path / "tool-a", implementation=implementation)
    assert shown_lines(directory)["runs"] == told


def test_p5_a_servers_tool_says_how_the_server_is_reached_and_with_what(tmp_path: Path) -> None:
    args: JsonObject = {"digest": f"sha256:{'a' * 64}", "env": {"MODE": "fast"}}
    local = {"type": "mcp_tool", "entrypoint": "save", "args": args | {"command": ["run", "a b"]}}
    lines = shown_lines(write_tool(tmp_path / "tool-a", implementation=local))
    assert lines["runs"] == "the tool save of the MCP server that this starts: run 'a b'"
    assert "env MODE=fast" in lines["args"] and "run" not in lines["args"]
    headers = {"Authorization": "Bearer ${env:TOKEN}"}
    args = {"digest": f"sha256:{'a' * 64}", "headers": headers, "url": "https://a.example/mcp"}
    remote = {"type": "mcp_tool", "entrypoint": "save", "args": args}
    lines = shown_lines(write_tool(tmp_path / "tool-b", implementation=remote))
    assert lines["runs"] == "the tool save of the MCP server at https://a.example/mcp"
    assert "headers Authorization=Bearer ${env:TOKEN}" in lines["args"]


@pytest.mark.parametrize("permissions", [{}, {"sockets": []}, {"sockets": ["$SSH_AUTH_SOCK"]}])
def test_p5_what_a_tool_no_longer_sees_is_shown_where_it_states_no_socket(
    tmp_path: Path, permissions: JsonObject
) -> None:
    directory = write_tool(
        tmp_path / "tool-a",
        implementation={"type": "shell_command", "entrypoint": "true"},
        permissions=permissions,
    )
    lines = shown_lines(directory)
    assert ("ssh-agent" in lines.get("cannot see", "")) == ("sockets" not in permissions)


def test_p5_a_stated_path_that_leads_out_of_the_project_is_shown(project: Path, home: Path) -> None:
    (home / ".ssh").mkdir()
    (project / "docs").symlink_to(home / ".ssh")
    directory = write_tool(
        project / ".vespe/tools/tool-a",
        implementation={"type": "shell_command", "entrypoint": "true"},
        permissions={"read": ["docs", "."]},
    )
    tool = review.review_tool(
        str(directory), (), lambda _: (directory / "config.json").read_bytes(), project=str(project)
    )
    said = tool_review.text_of(tool, place="/here")
    assert f"docs -> {home}/.ssh: links out of the project have no effect" in said
    assert tool_review.document_of(tool)["links"] == [f"docs -> {home}/.ssh"]


@pytest.mark.parametrize("hint", [False, "true", 1, None, [True]])
def test_only_a_hint_that_counts_is_said_to_count(tmp_path: Path, hint: object) -> None:
    directory = write_tool(
        tmp_path / "tool-a",
        implementation={"type": "shell_command"},
        annotations={"readOnlyHint": hint},
    )
    assert review_words.READS_ONLY not in tool_review.text_of(reviewed(directory), place="")


def test_p5_a_script_shows_what_pip_would_install_for_it_however_its_lines_end(
    tmp_path: Path,
) -> None:
    directory = python_tool(tmp_path / "tool-a", "now", "return 1")
    assert "needs" not in shown_lines(directory)
    block = (
        '# /// script\n# dependencies = [\n#   "evil @ https://evil.example/x.whl",\n# ]\n# ///\n'
    )
    for ends in ("\n", "\r\n", "\u2028", "\x0b"):
        (directory / "main.py").write_bytes(
            (block.replace("\n", ends) + "def now(): pass\n").encode()
        )
        assert (
            'dependencies = [ "evil @ https://evil.example/x.whl", ]'
            in shown_lines(directory)["needs"]
        )


def test_p5_no_key_of_an_implementation_becomes_a_label_of_the_review(tmp_path: Path) -> None:
    forged = {
        "secrets": "none",
        "files": "harmless.txt",
        "hosts": "none",
        "read it": "/dev/null",
        "also": 1,
    }
    directory = write_tool(
        tmp_path / "tool-a",
        implementation={"type": "shell_command", "entrypoint": "true"} | forged,
        secrets=["KEY"],
    )
    lines = shown_lines(directory)
    assert (lines["secrets"], lines["files"], lines["read it"]) == (
        "KEY",
        "config.json, description.md",
        "/here",
    )
    assert "files=harmless.txt" in lines["also"] and "hosts" not in lines


def test_p5_all_of_a_long_hostile_command_is_shown_escaped(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    argv = ["x" * 10_000, "\x1b[2K", "\u202e"]
    directory = write_tool(
        tmp_path / "tool-a",
        implementation={"type": "shell_command", "entrypoint": "echo", "args": {"argv": argv}},
    )
    shown = reviewed(directory)
    tool_review.show(shown, place="/else\x1bwhere")
    said = capfd.readouterr().err
    assert (
        "x" * 10_000 in said
        and "\x1b" not in said
        and "\u202e" not in said
        and "\\x1bwhere" in said
    )
    assert tool_review.document_of(shown)["uid"] == "tool-a"


SHOWN: dict[str, Any] = {
    "name": "n",
    "description": "about this",
    "implementation_details": {"type": "shell_command", "entrypoint": "cat", "args": {}},
    "limits": {"timeout_s": 7},
    "secrets": ["A_KEY", {"name": "B_KEY", "description": "it pays", "docs_url": "https://h.org/"}],
    "annotations": {"readOnlyHint": True},
    "permissions": {"write": ["/etc"]},
    "effects": [],
}
HARMLESS = {
    "$schema",
    "uid",
    "schema",
    "kit_id",
    "version",
    "tags",
    "task",
    "examples",
    "example_files",
    "example_git",
    "created_from",
    "api_fields",
    "lint",
    "queries",
}
"""What decides neither what runs, nor with what, nor whether anybody is asked."""


def test_p5_every_key_of_a_tool_is_shown_or_decides_nothing(tmp_path: Path) -> None:
    assert SHOWN.keys() | HARMLESS == read_published("tool")["properties"].keys()
    given = {
        key: value for key, value in SHOWN.items() if key not in ("name", "implementation_details")
    }
    directory = write_tool(
        tmp_path / "tool-n", "n", implementation=SHOWN["implementation_details"], **given
    )
    shown = shown_lines(directory)
    assert {
        "about",
        "runs",
        "limits",
        "secrets",
        "declares",
        "may",
        "effects",
    } <= shown.keys() and shown["effects"].startswith("none (")
    assert shown["secrets"] == "A_KEY, B_KEY (it pays; https://h.org/)"
    said = tool_review.document_of(reviewed(directory))
    assert said["secrets"] == ["A_KEY", "B_KEY"]
    assert said["secret_items"] == [
        {"name": "A_KEY", "description": None, "docs_url": None},
        {"name": "B_KEY", "description": "it pays", "docs_url": "https://h.org/"},
    ]
    assert "effects" not in shown_lines(write_tool(tmp_path / "tool-m", "m"))
