"""A batch on Ray, where it is installed: held to the same as Dask."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.batches import calls_in, counting_tool
from vespe.calls.path import CallPath
from vespe.calls.registry import ToolRegistry
from vespe.errors import SourceUnavailable
from vespe.features.batch.items import numbered
from vespe.features.batch.local import Plan
from vespe.projects.workspace import open_workspace

os.environ.setdefault("RAY_AUTH_MODE", "token")  # Ray reads it when it is imported
pytest.importorskip("ray", reason="ray is not installed: the tests of batches on Ray are skipped")
from vespe.features.batch.ray_cluster import run_on_ray  # only where there is Ray

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray makes its token once a process, in the home directory of that moment; each test here has
    another home.
    """
    monkeypatch.setenv("RAY_AUTH_TOKEN", "of-these-tests-" * 3)


def run(project: Path, inputs: list[dict[str, Any]], *, address: str = "") -> dict[Any, Any]:
    path = CallPath(workspace=open_workspace(project), registry=ToolRegistry())
    return {
        o.id: o.outcome
        for o in run_on_ray(
            numbered(inputs), path.tool("count"), path, Plan(jobs=2), address=address
        )
    }


def test_every_input_has_one_outcome_and_a_broken_one_an_error(project: Path) -> None:
    notes = counting_tool(project, "count", read_only=True)
    found = run(project, [*({"n": n} for n in range(8)), {"n": "x"}])
    assert [found[n + 1].result for n in range(8)] == [2 * n for n in range(8)]
    assert found[9].error.code == "invalid_arguments" and calls_in(notes) == list(range(8))


def workers_of(home: str) -> list[int]:
    """Return the processes of Ray that run a chunk, of the cluster that was started with this
    home.
    """
    found = []
    for entry in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if entry.isdecimal() and Path(f"/proc/{entry}/cmdline").read_bytes().startswith(
                b"ray::run_chunk"
            ):
                found += (
                    [int(entry)]
                    if os.fsencode(home) in Path(f"/proc/{entry}/environ").read_bytes()
                    else []
                )
    return found


def kill_a_worker_that_runs(home: str, notes: Path) -> None:
    while len(calls_in(notes)) < 3 or not (running := workers_of(home)):
        time.sleep(0.02)
    os.kill(running[0], signal.SIGKILL)


@pytest.mark.parametrize("read_only", [True, False])
def test_a_killed_worker_costs_its_chunk_and_never_runs_twice_what_must_not(
    project: Path, home: Path, read_only: bool
) -> None:
    notes = counting_tool(project, "count", read_only=read_only)
    killer = threading.Thread(target=kill_a_worker_that_runs, args=(str(home), notes), daemon=True)
    killer.start()
    found = run(project, [{"n": n, "s": 0.05} for n in range(40)])
    killer.join(60)
    called = calls_in(notes)
    assert len(found) == 40 and set(called) <= set(range(40)) and not killer.is_alive()
    if read_only:
        assert all(outcome.ok for outcome in found.values()) and set(called) == set(range(40))
    else:
        assert len(called) == len(set(called))
        assert {outcome.error.code for outcome in found.values() if not outcome.ok} == {
            "unknown_outcome"
        }


def test_a_cluster_that_does_not_answer_is_a_sentence(project: Path) -> None:
    counting_tool(project, "count", read_only=True)
    with pytest.raises(SourceUnavailable, match="no Ray cluster answers"):
        run(project, [{"n": 1}], address="127.0.0.1:9")


def test_the_command_runs_on_a_cluster_of_its_own(project: Path, tmp_path: Path) -> None:
    counting_tool(project, "count", read_only=True)
    (tmp_path / "in.jsonl").write_text(
        "".join(f'{{"n": {n}}}\n' for n in range(6)), encoding="utf-8"
    )
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "vespe",
            "batch",
            "count",
            str(tmp_path / "in.jsonl"),
            "-o",
            "out.jsonl",
            "--on",
            "ray",
            "--jobs",
            "2",
        ],
        cwd=project,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (project / "out.jsonl").read_bytes().count(b'"ok":true') == 6
