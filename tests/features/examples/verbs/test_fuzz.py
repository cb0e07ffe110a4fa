"""`vespe tool fuzz`."""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.ondisk import python_tool, write_tool

Command = Callable[..., Any]
SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer", "minimum": 0, "maximum": 9}},
    "required": ["n"],
}


def test_a_finding_has_a_command_that_shows_it_again(command: Command, project: Path) -> None:
    python_tool(
        project / ".vespe/tools/tool-d", "divide", "return 10 // n", params="n", schema=SCHEMA
    )
    said = command("tool", "fuzz", "divide", "--seconds", "4", "--seed", "1", "--json")
    (finding,) = said.document["findings"]
    assert said.code == 1 and finding["kind"] == "crash" and finding["arguments"] == {"n": 0}
    again = command(*shlex.split(finding["command"])[1:], "--json")
    assert again.code == 1 and "ZeroDivisionError" in again.document["error"]["message"]


def test_a_tool_that_holds_is_exit_0_and_its_seed_is_said(command: Command, project: Path) -> None:
    python_tool(
        project / ".vespe/tools/tool-d", "double", "return 2 * n", params="n", schema=SCHEMA
    )
    said = command("tool", "fuzz", "double", "--seconds", "1")
    assert said.code == 0 and said.out == "" and "0 findings in" in said.err
    assert "--seed" in said.err and "same order, as far as the time allows" in said.err


def test_a_call_that_hangs_is_found(command: Command, project: Path) -> None:
    body = "import time\ntime.sleep(60 if n else 0)\nreturn n"
    python_tool(
        project / ".vespe/tools/tool-s",
        "slow",
        body,
        params="n",
        schema={**SCHEMA, "properties": {"n": {"enum": [0, 1]}}},
    )
    said = command("tool", "fuzz", "slow", "--seconds", "2", "--seed", "1", "--timeout", "0.5")
    assert said.code == 1 and said.out.startswith("hang: ")


def test_the_tool_does_not_run_in_the_project(command: Command, project: Path) -> None:
    python_tool(
        project / ".vespe/tools/tool-w",
        "write",
        "open(f'made{n}', 'w').close()",
        params="n",
        schema=SCHEMA,
    )
    assert command("tool", "fuzz", "write", "--seconds", "1", "--seed", "1").code == 0
    assert not list(project.glob("made*"))


def test_what_reaches_out_or_destroys_needs_a_yes(command: Command, project: Path) -> None:
    python_tool(
        project / ".vespe/tools/tool-d", "drop", "return 1", annotations={"destructiveHint": True}
    )
    implementation = {
        "type": "http_request",
        "path": "https://example.com/",
        "entrypoint": "GET",
        "args": {},
    }
    write_tool(project / ".vespe/tools/tool-h", "ask", implementation=implementation)
    assert command("tool", "fuzz", "drop").code == 6 and command("tool", "fuzz", "ask").code == 6
    assert command("tool", "fuzz", "drop", "--yes", "--seconds", "0.5").code == 0


def test_nothing_is_left_in_the_working_directory(command: Command, project: Path) -> None:
    command("tool", "create", "count", "--type", "python_script")
    before = sorted(os.listdir(project))
    # a process of its own: Hypothesis decides once where it keeps what it computes
    argv = [sys.executable, "-m", "vespe", "tool", "fuzz", "count", "--seconds", "0.3"]
    subprocess.run(argv, cwd=project, capture_output=True, check=True)
    assert sorted(os.listdir(project)) == before
