"""What a compiled tool sees of the disk: the directories that it states, and what it may do
there.
"""

import hashlib
import os
import time
from pathlib import Path

import pytest

from tests.support.wasm_modules import IMPORTS, module, wasm_tool
from vespe.errors import PermissionDenied, Refused, ToolExecutionError
from vespe.models import JsonObject
from vespe.tool_types import Context
from vespe.types.wasm import workers
from vespe.types.wasm.directories import given_directories
from vespe.types.wasm.execution import WasmModule

OPEN = """(import "wasi_snapshot_preview1" "path_open" (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))"""
READ, WRITE, CREATE = 2, 64, 1


def opens(path: str, *, rights: int, flags: int = 0) -> bytes:
    """Return a module that opens a file in its first directory, reads or writes there, and writes
    what it read to stdout.
    """
    data = "".join(f"\\{byte:02x}" for byte in path.encode())
    to = "(i32.load (i32.const 24))" if rights == READ else "(i32.const 0)"
    then = (
        f"(drop (call $read {to} (i32.const 0) (i32.const 1) (i32.const 16)))"
        if rights == READ
        else ""
    )
    if rights == WRITE:
        then = """(i32.store8 (i32.const 600) (i32.const 55))
            (i32.store (i32.const 16) (i32.const 1)) (i32.store (i32.const 4) (i32.const 1))
            (if (call $write (i32.load (i32.const 24)) (i32.const 0) (i32.const 1) (i32.const 16)) (then unreachable))"""
    code = f"""(memory (export "memory") 1) (data (i32.const 64) "{data}") (func (export "_start")
        (if (call $open (i32.const 3) (i32.const 0) (i32.const 64) (i32.const {len(path)}) (i32.const {flags}) (i64.const {rights})
          (i64.const 0) (i32.const 0) (i32.const 24)) (then unreachable))
        (i32.store (i32.const 0) (i32.const 600)) (i32.store (i32.const 4) (i32.const 100)) {then}
        (i32.store (i32.const 4) (i32.load (i32.const 16)))
        (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 16))))"""
    return module(code, imports=IMPORTS + OPEN)


@pytest.fixture
def place(home: Path, tmp_path: Path) -> Path:
    """A project with data, something beside it, and a link that leads there."""
    root = tmp_path / "around" / "place"
    (root / "data").mkdir(parents=True)
    (root / "data" / "a.json").write_text("42", encoding="utf-8")
    (root / "secret.json").write_text("43", encoding="utf-8")
    (root / "data" / "link").symlink_to(root / "secret.json")
    return root


def run(place: Path, code: bytes, permissions: JsonObject) -> object:
    tool = wasm_tool(place, code, permissions=permissions)
    return (
        WasmModule()
        .execute(tool, {}, Context(project_root=str(place), directory=str(place), timeout_s=20.0))
        .result
    )


def test_a_directory_that_is_stated_is_read(place: Path) -> None:
    assert run(place, opens("a.json", rights=READ), {"read": ["data"]}) == 42


@pytest.mark.parametrize(
    "path", ["../secret.json", "link", "/etc/passwd", "nothing", "../data/../secret.json"]
)
def test_what_is_beside_it_is_not_even_through_a_link(place: Path, path: str) -> None:
    with pytest.raises(ToolExecutionError, match="unreachable"):
        run(place, opens(path, rights=READ), {"read": ["data"]})


def test_without_a_statement_there_is_no_directory(place: Path) -> None:
    stated: list[JsonObject] = [{}, {"read": []}, {"network": ["example.org"]}]
    for permissions in stated:
        with pytest.raises(ToolExecutionError, match="unreachable"):
            run(place, opens("a.json", rights=READ), permissions)


def test_writing_wants_to_be_stated(place: Path) -> None:
    writes = opens("new.json", rights=WRITE, flags=CREATE)
    with pytest.raises(ToolExecutionError, match="unreachable"):
        run(place, writes, {"read": ["data"]})
    assert not (place / "data" / "new.json").exists()
    assert (
        run(place, writes, {"write": ["data"]}) == 7
        and (place / "data" / "new.json").read_text(encoding="utf-8") == "7"
    )


