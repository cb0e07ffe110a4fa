"""A batch on a real Dask cluster of this machine."""

import contextlib
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest

from tests.support.batches import calls_in, counting_tool
from tests.support.ondisk import PATIENCE_S
from vespe.calls.path import CallPath
from vespe.calls.registry import ToolRegistry
from vespe.errors import Refused, SourceUnavailable
from vespe.features.batch.dask_cluster import run_on_dask
from vespe.features.batch.items import numbered
from vespe.features.batch.local import Plan
from vespe.models import Tool
from vespe.projects.workspace import open_workspace

distributed = pytest.importorskip(
    "distributed", reason="distributed is not installed: the tests of batches on Dask are skipped"
)
pytestmark = pytest.mark.filterwarnings("ignore")  # distributed's own, at its shutdown


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Two workers for all the tests, in a home of their own; one that is killed is started anew."""
    with pytest.MonkeyPatch.context() as patch:
        for name in (
            "HOME",
            "XDG_CONFIG_HOME",
            "XDG_DATA_HOME",
            "XDG_STATE_HOME",
            "XDG_CACHE_HOME",
        ):
            patch.setenv(name, str(tmp_path_factory.mktemp("home")))
        made = distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            silence_logs=50,
        )
    with made:
        yield made


@pytest.fixture
def cluster(running: Any) -> Any:
    until = time.monotonic() + PATIENCE_S
    while any(
        worker.status.name != "running" or worker.pid is None for worker in running.workers.values()
    ):
        assert time.monotonic() < until, "a worker does not come back"
        time.sleep(0.05)
    return running


def run(
    project: Path, tool: Tool, address: str, inputs: list[dict[str, Any]], plan: Plan | None = None
) -> dict[Any, Any]:
    path = CallPath(workspace=open_workspace(project), registry=ToolRegistry())
    found = run_on_dask(
        numbered(inputs), tool, path, plan or Plan(), address=address.removeprefix("tcp://")
    )
    return {outcome.id: outcome.outcome for outcome in found}


def test_every_input_has_one_outcome_and_a_broken_one_an_error(project: Path, cluster: Any) -> None:
    notes = counting_tool(project, "count", read_only=True)
    found = run(
        project,
        open_workspace(project).tool("count"),
        cluster.scheduler_address,
        [*({"n": n} for n in range(12)), {"n": "x"}],
    )
    assert [found[n + 1].result for n in range(12)] == [2 * n for n in range(12)]
    assert found[13].error.code == "invalid_arguments" and calls_in(notes) == list(range(12))


def kill_a_worker_that_runs(cluster: Any, notes: Path) -> None:
    while len(calls_in(notes)) < 3:
        time.sleep(0.02)
    worker = next(iter(cluster.workers.values()))
    os.kill(worker.pid, signal.SIGKILL)


@pytest.mark.parametrize("read_only", [True, False])
def test_a_killed_worker_costs_its_chunk_and_never_runs_twice_what_must_not(
    project: Path, cluster: Any, read_only: bool
) -> None:
    notes = counting_tool(project, "count", read_only=read_only)
    killer = threading.Thread(target=kill_a_worker_that_runs, args=(cluster, notes))
    killer.start()
    found = run(
        project,
        open_workspace(project).tool("count"),
        cluster.scheduler_address,
        [{"n": n, "s": 0.05} for n in range(40)],
    )
    killer.join()
    called = calls_in(notes)
    assert len(found) == 40 and set(called) <= set(range(40))
    if read_only:
        assert all(outcome.ok for outcome in found.values()) and set(called) == set(range(40))
    else:
        assert len(called) == len(set(called))
        assert {outcome.error.code for outcome in found.values() if not outcome.ok} <= {
            "unknown_outcome"
        }


def test_a_scheduler_that_does_not_answer_is_a_sentence(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vespe.features.batch.dask_cluster._CONNECT_S", 1)
    counting_tool(project, "count", read_only=True)
    with pytest.raises(SourceUnavailable, match="no Dask scheduler answers"):
        run(project, open_workspace(project).tool("count"), "127.0.0.1:9", [{"n": 1}])


def test_a_worker_with_another_version_is_named(
    project: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    counting_tool(project, "count", read_only=True)
    tool = open_workspace(project).tool("count")
    monkeypatch.setattr("vespe.defaults.VERSION", "9.9.9")
    with pytest.raises(Refused, match=r"and this is 9\.9\.9"):
        run(project, tool, cluster.scheduler_address, [{"n": 1}])


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
            "dask",
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


def answers(port: int) -> list[str]:
    """What a stranger gets from a port: pages, or to speak by TLS without a certificate."""
    found = []
    for page in ("", "status", "health", "info/main/workers.html", "metrics"):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/{page}", timeout=5) as answer:
                found.append(f"{port}/{page}: {answer.status}")
        except HTTPException:
            found.append(f"{port}: Dask without encryption")
        except OSError:
            continue
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with (
            socket.create_connection(("127.0.0.1", port), timeout=5) as plain,
            context.wrap_socket(plain) as tls,
        ):
            tls.recv(1)  # where a certificate is missing is said now
            found.append(f"{port}: TLS")
    except OSError:
        pass
    return found


def sockets(pid: int) -> set[str]:
    """What a process holds open; nothing of one that ends meanwhile, or that hides itself as
    supervisors do, which listen on no port.
    """
    held = set[str]()
    with contextlib.suppress(FileNotFoundError, PermissionError, ProcessLookupError):
        for name in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(FileNotFoundError):
                held.add(os.readlink(f"/proc/{pid}/fd/{name}"))
    return held


def listening(pid: int) -> set[int]:
    """The ports on which a process and all below it listen."""
    pids = [pid]
    for one in pids:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            for thread in Path(f"/proc/{one}/task").iterdir():
                pids += map(int, (thread / "children").read_text(encoding="ascii").split())
    held = {one for pid in pids for one in sockets(pid)}
    rows = [
        line.split() for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]
    ]
    return {
        int(row[1].split(":")[1], 16)
        for row in rows
        if row[3] == "0A" and f"socket:[{row[9]}]" in held
    }


def test_a_cluster_of_ones_own_takes_nothing_from_others_and_shows_no_page(
    project: Path,
) -> None:
    counting_tool(project, "count", read_only=True)
    path = CallPath(workspace=open_workspace(project), registry=ToolRegistry())
    before = listening(os.getpid())
    found = run_on_dask(numbered([{"n": 1}, {"n": 2}]), path.tool("count"), path, Plan(jobs=1))
    assert next(found).outcome.ok
    ports = sorted(listening(os.getpid()) - before)
    assert (
        len(ports) >= 4
    )  # of the scheduler, a worker, its nanny, and the pages that are not there
    assert [said for port in ports for said in answers(port)] == []
    assert next(found).outcome.ok
    assert list(found) == []
