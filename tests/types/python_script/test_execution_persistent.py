"""Processes that keep what a tool keeps: serial, bounded in calls and idleness, and gone after what
goes wrong.
"""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import PATIENCE_S, python_tool
from tests.support.pids import SAYS, outside
from vespe import Project
from vespe.models import Outcome

BODY = (
    """
import os, sys, time
SEEN.append(1)
if what == "sleep":
    time.sleep(60)
if what == "die":
    os._exit(3)
if what == "exit":
    sys.exit(3)
if what == "pause":
    time.sleep(0.2)
print("said", what)
return [len(SEEN), """
    + SAYS
    + """]
"""
)
SCHEMA = {"type": "object", "properties": {"what": {"type": "string", "default": ""}}}


class Kept:
    def __init__(self, project: Project) -> None:
        self.project = project

    def call(self, what: str = "", **options: Any) -> Outcome:
        return self.project.execute_tool("keep", {"what": what}, **options)

    def count(self, what: str = "") -> int:
        return int(self.call(what).unwrap()[0])


def tool(project: Path, **limits: Any) -> Path:
    directory = python_tool(
        project / ".vespe/tools/tool-keep",
        "keep",
        BODY,
        params="what=''",
        schema=SCHEMA,
        limits=limits,
    )
    source = (directory / "main.py").read_text(encoding="utf-8")
    (directory / "main.py").write_text("SEEN = []\n" + source, encoding="utf-8")
    return directory


@pytest.fixture
def kept(project: Path) -> Iterator[Kept]:
    tool(project, worker="persistent", max_calls=4, max_idle_s=PATIENCE_S)
    with Project(project, trusted=True) as opened:
        yield Kept(opened)


def test_state_stays_from_call_to_call_until_so_many_are_made(kept: Kept) -> None:
    assert [kept.count() for _ in range(6)] == [1, 2, 3, 4, 1, 2]
    assert kept.call("x").logs == "said x\n"


def test_without_the_wish_each_call_begins_anew(project: Path) -> None:
    tool(project)
    with Project(project, trusted=True) as opened:
        assert [Kept(opened).count() for _ in range(2)] == [1, 1]


def test_calls_wait_for_each_other(kept: Kept) -> None:
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(kept.count("pause"))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [1, 2, 3]


def test_what_goes_wrong_ends_the_process_and_the_next_call_has_another(kept: Kept) -> None:
    assert kept.count() == 1
    died = kept.call("die").error
    assert (
        died is not None
        and "its process ended, and its state is lost" in died.message
        and kept.count() == 1
    )
    late = kept.call("sleep", timeout_s=0.3).error
    assert late is not None and late.code == "timed_out" and kept.count() == 1
    left = kept.call("exit").error
    assert left is not None and "sys.exit(3)" in left.message and kept.count() == 3


def test_another_script_is_another_process_and_the_one_before_ends(
    kept: Kept, project: Path
) -> None:
    before = outside(kept.call().unwrap()[1])
    script = project / ".vespe/tools/tool-keep/main.py"
    script.write_text(script.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert kept.count() == 1
    _until_gone(before)


def test_an_idle_process_ends_and_so_do_all_with_their_owner(project: Path) -> None:
    tool(project, worker="persistent", max_idle_s=0.2)
    with Project(project, trusted=True) as opened:
        kept = Kept(opened)
        pid = outside(kept.call().unwrap()[1])
        _until_gone(pid)
        pid = outside(kept.call().unwrap()[1])
    _until_gone(pid)


def _until_gone(pid: int) -> None:
    until = time.monotonic() + PATIENCE_S
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < until
        time.sleep(0.02)
