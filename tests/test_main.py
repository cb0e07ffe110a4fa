"""`python -m vespe`: how the process of a command begins and ends."""

import subprocess
import sys
from pathlib import Path

import pytest

TOLD = """
import gc, os, sys
from vespe.__main__ import main
end = os._exit
os._exit = lambda code: (print("collects" if gc.isenabled() else "does not collect", file=sys.stderr), end(code))
main()
"""


@pytest.mark.parametrize(
    ("command", "collects"),
    [
        (("agent", "run", "hello"), "collects"),
        (("agent", "chat"), "collects"),
        (("tool", "fuzz", "nothing"), "collects"),
        (("tool", "test"), "collects"),
        (("tool", "list"), "does not collect"),
        (("--version",), "does not collect"),
    ],
)
def test_garbage_is_collected_where_a_process_lives_alone(
    command: tuple[str, ...], collects: str, home: Path, tmp_path: Path
) -> None:
    argv = [sys.executable, "-c", TOLD, *command]
    done = subprocess.run(
        argv,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.stderr.splitlines()[-1] == collects
