"""Tools on disk: made, renamed, copied and removed whole, under races, kills and full disks."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool, write_tool
from vespe.defaults import PROJECT_TOOLS
from vespe.errors import (
    InvalidDocument,
    InvalidTool,
    Refused,
    StorageError,
    ToolNotFound,
    UsageError,
)
from vespe.tools import catalog, directory
from vespe.tools.authoring import (
    change_tool,
    copy_tool,
    create_tool,
    remove_tool,
    rename_tool,
    write_config,
)
from vespe.tools.drafts import Draft, draft_from_function, draft_tool
from vespe.tools.names import UID_PATTERN

SCAN = """
import sys
from vespe.tools import authoring, catalog
from vespe.tools.drafts import draft_tool
tools = sys.argv[1]
taken = lambda name: bool(catalog.find(tools, name, scope="project_tools", kit_id=None))
"""


def killed(code: str, *arguments: str) -> int:
    """Run code that kills itself, unmeasured: a killed process leaves a torn coverage file. Gives
    the exit status.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    return subprocess.run(
        [sys.executable, "-c", SCAN + code, *arguments], env=environment, check=False
    ).returncode


@pytest.fixture
def tools(tmp_path: Path, home: Path) -> Path:
    directory = tmp_path / "p/.vespe/tools"
    directory.mkdir(parents=True)
    return directory


def taken_in(tools: Path) -> Callable[[str], bool]:
    return lambda name: bool(catalog.find(tools, name, scope="project_tools", kit_id=None))


def made(tools: Path, name: str = "count", type: str = "python_script", **fields: Any) -> Path:
    tool = create_tool(tools, draft_tool(name, type, fields=fields), taken=taken_in(tools))
    assert tool.directory is not None
    return Path(tool.directory)


def listed(tools: Path) -> list[tuple[str | None, str | None]]:
    return [
        (entry.name, entry.problem)
        for entry in catalog.scan(tools, scope="project_tools", kit_id=None).values()
    ]


def config(directory: Path) -> Any:
    return json.loads((directory / "config.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("type", ["python_script", "shell_command", "http_request"])
def test_a_created_tool_is_listed_whole(type: str, tools: Path) -> None:
    tool = create_tool(tools, draft_tool("made", type), taken=taken_in(tools))
    assert (tool.name, tool.directory, tool.scope) == (
        "made",
        str(tools / tool.uid),
        "project_tools",
    )
    assert UID_PATTERN.fullmatch(tool.uid) and config(tools / tool.uid)["uid"] == tool.uid
    assert listed(tools) == [("made", None)]
    assert (tools / tool.uid / "description.md").read_text(encoding="utf-8").startswith("# made\n")


def test_a_name_that_is_taken_is_refused_and_nothing_is_made(tools: Path) -> None:
    made(tools)
    with pytest.raises(UsageError, match="already a tool called 'count'"):
        made(tools)
    assert len(os.listdir(tools)) == 1


def test_a_draft_that_would_not_load_is_refused_with_all_that_is_wrong(tools: Path) -> None:
    with pytest.raises(InvalidTool) as caught:
        made(tools, schema={"type": "array"}, args={"text": 1})
    assert str(caught.value).startswith("the new tool: ") and os.listdir(tools) == []


def test_the_tools_directory_is_made_where_it_is_missing_and_its_parent_is_not(
    tmp_path: Path, home: Path
) -> None:
    draft = draft_tool("x", "shell_command")
    assert create_tool(tmp_path / "tools", draft, taken=lambda _: False).name == "x"
    with pytest.raises(StorageError):
        create_tool(tmp_path / "a/tools", draft, taken=lambda _: False)


def test_a_function_becomes_a_tool_with_what_could_not_be_said(tools: Path, tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text("def f(a, b: int = 1): ...\n", encoding="utf-8")
    draft = draft_from_function(f"{tmp_path}/f.py:f")
    tool, notes = create_tool(tools, draft, taken=taken_in(tools)), draft.notes
    assert (tool.name, tool.input_schema["required"]) == ("f", ["a"])
    assert notes == ("a: has no annotation, so that any value is accepted",)


def test_p46_of_eight_processes_that_create_one_name_exactly_one_wins(tools: Path) -> None:
    code = SCAN + "authoring.create_tool(tools, draft_tool('same', 'python_script'), taken=taken)"
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tools)],
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        for _ in range(8)
    ]
    errors = [process.communicate()[1] for process in running]
    assert sorted(process.returncode for process in running) == [0] + [1] * 7
    assert all(
        "UsageError: there is already a tool called 'same'" in error for error in errors if error
    )
    assert listed(tools) == [("same", None)] and len(os.listdir(tools)) == 1


