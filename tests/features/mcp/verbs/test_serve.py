"""`vespe mcp serve`."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.ondisk import python_tool, vespe
from tests.support.stdio_client import served


def test_options_narrow_what_is_served(project: Path) -> None:
    python_tool(project / ".vespe/tools/tool-own", "own", "return 1")
    assert vespe("kit", "activate", "file_io_without_git", cwd=project).returncode == 0
    with served(project, "--kit", "file_io_without_git", "--read-only") as client:
        names = client.names()
        assert "read_file" in names and "write_file" not in names and "own" not in names
        assert client.answer("tools/call", {"name": "own"})["error"]["code"] == -32602


def test_p43_what_is_left_out_and_why_is_said_on_stderr_now_and_later(project: Path) -> None:
    broken = python_tool(project / ".vespe/tools/tool-broken", "broken", "return 1")
    (broken / "main.py").unlink()
    with served(project, stderr=subprocess.PIPE) as client:
        client.hello()
        python_tool(project / ".vespe/tools/tool-poison", "poison\x1b[2J", "return 1")
        python_tool(project / ".vespe/tools/tool-good", "good", "return 1")
        assert client.read()["method"] == "notifications/tools/list_changed" and client.names() == [
            "good"
        ]
        client.close()
        assert client.process.stderr is not None
        said = client.process.stderr.read().decode()
    assert "broken is left out" in said and "tool-poison" in said and "\x1b" not in said


def test_p1_an_untrusted_project_is_6_and_says_nothing_on_stdout(
    project: Path, tmp_path: Path
) -> None:
    python_tool(project / ".vespe/tools/tool-own", "own", "return 1")
    shutil.copytree(project, tmp_path / "clone")
    done = vespe("mcp", "serve", cwd=tmp_path / "clone")
    assert (done.returncode, done.stdout) == (6, "") and "vespe trust" in done.stderr


def test_p2_bytes_that_change_while_it_serves_are_not_run(project: Path, tmp_path: Path) -> None:
    tool = python_tool(project / ".vespe/tools/tool-own", "own", "return 'approved'")
    clone = Path(shutil.copytree(project, tmp_path / "clone"))
    assert vespe("trust", "--yes", cwd=clone).returncode == 0
    with served(clone) as client:
        assert client.call("own")["content"][0]["text"] == "approved"
        (clone / tool.relative_to(project) / "main.py").write_text(
            "def own(**inputs):\n    return 'other'\n", encoding="utf-8"
        )
        refused = client.answer("tools/call", {"name": "own"})["error"]
        assert (
            refused["data"]["code"] == "not_trusted"
            and "main.py" in refused["message"]
            and client.names() == []
        )


def test_there_is_no_project_here_is_3(home: Path, tmp_path: Path) -> None:
    assert vespe("mcp", "serve", cwd=tmp_path).returncode == 3


def test_serving_is_in_the_help(command: Callable[..., Any]) -> None:
    assert "--read-only" in command("mcp", "serve", "--help").out


def test_a_client_that_closed_stderr_is_served_all_the_same(project: Path) -> None:
    with served(project, stderr=subprocess.PIPE) as client:
        client.hello()
        assert client.process.stderr is not None
        client.process.stderr.close()
        python_tool(project / ".vespe/tools/tool-poison", "not a name", "return 1")
        python_tool(project / ".vespe/tools/tool-good", "good", "return 1")
        assert client.read()["method"] == "notifications/tools/list_changed" and client.names() == [
            "good"
        ]


def test_b3_what_a_rule_of_the_user_denies_or_asks_for_is_not_served_unless_it_is_allowed(
    project: Path,
) -> None:
    assert vespe("kit", "activate", "file_io_without_git", cwd=project).returncode == 0
    assert vespe("config", "set", "approvals.deny", '["write_file"]', cwd=project).returncode == 0
    assert vespe("config", "set", "approvals.ask", '["edit_file"]', cwd=project).returncode == 0
    for options, shown in (((), False), (("--ask", "allow"), True)):
        with served(project, *options) as client:
            names = client.names()
            assert (
                "read_file" in names
                and "write_file" not in names
                and ("edit_file" in names) is shown
            )
            answer = client.answer(
                "tools/call",
                {"name": "write_file", "arguments": {"path": "denied.txt", "content": "x"}},
            )
            assert "error" in answer and not (project / "denied.txt").exists()
