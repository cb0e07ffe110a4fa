"""Handles that several processes give to one client."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from vespe.adapters.large_results import kept
from vespe.adapters.large_results.handles import LargeResults
from vespe.errors import UnknownResult
from vespe.features.mcp.server.shared_handles import SharedHandles
from vespe.models import Outcome, Tool

TOOL = Tool(uid="t", name="t", description="", input_schema={}, model_tokens=100)
WORKER = """
import sys
from vespe.adapters.large_results.handles import LargeResults, handle_in
from vespe.features.mcp.server.shared_handles import SharedHandles
from vespe.models import Outcome, Tool

results = LargeResults(SharedHandles("token"))
tool = Tool(uid="t", name="t", description="", input_schema={}, model_tokens=100)
for number in range(20):
    text = f"{sys.argv[1]} {number} " * 300
    shown = results.shown(tool, Outcome(tool="t", uid="t", result=text), place=None)
    print(handle_in(shown.result), sys.argv[1], number)
"""


def keep(results: LargeResults, text: str) -> None:
    results.shown(TOOL, Outcome(tool="t", uid="t", result=text * 5000), place=None)


def test_workers_at_the_same_time_never_give_one_handle_to_two_results(home: Path) -> None:
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, name], stdout=subprocess.PIPE, encoding="utf-8"
        )
        for name in ("a", "b", "c")
    ]
    lines = [line.split() for worker in workers for line in worker.communicate()[0].splitlines()]
    assert all(worker.returncode == 0 for worker in workers) and len(lines) == 60
    assert len({handle for handle, _, _ in lines}) == 60
    results = LargeResults(SharedHandles("token"))
    for handle, name, number in lines:
        assert results.text_of(handle)[0].startswith(f"{name} {number} ")


def test_p82_they_are_those_of_one_name_and_private(home: Path) -> None:
    keep(LargeResults(SharedHandles("one")), "x")
    assert LargeResults(SharedHandles("one")).text_of("r1")[0] == "x" * 5000
    with pytest.raises(UnknownResult):
        LargeResults(SharedHandles("two")).text_of("r1")
    places = [Path(place) for place, _, names in os.walk(home) if "r1" in names]
    assert [place.stat().st_mode & 0o777 for place in places] == [0o700]
    assert (places[0] / "r1").stat().st_mode & 0o777 == 0o600


def test_what_is_damaged_or_no_handle_counts_as_not_there(home: Path) -> None:
    handles = SharedHandles("one")
    keep(LargeResults(handles), "x")
    (place,) = [Path(place) for place, _, names in os.walk(home) if "r1" in names]
    (place / "r1").write_text("{", encoding="utf-8")
    (place / "r2").write_text("[]", encoding="utf-8")
    (place / "note").touch()
    for handle in ("r1", "r2", "r3", "../r1", "r1/..", "r" + "9" * 20):
        assert handles.get(handle) is None
    assert list(handles) == ["r1", "r2"]
    results = LargeResults(handles)
    keep(results, "y")
    assert results.text_of("r3")[0] == "y" * 5000


def test_old_ones_are_swept(home: Path) -> None:
    handles = SharedHandles("one")
    keep(LargeResults(handles), "x")
    (place,) = [Path(place) for place, _, names in os.walk(home) if "r1" in names]
    old = time.time() - kept.MAX_AGE_S - 60
    os.utime(place / "r1", (old, old))
    SharedHandles("two")
    assert list(place.iterdir()) == []  # another process may be about to make its first handle
    os.utime(place, (old, old))
    SharedHandles("two")
    assert not place.exists() and len(handles) == 0


def test_a_handle_can_be_set_and_taken_away(home: Path) -> None:
    handles = SharedHandles("one")
    handles["r5"] = {"a": 1}
    handles["r5"] = {"a": 2}
    assert dict(handles) == {"r5": {"a": 2}}
    del handles["r5"]
    with pytest.raises(KeyError):
        del handles["r5"]
