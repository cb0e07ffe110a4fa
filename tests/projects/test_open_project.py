"""A project that stays open answers as a new process would, through each of those who keep one
open.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.support.ondisk import PATIENCE_S, approve_bytes, python_tool, write_kit, write_tool
from vespe import Project, ToolRegistry, errors
from vespe.calls import log
from vespe.calls.sandboxing import machine
from vespe.features.mcp.server.tools import ServedTools
from vespe.models import Outcome
from vespe.projects import user_config, watched_tools
from vespe.projects.init import found_project
from vespe.projects.open_project import OpenProject
from vespe.projects.workspace import open_workspace
from vespe.tools import name_index
from vespe.trust import gate

Caller: TypeAlias = Callable[[str], Outcome]


@pytest.fixture
def root(home: Path, tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    found_project(project)
    write_tool(project / ".vespe/tools/tool-add", "add")
    write_tool(project / ".vespe/tools/tool-other", "other")
    settle()
    return project


@pytest.fixture(params=["library", "server"])
def call(request: pytest.FixtureRequest, root: Path) -> Caller:
    """Call tools through one of those who keep a project open; every tool is of this process, and
    names itself.
    """
    registry = ToolRegistry()
    for name in ("add", "other", "kits_own"):
        registry.register(lambda name=name, **_: name, name=name)
    if request.param == "library":
        project = Project(root, registry=registry)
        return lambda name: project.execute_tool(name, {})
    served = ServedTools(open_workspace(root), registry=registry)
    return lambda name: served.call(name, {}, cancel=None, progress=None)[0]


def settle() -> None:
    time.sleep(0.12)  # until stamps are older than clocks are coarse


def change(path: Path, before: str, after: str) -> None:
    path.write_text(path.read_text(encoding="utf-8").replace(before, after), encoding="utf-8")


def code_of(outcome: Outcome) -> str:
    return outcome.error.code if outcome.error else "ok"


def believed(call: Caller) -> None:
    assert [call("add").result for _ in range(3)] == ["add"] * 3


def test_a_tool_that_is_rewritten_in_place_is_the_new_one_for_the_next_call(
    call: Caller, root: Path
) -> None:
    believed(call)
    change(
        root / ".vespe/tools/tool-add/config.json",
        '"properties": {}',
        '"properties": {}, "required": ["a"]',
    )
    assert code_of(call("add")) == "invalid_arguments"


def test_a_tool_that_is_gone_is_gone_for_the_next_call(call: Caller, root: Path) -> None:
    believed(call)
    (root / ".vespe/tools/tool-add").rename(root / "aside")
    with pytest.raises(errors.NotFound):
        call("add")
    (root / "aside").rename(root / ".vespe/tools/tool-add")
    believed(call)


def test_p2_trust_that_is_taken_back_stops_the_next_call(call: Caller, root: Path) -> None:
    believed(call)
    gate.untrust(root)
    with pytest.raises(errors.NotTrusted):
        call("add")
    gate.trust_place(root)
    believed(call)


def test_p2_a_script_beside_an_approved_tool_is_looked_at_by_each_call(
    call: Caller, root: Path
) -> None:
    gate.untrust(root)
    approve_bytes(root)
    believed(call)
    (root / ".vespe/tools/tool-other/main.py").write_text("evil = True\n", encoding="utf-8")
    with pytest.raises(errors.NotTrusted):
        call("add")


def test_p2_an_approval_of_bytes_does_not_hold_with_another_kit(
    call: Caller, root: Path, home: Path
) -> None:
    write_kit(home / "data/vespe/kits", "mine")
    gate.untrust(root)
    approve_bytes(root)
    believed(call)
    (root / ".vespe/config.json").write_text(
        json.dumps({"active_kits": ["mine"]}), encoding="utf-8"
    )
    with pytest.raises(errors.NotTrusted):
        call("add")


def test_what_the_user_says_of_the_sandbox_holds_for_the_next_call(
    call: Caller, root: Path
) -> None:
    python_tool(root / ".vespe/tools/tool-own", "own", "return 1")
    for setting, level in (("auto", machine().level), ("off", "off"), ("auto", machine().level)):
        user_config.set_value("sandbox", setting)
        held = call("own").sandbox
        assert held is not None and held["level"] == level


def test_a_configuration_that_breaks_stops_the_next_call_until_it_is_mended(
    call: Caller, root: Path
) -> None:
    believed(call)
    config = root / ".vespe/config.json"
    whole = config.read_text(encoding="utf-8")
    config.write_text("{", encoding="utf-8")
    with pytest.raises(errors.InvalidDocument):
        call("add")
    config.write_text(whole, encoding="utf-8")
    believed(call)


def test_a_kit_that_comes_first_takes_the_name_and_gives_it_back(
    call: Caller, root: Path, home: Path
) -> None:
    believed(call)
    kit = write_kit(home / "data/vespe/kits", "mine")
    write_tool(
        kit / "tool-kits", "add", schema={"type": "object", "properties": {}, "required": ["kit"]}
    )
    config = root / ".vespe/config.json"
    config.write_text(
        json.dumps(
            {"active_kits": ["mine"], "tool_resolution_order": ["active_kits", "project_tools"]}
        ),
        encoding="utf-8",
    )
    assert code_of(call("add")) == "invalid_arguments"
    settle()
    assert code_of(call("add")) == "invalid_arguments"
    kit.rename(home / "aside")
    believed(call)


def test_a_kit_that_was_away_and_comes_back_takes_the_name_again(
    call: Caller, root: Path, home: Path
) -> None:
    kit = write_kit(home / "data/vespe/kits", "mine")
    write_tool(
        kit / "tool-kits", "add", schema={"type": "object", "properties": {}, "required": ["kit"]}
    )
    order = ["active_kits", "project_tools"]
    (root / ".vespe/config.json").write_text(
        json.dumps({"active_kits": ["mine"], "tool_resolution_order": order}), encoding="utf-8"
    )
    settle()
    kit.rename(home / "aside")
    believed(call)
    settle()
    believed(call)
    (home / "aside").rename(kit)
    assert code_of(call("add")) == "invalid_arguments"


def test_a_project_that_is_replaced_is_another_one(call: Caller, root: Path) -> None:
    believed(call)
    (root / ".vespe").rename(root / "aside")
    with pytest.raises(errors.VespeError):
        call("add")


def test_two_tools_of_one_name_are_refused_and_one_that_comes_back_is_called(
    call: Caller, root: Path
) -> None:
    believed(call)
    write_tool(root / ".vespe/tools/tool-twin", "add")
    with pytest.raises(errors.NotFound):
        call("add")


def test_a_tool_that_takes_a_called_name_in_place_is_seen_soon(root: Path) -> None:
    project = Project(root)
    project.registry.register(lambda: "add", name="add")
    assert project.execute_tool("add", {}).result == "add"
    change(root / ".vespe/tools/tool-other/config.json", '"name": "other"', '"name": "add"')
    until = time.monotonic() + PATIENCE_S
    with pytest.raises(errors.AmbiguousTool):
        while time.monotonic() < until:
            project.execute_tool("add", {})


def test_a_tool_that_takes_a_called_name_in_place_is_seen_at_once_where_linux_tells(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watched_tools, "_WORTH", 1)
    project = Project(root)
    project.registry.register(lambda: "add", name="add")
    assert all(project.execute_tool("add", {}).result == "add" for _ in range(100))
    time.sleep(0.12)
    assert project.execute_tool("add", {}).result == "add"
    config = root / ".vespe/tools/tool-other/config.json"
    for _ in range(20):
        change(config, '"name": "other"', '"name": "add"')
        with pytest.raises(errors.AmbiguousTool):
            project.execute_tool("add", {})
        change(config, '"name": "add"', '"name": "other"')
        assert project.execute_tool("add", {}).result == "add"


def test_a_tool_that_takes_a_name_in_place_is_seen_though_the_index_of_names_has_another(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(name_index.MANY):
        write_tool(root / f".vespe/tools/tool-more-{number}", f"more_{number}")
    settle()
    monkeypatch.setattr(watched_tools, "_WORTH", 1)
    Project(root).get_tool("add")  # keeps the index
    kept = name_index.holders(str(root / ".vespe/tools"), "add", listed=list, named=str)
    assert kept == ["tool-add"]
    live = OpenProject(open_workspace(root))
    until = time.monotonic() + PATIENCE_S
    while live.tool("add") and not live.tools._seen:  # until Linux tells
        assert time.monotonic() < until
    config = root / ".vespe/tools/tool-other/config.json"
    for _ in range(3):
        change(config, '"name": "other"', '"name": "add"')
        with pytest.raises(errors.AmbiguousTool):
            live.tool("add")
        change(config, '"name": "add"', '"name": "other"')
        assert live.tool("add").uid == "tool-add"


def test_a_name_that_no_tool_has_is_looked_for_again_only_where_something_changed(
    root: Path, home: Path
) -> None:
    live = OpenProject(open_workspace(root))
    looked = []
    for name in ("more", "more", "add", "add"):
        before = live._known.get("more")
        looked.append((live.has(name), live._known.get("more") is before))
    assert looked == [(False, False), (False, True), (True, True), (True, True)]
    write_tool(root / ".vespe/tools/tool-more", "more")
    assert live.has("more")
    settle()
    assert live.has("more") and live.tool("more").uid == "tool-more"
    kit = write_kit(home / "data/vespe/kits", "mine")
    write_tool(kit / "tool-kits", "kits")
    settle()
    assert not live.has("kits") and not live.has("kits")
    (root / ".vespe/config.json").write_text('{"active_kits": ["mine"]}', encoding="utf-8")
    assert live.has("kits")
    settle()
    assert live.has("kits") and not live.has("soon") and not live.has("soon")
    change(kit / "tool-kits/config.json", '"name": "kits"', '"name": "soon"')
    settle()
    assert live.has("soon") and not live.has("kits")
    kit.rename(home / "aside")
    assert not live.has("soon")


@pytest.mark.parametrize("name", ["script", "tool-script", "project_tools/script"])
def test_what_did_not_change_is_not_read_again_and_a_script_that_is_gone_breaks_its_tool(
    root: Path, name: str
) -> None:
    python_tool(root / ".vespe/tools/tool-script", "script", "return 1")
    settle()
    live = OpenProject(open_workspace(root))
    first = live.tool(name)
    assert live.tool(name) is first
    (root / ".vespe/tools/tool-script/main.py").unlink()
    with pytest.raises(errors.InvalidTool):
        live.tool(name)


def test_what_was_written_this_moment_is_read_again_each_time(root: Path) -> None:
    write_tool(root / ".vespe/tools/tool-young", "young")
    live = OpenProject(open_workspace(root))
    assert live.tool("young") is not live.tool("young")


def test_one_uid_in_two_active_scopes_is_ambiguous_however_late_the_second_comes(
    root: Path, home: Path
) -> None:
    kit = write_kit(home / "data/vespe/kits", "mine")
    (root / ".vespe/config.json").write_text(
        json.dumps({"active_kits": ["mine"]}), encoding="utf-8"
    )
    settle()
    live = OpenProject(open_workspace(root))
    assert live.tool("tool-add") is live.tool("tool-add")
    write_tool(kit / "tool-add", "more")
    with pytest.raises(errors.AmbiguousTool):
        live.tool("tool-add")


def test_each_call_of_an_open_project_is_logged_in_one_file_that_may_be_taken_away(
    root: Path, home: Path
) -> None:
    project = Project(root)
    project.registry.register(lambda: 1, name="add")
    assert all(project.execute_tool("add", {}).ok for _ in range(3))
    assert [line["outcome"] for line in log.read(str(root))] == ["ok"] * 3
    for path in (home / "state").rglob("*.jsonl"):
        path.unlink()
    assert project.execute_tool("add", {}).ok and len(log.read(str(root))) == 1


def test_a_secret_that_is_set_meanwhile_is_seen(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tool(root / ".vespe/tools/tool-key", "key", secrets=["SOME_KEY"])
    project: Any = Project(root)
    project.registry.register(lambda: 1, name="key")
    assert code_of(project.execute_tool("key", {})) == "missing_secret"
    monkeypatch.setenv("SOME_KEY", "abcdefgh")
    assert project.execute_tool("key", {}).ok


@pytest.mark.parametrize("place", [".vespe", ".vespe/tools", ".vespe/tools/tool-add"])
def test_p2_a_place_that_others_may_write_in_stops_the_next_call_until_it_is_mended(
    call: Caller, root: Path, place: str
) -> None:
    for _ in range(60):
        believed(call)
    (root / place).chmod(0o777)
    with pytest.raises(errors.VespeError):
        call("add")
    (root / place).chmod(0o755)
    assert code_of(call("add")) == "ok"