@pytest.mark.parametrize(
    ("permissions", "said"),
    [
        ({"read": ["missing"]}, "is not a directory"),
        ({"read": ["secret.json"]}, "is not a directory"),
        ({"read": ["~"]}, "contains the protected place"),
        ({"read": ["/"]}, "contains the protected place"),
        ({"write": ["."]}, "contains .vespe"),
        ({"write": [".vespe"]}, "contains .vespe"),
        ({"write": [".git/hooks"]}, "contains .git"),
        ({"write": ["libs"]}, "contains libs/deep/sub/.git"),
        ({"write": ["libs/deep/sub/.git"]}, "contains libs/deep/sub/.git"),
        ({"write": ["other/"]}, "contains .vespe"),
        ({"write": [".."]}, "contains the project"),
    ],
)
def test_a_directory_that_holds_what_is_of_value_is_refused(
    place: Path, permissions: JsonObject, said: str
) -> None:
    for directory in (".vespe", ".git/hooks", "data/in", "libs/deep/sub/.git", "other/.vespe"):
        (place / directory).mkdir(parents=True)
    os.makedirs(os.path.expanduser("~/.ssh"), exist_ok=True)
    tool = wasm_tool(place, b"", permissions=permissions)
    with pytest.raises(Refused, match=said):
        given_directories(
            tool, Context(project_root=str(place), directory=str(place), timeout_s=1.0)
        )


def test_a_directory_that_is_written_and_not_there_is_made_and_none_in_a_protected_place(
    place: Path,
) -> None:
    writes = opens("new.json", rights=WRITE, flags=CREATE)
    assert run(place, writes, {"write": ["fresh/deep/"]}) == 7
    assert (place / "fresh/deep").stat().st_mode & 0o777 == 0o700
    for stated in ("absent", "~/.ssh/absent/"):
        with pytest.raises(PermissionDenied):
            run(place, writes, {"write": [stated]})
    assert not (place / "absent").exists() and not os.path.lexists(os.path.expanduser("~/.ssh"))


def test_a_link_that_is_put_there_after_its_directory_was_resolved_opens_nothing(
    place: Path,
) -> None:
    reads = opens("a.json", rights=READ)
    assert run(place, reads, {"read": ["data"]}) == 42
    tool = wasm_tool(place, reads, permissions={"read": ["data"]})
    context = Context(project_root=str(place), directory=str(place), timeout_s=20.0)
    with workers.borrow() as (worker, _):
        given = given_directories(tool, context)
        (place / "data").rename(place / "before")
        (place / "data").symlink_to(place / "before")
        code = reads
        request = {"name": "x", "stdin": b"{}", "memory": 1 << 20, "cap": 1 << 20}
        request |= {"directories": given, "code": code, "timeout_s": 20.0}
        request["module"] = hashlib.sha256(code).hexdigest()
        told = worker.ask(request, until=time.monotonic() + 20, cancel=None)
    assert "cannot be opened" in str(told)


def test_a_link_out_of_the_project_opens_nothing_and_one_within_holds(place: Path) -> None:
    (place / ".git").mkdir()
    os.makedirs(os.path.expanduser("~/.ssh"), exist_ok=True)
    for name, target in (
        ("keys", os.path.expanduser("~/.ssh")),
        ("beside", ".."),
        ("hooks", ".git"),
        ("within", str(place / "data")),
    ):
        (place / name).symlink_to(target)
    context = Context(project_root=str(place), directory=str(place), timeout_s=1.0)
    for name in ("keys", "beside", "hooks"):
        with pytest.raises(Refused, match="is a link to"):
            given_directories(wasm_tool(place, b"", permissions={"read": [name]}), context)
    held = wasm_tool(place, b"", permissions={"read": ["within"]})
    assert given_directories(held, context) == [(str(place / "data"), "within", False)]


def test_the_project_may_be_read_and_a_directory_in_it_written(place: Path) -> None:
    (place / ".vespe").mkdir()
    tool = wasm_tool(place, b"", permissions={"read": [".", "data"], "write": ["data"]})
    found = given_directories(
        tool, Context(project_root=str(place), directory=str(place), timeout_s=1.0)
    )
    assert found == [(str(place), ".", False), (str(place / "data"), "data", True)]