def test_p46_processes_that_create_different_names_all_win(tools: Path) -> None:
    code = (
        SCAN + "for n in range(3): authoring.create_tool(tools, draft_tool(f'n{sys.argv[2]}{n}', "
        "'shell_command'), taken=taken)"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(tools), str(number)])
        for number in range(4)
    ]
    assert [process.wait() for process in running] == [0] * 4
    assert listed(tools) == [(f"n{p}{n}", None) for p in range(4) for n in range(3)]


@pytest.mark.parametrize("kind", ["fifo", "file"])
def test_p48_a_tools_directory_that_is_none_is_a_sentence_and_never_blocks(
    kind: str, tools: Path
) -> None:
    tools.rmdir()
    os.mkfifo(tools) if kind == "fifo" else tools.write_text("", encoding="utf-8")
    with pytest.raises(InvalidDocument, match="is not a directory"):
        made(tools)


KILLED = {
    "before a file": "trees._write = lambda *a: stop()",
    "between files": "write = trees._write\ntrees._write = lambda *a: (write(*a), stop())",
    "before the rename": "os.rename = lambda *a: stop()",
    "after the rename": "rename = os.rename\nos.rename = lambda *a: (rename(*a), stop())",
}


@pytest.mark.parametrize("moment", KILLED)
def test_p45_a_kill_during_create_leaves_a_whole_tool_or_none_and_the_next_create_clears_up(
    moment: str, tools: Path
) -> None:
    code = (
        "import os, signal\nfrom vespe.files import trees\nstop = lambda: os.kill(os.getpid(), "
        f"signal.SIGKILL)\n{KILLED[moment]}\n"
    )
    code += "authoring.create_tool(tools, draft_tool('killed', 'python_script'), taken=taken)"
    assert killed(code, str(tools)) == -signal.SIGKILL
    whole = [("killed", None)] if moment == "after the rename" else []
    assert listed(tools) == whole
    made(tools, "next")
    assert listed(tools) == [*whole, ("next", None)]
    assert not [name for name in os.listdir(tools) if name.startswith(".")]


def test_p45_a_kill_during_removal_leaves_no_half_of_a_tool(tools: Path) -> None:
    directory = made(tools)
    code = "import os, signal\nos.unlink = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)\n"
    code += "authoring.remove_tool(tools, sys.argv[2])"
    assert killed(code, str(tools), directory.name) == -signal.SIGKILL
    assert listed(tools) == [] and len(os.listdir(tools)) == 1
    made(tools, "next")
    assert len(os.listdir(tools)) == 1


def test_p47_a_full_disk_leaves_nothing_and_says_so_in_one_line(tools: Path) -> None:
    code = (
        f"{SCAN}\nimport resource\nfrom vespe.errors import StorageError\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))\n"
    )
    code += (
        "try: authoring.create_tool(tools, draft_tool('x', 'python_script'), "
        "taken=lambda _: False)\n"
    )
    code += "except StorageError as error: print(error)"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tools)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.startswith(f"cannot make {tools}/tool-") and done.stdout.count("\n") == 1
    assert os.listdir(tools) == []


