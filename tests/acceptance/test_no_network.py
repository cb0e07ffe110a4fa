"""P50: a command that only reads makes no connection and asks no resolver, whatever the project's
tools, kits and servers name: in a process, and in those that it starts, a socket of the internet is
the end.
"""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.ondisk import PATIENCE_S, python_tool, write_tool
from tests.support.systems import killed_with_a_socket
from vespe.projects import user_config
from vespe.projects.init import found_project

READ: tuple[tuple[str, ...], ...] = (
    ("tool", "list"),
    ("tool", "list", "--all", "--size"),
    ("tool", "search", "weather"),
    ("tool", "show", "asks"),
    ("tool", "show", "asks", "--as", "openai"),
    ("tool", "resolve", "asks"),
    ("tool", "run", "asks", "--dry-run"),
    ("tool", "diff", "mine", "mine"),
    ("kit", "list"),
    ("kit", "show", "public_json_apis"),
    ("kit", "verify"),
    ("lint",),
    ("log",),
    ("task", "list"),
    ("cache", "list"),
    ("config", "list"),
    ("config", "get", "allow_hosts"),
    ("secret", "list"),
    ("secret", "check"),
    ("mcp", "status"),
    ("mcp", "config", "claude-code"),
    ("schema", "tool"),
    ("export", "--as", "openai"),
    ("program", "check", "program.py"),
    ("agent", "answers"),
    ("doctor",),
    ("trust", "--yes"),
    ("--version",),
)

IN_TURN = """
import json, sys
from vespe.cli import main
codes = {}
for words in json.loads(sys.argv[1]):
    print("$", *words, file=sys.stderr, flush=True)  # the last one is what was killed
    codes[" ".join(words)] = main(words)
print(json.dumps(codes), file=sys.stderr)
"""


@pytest.fixture
def named(home: Path, tmp_path: Path) -> Path:
    """A project in which a tool, a kit and the user's configuration name hosts."""
    project = tmp_path / "project"
    project.mkdir()
    found_project(str(project))
    tools = project / ".vespe/tools"
    python_tool(tools / "tool-mine", "mine", "return 1")
    asks = {"type": "http_request", "path": "https://example.org/a", "entrypoint": "GET"}
    write_tool(tools / "tool-asks", "asks", implementation=asks)
    user_config.set_value("allow_hosts", ["example.org"])
    (project / "program.py").write_text("mine()\n", encoding="utf-8")
    return project


def test_p50_a_command_that_reads_makes_no_connection(named: Path) -> None:
    done = subprocess.run(
        killed_with_a_socket(sys.executable, "-c", IN_TURN, json.dumps(READ)),
        cwd=named,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    codes = json.loads(done.stderr.splitlines()[-1])
    assert {row: code for row, code in codes.items() if code} == {}


@pytest.mark.parametrize(
    ("family", "code"), [("INET", -signal.SIGSYS), ("INET6", -signal.SIGSYS), ("UNIX", 0)]
)
def test_a_process_that_makes_such_a_socket_is_killed(family: str, code: int) -> None:
    makes = f"import socket; socket.socket(socket.AF_{family})"
    done = subprocess.run(killed_with_a_socket(sys.executable, "-c", makes), check=False)
    assert done.returncode == code
