"""The main job as a user does it: real processes, from an empty directory; runs against the wheel
too.
"""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import vespe


@pytest.fixture
def empty(home: Path, tmp_path: Path) -> Path:
    """An empty directory that does not hold the user's home."""
    (tmp_path / "empty").mkdir()
    return tmp_path / "empty"


def run(cwd: Path, *arguments: str, code: int = 0) -> Any:
    """Run one command with --json and give its document; its exit code must be `code`."""
    done = vespe(*arguments, "--json", cwd=cwd)
    assert done.returncode == code, done.stderr + done.stdout
    return json.loads(done.stdout)


def test_from_an_empty_directory_to_a_tool_run(empty: Path) -> None:
    assert run(empty, "init")["made"] is True
    assert run(empty, "tool", "list") == {"tools": []}
    assert run(empty, "kit", "activate", "file_io_without_git") == {
        "active_kits": ["file_io_without_git"]
    }
    written = run(empty, "tool", "run", "write_file", "path=hello.txt", "content=hi")
    assert (written["ok"], written["result"]["bytes"]) == (True, 2)
    assert (empty / "hello.txt").read_text(encoding="utf-8") == "hi"
    assert [t["name"] for t in run(empty, "tool", "list")["tools"]] == [
        "edit_file",
        "list_directory",
        "read_file",
        "search_text",
        "write_file",
    ]


def test_three_types_of_tools_are_made_and_two_run_at_once(empty: Path) -> None:
    run(empty, "init")
    for kind in ("python_script", "shell_command", "http_request"):
        assert run(empty, "tool", "create", kind, "--type", kind)["uid"].startswith("tool-")
    assert run(empty, "tool", "run", "python_script")["ok"]
    assert run(empty, "tool", "run", "shell_command")["ok"]
    assert (
        run(empty, "tool", "run", "python_script", code=0)["uid"]
        == run(empty, "tool", "resolve", "python_script")["uid"]
    )


def test_exit_codes_are_those_of_the_contract(empty: Path) -> None:
    assert run(empty, "tool", "list", code=3)["error"]["code"] == "project_not_found"
    run(empty, "init")
    run(empty, "kit", "activate", "file_io_without_git")
    assert (
        run(empty, "tool", "run", "read_file", "path=missing", code=1)["error"]["code"]
        == "tool_error"
    )
    assert run(empty, "tool", "lst", code=2)["error"]["code"] == "usage"
    assert run(empty, "tool", "run", "nothing", code=3)["error"]["code"] == "tool_not_found"
    assert run(empty, "tool", "run", "read_file", code=5)["error"]["code"] == "invalid_arguments"
    assert run(empty, "tool", "run", "read_file", "path=../x", code=5)["error"]["retryable"] is True
    (empty / ".vespe/config.json").write_text("{", encoding="utf-8")
    assert run(empty, "tool", "list", code=4)["error"]["line"] == 1


def test_every_tool_that_ships_passes_its_examples(empty: Path) -> None:
    run(empty, "init")
    kits = [kit["kit_id"] for kit in run(empty, "kit", "list")["kits"]]
    for kit_id in kits:
        run(empty, "kit", "activate", kit_id)
        if kit_id == "compiled" and find_spec("wasmtime") is None:
            assert "vespe[wasm]" in vespe("tool", "test", cwd=empty).stdout
            run(empty, "kit", "deactivate", kit_id)
            continue
        summary = run(empty, "tool", "test")["summary"]
        assert (
            summary["failed"] == 0 and summary["tools"] >= 2 and summary["without_examples"] == []
        )
        run(empty, "kit", "deactivate", kit_id)


def test_a_script_named_like_the_standard_librarys_is_never_imported(empty: Path) -> None:
    for name in ("json.py", "vespe.py", "sitecustomize.py", "click.py"):
        (empty / name).write_text("raise SystemExit('imported')\n", encoding="utf-8")
    done = vespe("tool", "list", cwd=empty, env={"PYTHONSAFEPATH": "1"})
    assert done.returncode == 3 and "imported" not in done.stderr


def test_no_way_out_of_the_sandbox_gets_through(empty: Path) -> None:
    found = run(empty, "doctor", "--escapes")
    tried = len(found["rows"]) - found["counts"]["not_tried"]
    assert found["counts"]["got_through"] == found["counts"]["unclear"] == 0
    assert tried >= 110 or found["level"] not in ("namespaces", "landlock")
