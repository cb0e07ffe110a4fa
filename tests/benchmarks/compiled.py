"""A compiled tool in a process that lives: what a warm call costs both sides, beside wasmtime in
the caller's own process.
"""

import os
import shutil
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import wasmtime

from tests.benchmarks.axes import Axis, make_project
from vespe import Project
from vespe.types.wasm.workers import WORKERS

KIT = Path(__file__).parents[2] / "kits" / "compiled"
GIVEN = {"text": "To be, or not to be.", "top": 2, "shortest": 1}
GOAL_US = 500.0
ROUNDS, CALLS = 30, 50


def axes(scratch: Path) -> Iterator[Axis]:
    """Measure `word_count` in rounds of 50 calls, in turn with the same module run by wasmtime
    alone.
    """
    root = make_project(scratch / "compiled", tools=1)
    shutil.copytree(
        KIT / "tool-uid_word_count_compiled", root / ".vespe/tools/tool-uid_word_count_compiled"
    )
    time.sleep(0.2)
    module = (KIT / "tool-uid_word_count_compiled" / "tool.wasm").read_bytes()
    bare = _bare(module, scratch)
    with Project(root, trusted=True) as project:

        def call() -> None:
            project.call("word_count", **GIVEN).unwrap()

        call()
        bare()
        workers = _below(os.getpid())
        ours, theirs = zip(
            *((_spent(call, workers), _spent(bare, [])) for _ in range(ROUNDS)), strict=True
        )
    WORKERS.close()
    work, waited = (
        [statistics.median(one[which] for one in side) for side in (ours, theirs)]
        for which in (0, 1)
    )
    yield _axis(
        "compiled tool, a warm call: work of both sides", work[0], "500 µs", GOAL_US, goal=1
    )
    yield _axis(
        "compiled tool, a warm call: until it is answered", waited[0], "500 µs", GOAL_US, goal=1
    )
    yield _axis(
        "compiled tool, a warm call: work of both sides",
        work[0],
        "wasmtime in the caller",
        work[1],
        goal=None,
    )


def _axis(name: str, ours: float, peer: str, theirs: float, *, goal: float | None) -> Axis:
    return Axis(
        name=name,
        unit="µs",
        ours=ours,
        peer=peer,
        theirs=theirs,
        ratio=ours / theirs,
        goal=goal,
        more=False,
    )


def _bare(code: bytes, scratch: Path) -> Callable[[], None]:
    """Return a call of a module as wasmtime's own examples make it: a fresh instance, its input and
    output in files.
    """
    engine = wasmtime.Engine()
    linker, module = wasmtime.Linker(engine), wasmtime.Module(engine, code)
    linker.define_wasi()
    given, written = scratch / "given", scratch / "written"
    given.write_text('{"text": "To be, or not to be.", "top": 2, "shortest": 1}', encoding="utf-8")

    def call() -> None:
        wasi = wasmtime.WasiConfig()
        wasi.stdin_file, wasi.stdout_file = str(given), str(written)
        store = wasmtime.Store(engine)
        store.set_wasi(wasi)
        start: Callable[..., None] = linker.instantiate(store, module).exports(store)["_start"]  # type: ignore[assignment]  # a function
        start(store)
        assert written.stat().st_size

    return call


def _spent(call: Callable[[], None], others: list[int]) -> tuple[float, float]:
    """Return the microseconds of processor time, of this process and others, and those that passed,
    for one call.
    """
    began, before = time.perf_counter(), _work(others)
    for _ in range(CALLS):
        call()
    return (_work(others) - before) * 1e6 / CALLS, (time.perf_counter() - began) * 1e6 / CALLS


def _work(others: list[int]) -> float:
    files = [
        f"/proc/{pid}/task/{task}/schedstat"
        for pid in others
        for task in os.listdir(f"/proc/{pid}/task")
    ]
    return (
        time.process_time() + sum(int(Path(file).read_bytes().split()[0]) for file in files) / 1e9
    )


def _below(pid: int) -> list[int]:
    """Return the processes below one: the supervisor of the worker, and the worker."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    children = [int(child) for task in tasks for child in (task / "children").read_bytes().split()]
    return [one for child in children for one in (child, *_below(child))]
