"""The gate: an order of the tests that can be had again, and a user who is made where that can be."""

import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.ondisk import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]
MODULES = ("tests/files/test_ownership.py", "tests/files/test_locations.py", "tests/test_lazy.py")


def ran(*argv: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        argv,
        cwd=ROOT,
        env={**os.environ, **variables},
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
        check=False,
    )


def collected(**variables: str) -> tuple[list[str], str]:
    """The tests in their order, and the seed that the run said."""
    done = ran(sys.executable, "-m", "pytest", "-q", "--collect-only", *MODULES, **variables)
    said = re.search(r"^the order of the tests: VESPE_TEST_SEED=(\d+)$", done.stdout, re.MULTILINE)
    assert done.returncode == 0 and said is not None, done.stdout
    return [line for line in done.stdout.splitlines() if "::" in line], said[1]


def test_the_order_of_the_tests_is_one_of_chance_that_its_seed_has_again() -> None:
    plain, zero = collected(VESPE_TEST_SEED="0")
    first, seed = collected()
    assert zero == "0" and seed != "0"
    assert first != plain and sorted(first) == sorted(plain)
    assert collected(VESPE_TEST_SEED=seed) == (first, seed)
    modules = [line.partition("::")[0] for line in first]
    changes = sum(one != other for one, other in pairwise(modules))
    assert changes == len(MODULES) - 1  # a module stays whole: what it makes is made once


@pytest.mark.parametrize("name", ["useradd", "setpriv", "tar"])
def test_where_no_user_can_be_made_the_gate_has_a_reason_and_goes_on(
    name: str, tmp_path: Path
) -> None:
    for program in {"useradd", "userdel", "setpriv", "tar", "bash"} - {name}:
        (tmp_path / program).write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
        (tmp_path / program).chmod(0o755)
    program = '. .ci/user.sh; make_user || echo "$why"; remove_user; echo "and goes on"'
    done = ran("/bin/bash", "-euo", "pipefail", "-c", program, PATH=str(tmp_path))
    assert done.stdout == f"there is no {name} here\nand goes on\n", done.stderr


def test_a_user_who_cannot_be_made_is_no_failure_either(tmp_path: Path) -> None:
    for program in ("useradd", "userdel", "setpriv", "tar"):
        (tmp_path / program).write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
        (tmp_path / program).chmod(0o755)
    program = '. .ci/user.sh; make_user || echo "$why"; remove_user; echo "and goes on"'
    done = ran("/bin/bash", "-euo", "pipefail", "-c", program, PATH=f"{tmp_path}:/usr/bin:/bin")
    assert done.stdout == "useradd makes no user\nand goes on\n", done.stderr
