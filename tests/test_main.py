"""`python -m vespe`: how the process of a command begins and ends."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.ondisk import python_tool

TOLD = """
import gc, os, sys
from vespe.__main__ import main
end = os._exit
os._exit = lambda code: (print("collects" if gc.isenabled() else "does not collect", file=sys.stderr), end(code))
main()
"""


SIMULATED = ("--provider", "simulated", "--script", "script.json")


@pytest.mark.parametrize(
    ("command", "collects"),
    [
        (("agent", "run", "hello", *SIMULATED), "collects"),
        (("agent", "chat", *SIMULATED), "collects"),
        (("tool", "fuzz", "nothing"), "collects"),
        (("tool", "test"), "collects"),
        (("tool", "list"), "does not collect"),
        (("--version",), "does not collect"),
    ],
)
def test_garbage_is_collected_where_a_process_lives_alone(
    command: tuple[str, ...], collects: str, project: Path
) -> None:
    script = {"turns": [{"text": "hello"}]}
    (project / "script.json").write_text(json.dumps(script), encoding="utf-8")
    argv = [sys.executable, "-c", TOLD, *command]
    done = subprocess.run(
        argv,
        cwd=project,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.stderr.splitlines()[-1] == collects


DUMPABLE = """
import ctypes, os, sys
def is_dumpable():
    return ctypes.CDLL(None).prctl(3, 0, 0, 0, 0)
"""
ENDS = """
from vespe.__main__ import main
end = os._exit
os._exit = lambda code: (print("dumpable:", is_dumpable(), file=sys.stderr), end(code))
main()
"""
HOSTS = """
from vespe import Project
from vespe.cli import main
assert main(sys.argv[1:]) == 0
assert Project().execute_tool(sys.argv[-1], {}).ok
print("dumpable:", is_dumpable(), file=sys.stderr)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is dumpable or not")
@pytest.mark.parametrize(
    ("program", "command", "said"),
    [
        (ENDS, ("--version",), "dumpable: 0"),
        (ENDS, ("tool", "run", "one"), "dumpable: 0"),
        (HOSTS, ("tool", "run", "one"), "dumpable: 1"),
    ],
    ids=["command", "call", "host"],
)
def test_p33_the_command_hides_its_memory_and_the_library_never_that_of_its_host(
    program: str, command: tuple[str, ...], said: str, project: Path
) -> None:
    python_tool(project / ".vespe/tools/tool-one", "one", "return 1")
    argv = [sys.executable, "-c", DUMPABLE + program, *command]
    done = subprocess.run(
        argv, cwd=project, capture_output=True, encoding="utf-8", check=False, stdin=-3
    )
    assert done.returncode == 0 and done.stderr.splitlines()[-1] == said, done.stderr