def test_p26_renaming_changes_the_name_alone(tools: Path) -> None:
    directory = write_tool(
        tools / "tool-hand", "old", tags=["a"], **{"x-mine": {"kept": 1}}, files={"notes.txt": "n"}
    )
    (directory / "config.json").chmod(0o600)
    before = config(directory)
    tool = rename_tool(tools, "tool-hand", name="new", taken=taken_in(tools))
    assert (tool.name, tool.uid, config(directory)) == (
        "new",
        "tool-hand",
        {**before, "name": "new"},
    )
    assert list(config(directory)) == list(before)
    assert (directory / "config.json").stat().st_mode & 0o777 == 0o600
    assert sorted(os.listdir(directory)) == ["config.json", "description.md", "notes.txt"]


def test_a_change_is_told_as_it_was_written(tools: Path) -> None:
    python_tool(tools / "tool-a", "a", "return 1")
    told: list[Mapping[str, bytes]] = []
    before, after = change_tool(
        tools, "tool-a", lambda said: {**said, "x": 1}, written=lambda files, _: told.append(files)
    )
    assert after == {**before, "x": 1}
    assert told == [{"config.json": (tools / "tool-a/config.json").read_bytes()}]
    assert (
        change_tool(tools, "tool-a", dict, written=lambda files, _: told.append(files))[1] == after
    )
    assert len(told) == 1
    with pytest.raises(ToolNotFound):
        change_tool(tools, "tool-b", dict)


def test_renaming_to_a_name_that_is_taken_or_not_allowed_changes_nothing(tools: Path) -> None:
    one, _ = made(tools, "one"), made(tools, "two")
    before = (one / "config.json").read_bytes()
    for name in ("two", "not allowed"):
        with pytest.raises(UsageError):
            rename_tool(tools, one.name, name=name, taken=taken_in(tools))
    assert (one / "config.json").read_bytes() == before


def test_renaming_a_tool_to_its_own_name_writes_nothing(tools: Path) -> None:
    directory = made(tools)
    before = (directory / "config.json").stat().st_mtime_ns
    assert rename_tool(tools, directory.name, name="count", taken=taken_in(tools)).name == "count"
    assert (directory / "config.json").stat().st_mtime_ns == before


@pytest.mark.parametrize("uid", ["tool-gone", "", "..", "../tools", "tool-link"])
def test_renaming_what_is_no_tool_of_the_directory_is_not_found(uid: str, tools: Path) -> None:
    (tools / "tool-link").symlink_to(made(tools))
    with pytest.raises(ToolNotFound):
        rename_tool(tools, uid, name="new", taken=taken_in(tools))


def test_renaming_a_tool_whose_config_is_no_json_is_refused(tools: Path) -> None:
    (made(tools) / "config.json").write_text("{", encoding="utf-8")
    with pytest.raises(InvalidDocument):
        rename_tool(tools, os.listdir(tools)[0], name="new", taken=taken_in(tools))


def test_a_kits_tool_is_copied_with_its_files_and_its_mode(tools: Path, tmp_path: Path) -> None:
    source = python_tool(tmp_path / "kit/tool-a", "kept", "return 1", kit_id="kit", extra_key=1)
    (source / "bin").mkdir()
    (source / "bin/run").write_text("#!/bin/sh\n", encoding="utf-8")
    (source / "bin/run").chmod(0o755)
    tool = copy_tool(source, tools, taken=taken_in(tools))
    assert (tool.name, tool.kit_id, tool.document["extra_key"]) == ("kept", None, 1)
    assert tool.uid != "tool-a" and os.access(tools / tool.uid / "bin/run", os.X_OK)
    assert (tools / tool.uid / "main.py").read_bytes() == (source / "main.py").read_bytes()


def test_a_copy_within_the_project_needs_another_name(tools: Path) -> None:
    source = made(tools)
    with pytest.raises(UsageError):
        copy_tool(source, tools, taken=taken_in(tools))
    with pytest.raises(UsageError, match="is not a valid tool name"):
        copy_tool(source, tools, taken=taken_in(tools), name="a b")
    assert copy_tool(source, tools, taken=taken_in(tools), name="copy").name == "copy"
    assert listed(tools) == [("copy", None), ("count", None)]


