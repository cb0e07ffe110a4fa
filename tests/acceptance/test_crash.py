"""A bounded part of the crash harness, on every push; the whole of it is `python -m tests.acceptance.crash`."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.acceptance import crash, tracer

EVERY = {"kit install": 17, "kit update": 17, "kit sync": 19, "kit create": 5, "tool create": 3}
"""Which points are tried here; of the other verbs every one is."""


def scripted(module: str, *arguments: str) -> Any:
    """Run a script of this directory in a process of its own, and give what it says as JSON."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    done = subprocess.run(
        [sys.executable, "-m", f"tests.acceptance.{module}", *arguments, "--json"],
        capture_output=True, text=True, encoding="utf-8", env=environment, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(not tracer.AVAILABLE, reason="the tracer that injects the faults works on Linux on x86-64 alone")
@pytest.mark.parametrize("verb", [verb.name for verb in crash.VERBS])
def test_p45_a_kill_a_full_disk_or_a_broken_one_at_a_writing_call_leaves_the_old_state_or_the_new(verb: str) -> None:
    results = scripted("crash", "--verb", verb, "--every", str(EVERY.get(verb, 1)))
    assert {result["fault"] for result in results} == set(tracer.FAULTS) and all(result["points"] for result in results)


def test_p46_what_processes_do_at_once_is_all_there(home: Any) -> None:
    found = scripted("concurrency", "--processes", "8", "--mutations", "12")
    assert found["mutations"] == 96 and found["reads"] > 0


def test_p46_killed_holders_leave_nothing_locked_and_lose_nothing(home: Any) -> None:
    found = scripted("concurrency", "--processes", "4", "--mutations", "24", "--kills", "12")
    assert found["kills"] == 12


def test_p6_every_change_of_an_installed_kit_is_noticed_and_nothing_changed_runs(home: Any) -> None:
    assert scripted("mutations")["tried"] > 150
