"""The tools of one scope: everything is listed, nothing odd hides the rest, and one name is found
without all.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.ondisk import python_tool, write_tool
from vespe.errors import StorageError
from vespe.models import Entry
from vespe.tools import catalog
from vespe.tools.catalog import Catalog


@pytest.fixture
def tools(home: Path, tmp_path: Path) -> Path:
    directory = tmp_path / "tools"
    directory.mkdir()
    return directory


def scan(directory: Path, **options: Any) -> Catalog:
    return catalog.scan(directory, **{"scope": "project_tools", "kit_id": None} | options)


def find(directory: Path, wanted: str) -> tuple[Entry, ...]:
    return catalog.find(directory, wanted, scope="project_tools", kit_id=None)


def names(found: Catalog) -> list[tuple[str, str | None]]:
    return [(entry.uid, entry.name) for entry in found.values()]


def test_an_entry_says_what_its_directory_says(tools: Path) -> None:
    path = python_tool(tools / "tool-a", "one", "return 1", description="What it does.")
    expected = Entry(
        uid="tool-a",
        name="one",
        scope="mine",
        kit_id=None,
        type="python_script",
        description="What it does.",
        path=str(path),
    )
    assert scan(tools, scope="mine")["tool-a"] == expected
    assert catalog.find(tools, "one", scope="mine", kit_id=None) == (expected,)


def test_tools_come_by_name_then_uid_and_nameless_ones_last(tools: Path) -> None:
    for uid, name in (("tool-z1", "alpha"), ("tool-a1", "beta"), ("tool-b1", "alpha")):
        write_tool(tools / uid, name)
    (write_tool(tools / "tool-000", "gone") / "config.json").write_text("{", encoding="utf-8")
    assert names(scan(tools)) == [
        ("tool-b1", "alpha"),
        ("tool-z1", "alpha"),
        ("tool-a1", "beta"),
        ("tool-000", None),
    ]


def test_a_directory_that_does_not_exist_holds_no_tools(tools: Path) -> None:
    assert len(scan(tools / "missing")) == 0 and find(tools / "missing", "a") == ()


def test_a_directory_that_cannot_be_read_is_an_error_and_not_an_empty_one(tools: Path) -> None:
    (tools / "file").write_text("", encoding="utf-8")
    with pytest.raises(StorageError):
        scan(tools / "file")
    with pytest.raises(StorageError):
        find(tools / "file", "name")


def test_what_is_being_made_and_what_is_no_tool_is_ignored(tools: Path) -> None:
    write_tool(tools / ".tool-new.tmp", "half")
    (tools / "assets").mkdir()
    (tools / "tool-file").write_text("a stray file", encoding="utf-8")
    (tools / "link").symlink_to(tools / "assets")
    os.mkfifo(tools / "tool-fifo")
    assert names(scan(tools)) == [] and find(tools, "half") == () and find(tools, "tool-file") == ()


def test_a_tool_in_a_directory_whose_name_is_no_uid_is_listed_as_broken(tools: Path) -> None:
    write_tool(tools / "my_tool", "mine")
    assert scan(tools)["my_tool"].problem and find(tools, "mine")[0].problem


def test_p48_odd_files_are_reported_broken_and_hide_nothing(
    tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for uid in ("fifo", "socket", "directory", "large", "loop", "bytes", "deep"):
        write_tool(tools / f"tool-{uid}", uid)
        (tools / f"tool-{uid}" / "config.json").unlink()
    os.mkfifo(tools / "tool-fifo/config.json")
    server = socket.socket(socket.AF_UNIX)
    monkeypatch.chdir(tools / "tool-socket")  # a socket's path is limited to 100 bytes
    server.bind("config.json")
    (tools / "tool-directory/config.json").mkdir()
    (tools / "tool-large/config.json").touch()
    os.truncate(tools / "tool-large/config.json", 1 << 30)
    (tools / "tool-loop/config.json").symlink_to("config.json")
    (tools / "tool-bytes/config.json").write_bytes(b"\xff\xfe\x00")
    (tools / "tool-deep/config.json").write_text("[" * 100_000, encoding="utf-8")
    (tools / "tool-empty").mkdir()
    (tools / "tool-link").symlink_to(write_tool(tmp_path / "elsewhere" / "tool-link", "linked"))
    write_tool(tools / "tool-whole", "whole")
    found = scan(tools)
    server.close()
    assert [entry.uid for entry in found.values() if entry.problem is None] == ["tool-whole"]
    assert {e.uid[5:] for e in found.problems} == {
        "fifo",
        "socket",
        "directory",
        "large",
        "loop",
        "bytes",
        "deep",
        "empty",
        "link",
    }
    assert all((e.name, e.type, e.description) == (None, None, None) for e in found.problems)
    assert [entry.uid for entry in find(tools, "whole")] == ["tool-whole"]


@pytest.mark.parametrize("uid", ["fifo", "empty", "link"])
def test_p48_an_odd_tool_asked_for_by_its_uid_is_broken_too(
    tools: Path, tmp_path: Path, uid: str
) -> None:
    (tools / "tool-empty").mkdir()
    (tools / "tool-link").symlink_to(write_tool(tmp_path / "elsewhere" / "tool-link", "linked"))
    (tools / "tool-fifo").mkdir()
    os.mkfifo(tools / "tool-fifo/config.json")
    (entry,) = find(tools, f"tool-{uid}")
    assert entry == scan(tools)[f"tool-{uid}"] and entry.problem


SCANNING = """
import os, shutil, sys
from vespe.tools import catalog

