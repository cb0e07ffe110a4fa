"""Where a batch runs, and what an earlier run of it did."""

from pathlib import Path

import pytest

from tests.support.batches import calls_in, counting_tool
from vespe.calls.path import CallPath
from vespe.calls.registry import ToolRegistry
from vespe.errors import UsageError
from vespe.features.batch.engines import Batch, run_on
from vespe.features.batch.items import Item, numbered
from vespe.features.batch.local import Plan
from vespe.features.batch.outcomes_file import OutcomesFile
from vespe.projects.workspace import open_workspace


def path_of(project: Path) -> CallPath:
    return CallPath(workspace=open_workspace(project), registry=ToolRegistry())


@pytest.mark.parametrize("engine", ["spark", "", "local://x", "dask://", "Dask"])
def test_an_engine_that_there_is_not_is_a_sentence(project: Path, engine: str) -> None:
    counting_tool(project, "count", read_only=True)
    path = path_of(project)
    with pytest.raises(UsageError, match="there is no engine"):
        run_on(engine, [], path.tool("count"), path, Plan())


@pytest.mark.parametrize(("read_only", "calls"), [(True, [1, 1, 2]), (False, [1, 2])])
def test_a_call_that_was_begun_runs_again_only_if_it_may(
    project: Path, tmp_path: Path, read_only: bool, calls: list[int]
) -> None:
    notes = counting_tool(project, "count", read_only=read_only)
    notes.write_text("1\n", encoding="utf-8")
    out = str(tmp_path / "out.jsonl")
    with OutcomesFile(out, journal=True) as killed:
        killed.begin(Item(1, {}))
    path = path_of(project)
    with OutcomesFile(out, resume=True, journal=not read_only) as file:
        batch = Batch(
            "local", numbered([{"n": 1}, {"n": 2}]), path.tool("count"), path, Plan(jobs=1)
        )
        found = {outcome.id: outcome.outcome for outcome in batch.run_to(file)}
    assert calls_in(notes) == calls and found[2].ok
    assert found[1].ok if read_only else found[1].error.code == "unknown_outcome"  # type: ignore[union-attr]  # it failed


def test_what_has_its_line_is_not_called_again(project: Path, tmp_path: Path) -> None:
    notes = counting_tool(project, "count", read_only=False)
    path, out = path_of(project), str(tmp_path / "out.jsonl")
    for resume in (False, True):
        with OutcomesFile(out, resume=resume, journal=True) as file:
            list(
                Batch("local", numbered([{"n": 7}]), path.tool("count"), path, Plan(jobs=1)).run_to(
                    file
                )
            )
    assert calls_in(notes) == [7] and Path(out).read_bytes().count(b"\n") == 1
