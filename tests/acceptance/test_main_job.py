"""The main job as a user does it: real processes, from an empty directory; runs against the wheel too."""

import json
from pathlib import Path
from typing import Any

from tests.support.ondisk import vespe


def run(cwd: Path, *arguments: str, code: int = 0) -> Any:
    """Run one command with --json and give its document; its exit code must be `code`."""
    done = vespe(*arguments, "--json", cwd=cwd)
    assert done.returncode == code, done.stderr + done.stdout
    return json.loads(done.stdout)


def test_from_an_empty_directory_to_a_tool_run(home: Path, tmp_path: Path) -> None:
    assert run(tmp_path, "init")["made"] is True
    assert run(tmp_path, "tool", "list") == {"tools": []}
    assert run(tmp_path, "kit", "activate", "file_io_without_git") == {"active_kits": ["file_io_without_git"]}
    written = run(tmp_path, "tool", "run", "write_file", "path=hello.txt", "content=hi")
    assert (written["ok"], written["result"]["bytes"]) == (True, 2)
    assert (tmp_path / "hello.txt").read_text(encoding="utf-8") == "hi"
    assert [t["name"] for t in run(tmp_path, "tool", "list")["tools"]] == [
        "edit_file",
        "list_directory",
        "read_file",
        "search_text",
        "write_file",
    ]


def test_three_types_of_tools_are_made_and_two_run_at_once(home: Path, tmp_path: Path) -> None:
    run(tmp_path, "init")
    for kind in ("python_script", "shell_command", "http_request"):
        assert run(tmp_path, "tool", "create", kind, "--type", kind)["uid"].startswith("tool-")
    assert run(tmp_path, "tool", "run", "python_script")["ok"]
    assert run(tmp_path, "tool", "run", "shell_command")["ok"]
    assert run(tmp_path, "tool", "run", "python_script", code=0)["uid"] == run(tmp_path, "tool", "resolve", "python_script")["uid"]


def test_exit_codes_are_those_of_the_contract(home: Path, tmp_path: Path) -> None:
    assert run(tmp_path, "tool", "list", code=3)["error"]["code"] == "project_not_found"
    run(tmp_path, "init")
    run(tmp_path, "kit", "activate", "file_io_without_git")
    assert run(tmp_path, "tool", "run", "read_file", "path=missing", code=1)["error"]["code"] == "tool_error"
    assert run(tmp_path, "tool", "lst", code=2)["error"]["code"] == "usage"
    assert run(tmp_path, "tool", "run", "nothing", code=3)["error"]["code"] == "tool_not_found"
    assert run(tmp_path, "tool", "run", "read_file", code=5)["error"]["code"] == "invalid_arguments"
    assert run(tmp_path, "tool", "run", "read_file", "path=../x", code=5)["error"]["retryable"] is True
    (tmp_path / ".vespe/config.json").write_text("{", encoding="utf-8")
    assert run(tmp_path, "tool", "list", code=4)["error"]["line"] == 1


def test_every_tool_that_ships_passes_its_examples(home: Path, tmp_path: Path) -> None:
    run(tmp_path, "init")
    kits = [kit["kit_id"] for kit in run(tmp_path, "kit", "list")["kits"]]
    for kit_id in kits:
        run(tmp_path, "kit", "activate", kit_id)
        summary = run(tmp_path, "tool", "test")["summary"]
        assert summary["failed"] == 0 and summary["tools"] >= 5 and summary["without_examples"] == []
        run(tmp_path, "kit", "deactivate", kit_id)


def test_a_script_named_like_the_standard_librarys_is_never_imported(home: Path, tmp_path: Path) -> None:
    for name in ("json.py", "vespe.py", "sitecustomize.py", "click.py"):
        (tmp_path / name).write_text("raise SystemExit('imported')\n", encoding="utf-8")
    done = vespe("tool", "list", cwd=tmp_path, env={"PYTHONSAFEPATH": "1"})
    assert done.returncode == 3 and "imported" not in done.stderr
