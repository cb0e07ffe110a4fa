"""A tool on its way to a worker."""

import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.ondisk import python_tool, write_kit
from vespe.calls.path import CallPath
from vespe.calls.registry import ToolRegistry
from vespe.errors import Refused
from vespe.features.batch import parcel as parcels
from vespe.features.batch.cluster import Chunk, run_chunk
from vespe.features.batch.items import Item
from vespe.features.batch.parcel import opened, pack
from vespe.files import locations
from vespe.kits import origins, staging, store
from vespe.models import Call, Tool
from vespe.projects.workspace import open_workspace
from vespe.tools import directory as tool_directory
from vespe.trust import approvals

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parcels, "_OPENED", {})


def own_tool(project: Path) -> Tool:
    python_tool(
        project / ".vespe/tools/tool-double", "double", "return inputs['n'] * 2", schema=NUMBER
    )
    return open_workspace(project).tool("double")


def test_a_projects_own_tool_runs_where_it_was_unpacked(project: Path) -> None:
    path, tool = opened(pack(own_tool(project)))
    assert path.run_tool(tool, Call(tool="double", arguments={"n": 4})).result == 8
    assert str(project) not in path.workspace.root


def test_a_kits_tool_takes_its_kits_configuration_along(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit = write_kit(tmp_path / "kits", "sums", secrets=["SUMS_KEY"])
    python_tool(kit / "tool-double", "double", "return inputs['n'] * 2", schema=NUMBER)
    monkeypatch.setenv("VESPE_KITS_PATH", str(tmp_path / "kits"))
    (project / ".vespe/config.json").write_text('{"active_kits": ["sums"]}', encoding="utf-8")
    parcel = pack(open_workspace(project).tool("double"))
    monkeypatch.delenv("VESPE_KITS_PATH")
    path, tool = opened(parcel)
    assert (
        tool.scope == "sums"
        and path.run_tool(tool, Call(tool="double", arguments={"n": 4})).result == 8
    )


def test_p66_no_secret_travels_and_each_machine_takes_its_own(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit = write_kit(tmp_path / "kits", "sums", secrets=["SUMS_KEY"])
    count = "import os; return len(os.environ['SUMS_KEY'])"
    python_tool(kit / "tool-count", "count", count, secrets=["SUMS_KEY"])
    monkeypatch.setenv("VESPE_KITS_PATH", str(tmp_path / "kits"))
    (project / ".vespe/config.json").write_text('{"active_kits": ["sums"]}', encoding="utf-8")
    here = "of-the-machine-that-sends"
    monkeypatch.setenv("VESPE_SUMS__SUMS_KEY", here)
    workspace = open_workspace(project)
    tool, call = workspace.tool("count"), Call(tool="count", arguments={})
    path = CallPath(workspace=workspace, registry=ToolRegistry(), trusted=True)
    assert path.run_tool(tool, call).result == len(here)
    chunk = Chunk(items=(Item(id=1, arguments={}),), retries=0, timeout_s=None)
    sent = pickle.dumps((pack(tool), chunk))
    assert b"SUMS_KEY" in sent and here.encode() not in sent
    monkeypatch.delenv("VESPE_KITS_PATH")
    monkeypatch.setenv("VESPE_SUMS__SUMS_KEY", "of-a-worker")
    outcomes = run_chunk(*pickle.loads(sent))
    assert outcomes is not None
    assert [one.outcome.result for one in outcomes] == [len("of-a-worker")]


@pytest.mark.parametrize("approved", [True, False])
def test_only_what_may_run_here_is_sent_elsewhere(
    project: Path, tmp_path: Path, approved: bool
) -> None:
    source = write_kit(tmp_path / "src", "sums")
    python_tool(source / "tool-double", "double", "return inputs['n'] * 2", schema=NUMBER)
    with store.staging() as directory, store.locked():
        staged = staging.stage(origins.folder_tree(str(source), "sums"), directory)
        staging.commit(staged)
    if approved:
        approvals.store_kit(staged.digest, str(source))
    kit = Path(store.kit_path(staged.digest, "sums"))
    path = CallPath(workspace=open_workspace(project), registry=ToolRegistry(), trusted=True)
    tool = tool_directory.load(str(kit / "tool-double"), scope="sums", kit_id="sums")
    if not approved:
        with pytest.raises(Refused, match="have not approved"), path.approved(tool):
            pass
        return
    with path.approved(tool) as found:
        sent, there = opened(pack(found))
    assert sent.run_tool(there, Call(tool="double", arguments={"n": 4})).result == 8


def test_what_was_changed_in_the_cache_is_unpacked_anew(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parcel = pack(own_tool(project))
    opened(parcel)
    script = (
        Path(locations.user_cache_dir())
        / "batch"
        / parcel.digest
        / ".vespe/tools/tool-double/main.py"
    )
    script.write_text("def double(**inputs): return 'forged'", encoding="utf-8")
    monkeypatch.setattr(parcels, "_OPENED", {})
    path, tool = opened(parcel)
    assert path.run_tool(tool, Call(tool="double", arguments={"n": 4})).result == 8


def test_another_version_is_refused(project: Path) -> None:
    with pytest.raises(Refused, match=r"was sent by 9\.9"):
        opened(replace(pack(own_tool(project)), version="9.9"))


def test_a_tool_of_this_process_alone_cannot_travel() -> None:
    with pytest.raises(Refused, match="only in this process"):
        pack(Tool(uid="tool-t", name="t", description="", input_schema={}))


def test_the_digest_covers_names_modes_and_bytes() -> None:
    files = (("a", False, b"x"), ("b", True, b"y"))
    others = [
        (("a", True, b"x"), files[1]),
        (("c", False, b"x"), files[1]),
        (("a", False, b"z"), files[1]),
        files[:1],
    ]
    assert parcels.digest_of(tuple(reversed(files))) == parcels.digest_of(files)
    assert parcels.digest_of(files) not in {parcels.digest_of(other) for other in others}