def test_p11_a_source_with_a_link_is_not_copied(tools: Path, tmp_path: Path) -> None:
    source = python_tool(tmp_path / "tool-a", "a", "return 1")
    (source / "secret").symlink_to("/etc/passwd")
    with pytest.raises(InvalidDocument, match="is not a regular file"):
        copy_tool(source, tools, taken=taken_in(tools))
    assert os.listdir(tools) == []


def test_a_source_that_is_no_tool_is_not_copied(tools: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    broken = write_tool(tmp_path / "tool-b", "b", schema={"type": 3})
    with pytest.raises(StorageError, match=r"config\.json"):
        copy_tool(tmp_path / "empty", tools, taken=taken_in(tools))
    with pytest.raises(InvalidTool):
        copy_tool(broken, tools, taken=taken_in(tools))
    nameless = {key: value for key, value in config(broken).items() if key != "name"}
    (broken / "config.json").write_text(json.dumps(nameless), encoding="utf-8")
    with pytest.raises(InvalidTool):
        copy_tool(broken, tools, taken=taken_in(tools))
    assert os.listdir(tools) == []


def test_a_tool_is_removed_broken_or_not_and_its_neighbours_stay(tools: Path) -> None:
    directory, other = made(tools, "one"), made(tools, "two")
    (tools / "broken").mkdir()
    (tools / "broken/config.json").write_text("{", encoding="utf-8")
    remove_tool(tools, directory.name)
    remove_tool(tools, "broken")
    assert os.listdir(tools) == [other.name]


@pytest.mark.parametrize("uid", ["../p", "/etc", ".", "..", ""])
def test_p12_nothing_outside_the_tools_directory_is_removed(uid: str, tools: Path) -> None:
    directory = made(tools)
    with pytest.raises((Refused, ToolNotFound)):
        remove_tool(tools, uid)
    assert os.listdir(tools) == [directory.name]


def test_p12_a_linked_tool_is_not_removed(tools: Path, tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tools / "tool-link").symlink_to(tmp_path / "kept")
    with pytest.raises(Refused):
        remove_tool(tools, "tool-link")
    assert (tmp_path / "kept").is_dir()


def test_removing_what_is_not_there_is_not_found(tools: Path) -> None:
    with pytest.raises(ToolNotFound):
        remove_tool(tools, "tool-gone")
    with pytest.raises(StorageError):
        remove_tool(tools / "nowhere", "tool-gone")


def test_an_interrupted_create_leaves_nothing(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        made(tools)
    assert os.listdir(tools) == []


def test_a_name_in_a_draft_is_checked_too(tools: Path) -> None:
    draft = draft_tool("fine", "shell_command")
    with pytest.raises(UsageError):
        create_tool(tools, Draft(name="not fine", document=draft.document), taken=lambda _: False)


@pytest.mark.parametrize("linked", [True, False])
def test_nothing_is_written_where_a_link_in_place_of_the_directory_leads(
    tools: Path, tmp_path: Path, linked: bool
) -> None:
    elsewhere = tmp_path / "elsewhere"
    made = write_tool(elsewhere / "tool-a", "a")
    tools.rmdir()
    if linked:
        tools.symlink_to(elsewhere)
    else:
        elsewhere.rename(tools)
    (entry,) = catalog.find(str(tools), "a", scope=PROJECT_TOOLS, kit_id=None)
    tool = directory.load(entry.path, scope=PROJECT_TOOLS)
    before = (elsewhere if linked else tools).stat().st_mtime_ns
    attempts: list[Callable[[], object]] = [
        lambda: create_tool(tools, draft_tool("b", type="python_script"), taken=lambda _: False),
        lambda: copy_tool(entry.path, tools, taken=lambda _: False, name="c"),
        lambda: write_config(tool, {**tool.document, "tags": ["x"]}),
        lambda: rename_tool(tools, made.name, name="d", taken=lambda _: False),
        lambda: remove_tool(tools, made.name),
    ]
    for attempt in attempts:
        if linked:
            with pytest.raises(Refused, match="is a link"):
                attempt()
        else:
            attempt()
    assert ((elsewhere if linked else tools).stat().st_mtime_ns == before) is linked
