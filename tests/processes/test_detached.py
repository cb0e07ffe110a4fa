"""A process that outlives whoever starts it."""

import os
import sys
import time
from pathlib import Path

import pytest

from tests.support.ondisk import PATIENCE_S
from vespe.processes import detached

CODE = """
import os, sys
print(os.getpid(), os.getsid(0) == os.getpid(), sys.stdin.read(), flush=True)
sys.stdout.close()
open(sys.argv[1], "w").write("done")
"""


def test_it_has_a_session_of_its_own_and_its_first_line_is_returned(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    pid, leads, said = detached.start((sys.executable, "-c", CODE, str(mark)), b"hi").split()
    assert (leads, said) == (b"True", b"hi") and int(pid) != os.getpid()
    until = time.monotonic() + PATIENCE_S
    while not mark.exists():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_one_that_says_nothing_or_cannot_start(tmp_path: Path) -> None:
    assert detached.start((sys.executable, "-c", "pass"), b"x" * 100_000) == b""
    with pytest.raises(OSError, match="no-such"):
        detached.start((str(tmp_path / "no-such"),), b"")
