"""A batch on Ray, where it is installed."""

from pathlib import Path

import pytest

from tests.support.batches import calls_in, counting_tool
from vespe.calls.batch.items import numbered
from vespe.calls.batch.local import Plan
from vespe.calls.path import CallPath
from vespe.calls.registry import ToolRegistry
from vespe.projects.workspace import open_workspace

pytest.importorskip("ray", reason="ray is not installed: the tests of batches on Ray are skipped")
from vespe.calls.batch.ray_cluster import run_on_ray  # only where there is Ray


@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_every_input_has_one_outcome(project: Path) -> None:
    notes = counting_tool(project, "count", read_only=True)
    path = CallPath(workspace=open_workspace(project), registry=ToolRegistry())
    found = {o.id: o.outcome for o in run_on_ray(numbered({"n": n} for n in range(8)), path.tool("count"), path, Plan(jobs=2))}
    assert [found[n + 1].result for n in range(8)] == [2 * n for n in range(8)] and calls_in(notes) == list(range(8))
