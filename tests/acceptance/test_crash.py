"""A bounded part of the crash harness, on every push; the whole of it is
`python -m tests.acceptance.crash`.
"""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.acceptance import crash, tracer

GROUPS = {
    "fetching": (61, ("kit install", "kit update", "kit sync")),
    "writing": (7, ("kit remove", "kit create", "tool create")),
    "approved": (3, ("kit activate, approved", "tool expose, approved")),
    "small": (3, ("kit activate", "kit link", "tool remove", "trust", "untrust")),
}
"""Of each verb and fault every so many-th point, so that this stays a matter of seconds; the script
tries them all.
"""


def scripted(module: str, *arguments: str) -> Any:
    """Run a script of this directory in a process of its own, and give what it says as JSON."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    done = subprocess.run(
        [sys.executable, "-m", f"tests.acceptance.{module}", *arguments, "--json"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(
    not tracer.AVAILABLE, reason="the tracer that injects the faults works on Linux on x86-64 alone"
)
@pytest.mark.parametrize("group", GROUPS)
def test_p45_a_kill_a_full_disk_or_a_broken_one_at_a_writing_call_leaves_the_old_state_or_the_new(
    group: str,
) -> None:
    every, verbs = GROUPS[group]
    results = scripted(
        "crash", *(word for verb in verbs for word in ("--verb", verb)), "--every", str(every)
    )
    assert {(result["verb"], result["fault"]) for result in results} == {
        (verb, fault) for verb in verbs for fault in tracer.FAULTS
    }
    assert all(result["points"] for result in results)


def test_every_verb_of_the_crash_harness_is_tried_here() -> None:
    assert sorted(verb for _, verbs in GROUPS.values() for verb in verbs) == sorted(
        verb.name for verb in crash.VERBS
    )


def test_p46_what_processes_do_at_once_is_all_there(home: Any) -> None:
    found = scripted("concurrency", "--processes", "8", "--mutations", "6")
    assert found["mutations"] == 48 and found["reads"] > 0


def test_p46_killed_holders_leave_nothing_locked_and_lose_nothing(home: Any) -> None:
    found = scripted("concurrency", "--processes", "4", "--mutations", "24", "--kills", "8")
    assert found["kills"] > 0


def test_p6_every_change_of_an_installed_kit_is_noticed_and_nothing_changed_runs(home: Any) -> None:
    assert scripted("mutations")["tried"] > 150