tools = sys.argv[1]

def remove(event, arguments):
    if event == "open" and arguments[0] == f"{tools}/tool-a/config.json":
        shutil.rmtree(f"{tools}/tool-a", ignore_errors=True)

sys.addaudithook(remove)  # it is called before the file is opened
for entry in catalog.scan(tools, scope="project_tools", kit_id=None).values():
    print(entry.uid, entry.problem)
"""


def test_p48_a_tool_that_vanishes_while_it_is_read_is_broken(tools: Path) -> None:
    write_tool(tools / "tool-a", "one")
    write_tool(tools / "tool-b", "two")
    done = subprocess.run(
        [sys.executable, "-c", SCANNING, str(tools)],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    whole, broken = done.stdout.splitlines()
    assert not (tools / "tool-a").exists()
    assert whole == "tool-b None" and broken.startswith("tool-a ") and broken != "tool-a None"


def test_a_missing_script_is_seen_though_the_verdict_on_its_config_is_kept(tools: Path) -> None:
    directory = python_tool(tools / "tool-a", "one", "return 1")
    assert scan(tools)["tool-a"].problem is None
    (directory / "main.py").unlink()
    assert "main.py" in str(scan(tools)["tool-a"].problem) and "main.py" in str(
        find(tools, "one")[0].problem
    )
    (directory / "main.py").write_text("def one(): ...", encoding="utf-8")
    assert scan(tools)["tool-a"].problem is None


def test_p13b_two_tools_of_one_name_are_both_broken_and_each_names_the_other(tools: Path) -> None:
    for uid in ("tool-b", "tool-a"):
        write_tool(tools / uid, "same")
    found = scan(tools)
    assert [entry.problem for entry in found.values()] == [
        "shares its name with tool-b",
        "shares its name with tool-a",
    ]
    assert found.problems == (found["tool-a"], found["tool-b"])


def test_tools_that_share_a_name_are_found_as_their_directories_say(tools: Path) -> None:
    for uid in ("tool-b", "tool-a"):
        write_tool(tools / uid, "same")
    found = scan(tools)
    assert [(entry.uid, entry.problem) for entry in found.named("same")] == [
        ("tool-a", None),
        ("tool-b", None),
    ]
    assert found.lookup("same") == find(tools, "same") and found.lookup("tool-b") == find(
        tools, "tool-b"
    )


def test_a_problem_that_many_share_stays_short(tools: Path) -> None:
    for n in range(300):
        write_tool(tools / f"tool-{n:04d}", "same")
    found = scan(tools)
    assert len(found.problems) == 300 and all(len(str(e.problem)) < 110 for e in found.problems)
    assert (
        found["tool-0000"].problem
        == "shares its name with tool-0001 and 298 more (`vespe tool resolve same` shows all)"
    )


def test_a_broken_tool_keeps_its_own_reason_beside_its_twin(tools: Path) -> None:
    write_tool(tools / "tool-a", "same", implementation={"type": "nonsense"})
    write_tool(tools / "tool-b", "same")
    assert str(scan(tools)["tool-a"].problem).endswith("; shares its name with tool-b")
    assert scan(tools).named("same")[0].problem and "shares" not in str(
        scan(tools).named("same")[0].problem
    )


def test_a_broken_tool_whose_name_can_be_read_is_found_by_it(tools: Path) -> None:
    write_tool(tools / "tool-a", "one", implementation={"type": "nonsense"})
    (entry,) = find(tools, "one")
    assert entry.problem and entry.uid == "tool-a"


def test_a_name_written_with_escapes_is_found(tools: Path) -> None:
    directory = write_tool(tools / "tool-a", "one")
    text = (
        (directory / "config.json")
        .read_text(encoding="utf-8")
        .replace('"name": "one"', '"name": "\\u006fne"')
    )
    (directory / "config.json").write_text(text, encoding="utf-8")
    assert [entry.name for entry in find(tools, "one")] == ["one"]


def test_a_name_behind_a_long_text_is_found(tools: Path) -> None:
    write_tool(tools / "tool-a", "short", description="x" * 200_000)
    config = json.loads((tools / "tool-a/config.json").read_text(encoding="utf-8"))
    (tools / "tool-a/config.json").write_text(
        json.dumps({k: config[k] for k in ("uid", "description", "schema")} | {"name": "late"}),
        encoding="utf-8",
    )
    assert [entry.uid for entry in find(tools, "late")] == ["tool-a"]


def test_a_uid_is_no_name_and_a_name_that_looks_like_a_uid_is_found_after_it(tools: Path) -> None:
    write_tool(tools / "tool-a", "tool-b")
    assert [entry.uid for entry in find(tools, "tool-b")] == ["tool-a"]
    write_tool(tools / "tool-b", "other")
    assert [entry.uid for entry in find(tools, "tool-b")] == ["tool-b"]
    assert scan(tools).lookup("tool-b") == find(tools, "tool-b")


@pytest.mark.parametrize(
    "wanted",
    [
        "",
        ".",
        "..",
        "../tools/tool-a",
        "tool-a/",
        "/etc",
        "tool-a\n",
        "tool-a\0",
        "TOOL-A",
        "\ud800",
        "tool-../x",
    ],
)
def test_p13_a_hostile_name_is_never_a_path(tools: Path, wanted: str) -> None:
    write_tool(tools / "tool-a", "one")
    assert find(tools, wanted) == () and scan(tools).lookup(wanted) == ()


def test_a_catalog_cannot_be_changed(tools: Path) -> None:
    write_tool(tools / "tool-a", "one")
    found = scan(tools)
    with pytest.raises(TypeError):
        found["tool-b"] = found["tool-a"]  # type: ignore[index]  # that it cannot is what is tested
    with pytest.raises(FrozenInstanceError):
        found["tool-a"].name = "two"  # type: ignore[misc]  # as above
    assert repr(found) == "<Catalog of 1 tools, 0 of them broken>"


def test_a_kept_scan_loads_neither_schemas_nor_pathlib(tools: Path) -> None:
    for n in range(3):
        python_tool(tools / f"tool-{n}0", f"t{n}", "return 1")
    code = (
        "import sys; before = {*sys.modules}; from vespe.tools import catalog; "
        "catalog.scan(sys.argv[1], scope='s', kit_id=None); print(*{*sys.modules} - before)"
    )
    loaded = [
        set(
            subprocess.run(
                [sys.executable, "-c", code, str(tools)],
                capture_output=True,
                text=True,
                check=True,
                encoding="utf-8",
            ).stdout.split()
        )
        for _ in range(2)
    ]
    assert not loaded[1] & {
        "jsonschema_rs",
        "jsonschema",
        "referencing",
        "pathlib",
        "tempfile",
        "subprocess",
    }


configs = st.one_of(
    st.builds(
        lambda name, kind: json.dumps({"name": name, "description": kind}),
        st.sampled_from(["one", "two", "tool-aa", "é", 'q"', "a\\b", "", 1, None]),
        st.text(max_size=5),
    ),
    st.sampled_from(
        ["", "{", "[]", '{"name": "\\u006fne"}', '{"name": "one", "name": "two"}', '"one"', "one"]
    ),
)


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(st.sampled_from(["tool-aa", "tool-bb", "tool-cc", "other", ".hidden"]), configs)
)
def test_finding_one_name_gives_what_scanning_everything_gives(found: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        for uid, text in found.items():
            os.mkdir(f"{directory}/{uid}")
            Path(directory, uid, "config.json").write_text(text, encoding="utf-8")
        everything = scan(Path(directory))
        for wanted in ("one", "two", "tool-aa", "tool-dd", "é", 'q"', "a\\b", "", "zzz"):
            assert find(Path(directory), wanted) == everything.lookup(wanted)
