"""Compiled tools: what a module is given, what it gives, and that hostile ones end in a sentence.
The worker is real.
"""

import json
import re
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.wasm_modules import ECHO, IMPORTS, module, says, start, wasm_tool
from vespe.errors import (
    Interrupted,
    InvalidOutput,
    OutputTooLarge,
    TimedOut,
    ToolExecutionError,
    VespeError,
)
from vespe.models import Execution, Implementation, JsonObject, Tool
from vespe.tool_types import Context
from vespe.types.wasm.execution import RustFunction, WasmModule

LOOP = "(loop $l (br $l))"
FLOOD = """(i32.store (i32.const 0) (i32.const 64)) (i32.store (i32.const 4) (i32.const 65000))
           (loop $l (drop (call $write (i32.const TO) (i32.const 0) (i32.const 1) (i32.const 16))) (br $l))"""
SLEEP = module(
    """(memory (export "memory") 1)
       (func (export "_start") (i32.store (i32.const 16) (i32.const 1)) (i64.store (i32.const 24) (i64.const 3600000000000))
         (drop (call $poll (i32.const 0) (i32.const 100) (i32.const 1) (i32.const 200))))""",
    imports='(import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 '
    "i32 i32) (result i32)))",
)
OPEN = """(import "wasi_snapshot_preview1" "path_open"
          (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))"""


def context(tool: Tool, **options: Any) -> Context:
    return Context(
        **{"project_root": "/", "directory": tool.directory or "/", "timeout_s": 20.0, **options}
    )


def run(
    directory: Path, code: bytes, inputs: JsonObject | None = None, **options: Any
) -> Execution:
    args = options.pop("args", {})
    tool = wasm_tool(directory, code, permissions=options.pop("permissions", None), **args)
    return WasmModule().execute(tool, inputs or {}, context(tool, **options))


def test_the_arguments_are_json_on_stdin_and_the_result_is_json_on_stdout(tmp_path: Path) -> None:
    inputs = {"text": "grüß\n", "deep": [{"a": None}, 1.5, True]}
    assert run(tmp_path, ECHO, inputs).result == inputs


def test_fixed_arguments_come_with_the_inputs_and_may_name_secrets(tmp_path: Path) -> None:
    found = run(
        tmp_path, ECHO, {"a": 1}, args={"unit": "k", "key": "${env:KEY}"}, secrets={"KEY": "s3"}
    )
    assert found.result == {"a": 1, "unit": "k", "key": "s3"}


def test_what_a_module_writes_to_stderr_is_its_log(tmp_path: Path) -> None:
    """It writes the same text to both."""
    again = "(drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 16)))"
    found = run(tmp_path, says("12", to=2, after=again))
    assert (found.logs, found.result) == ("12", 12)


def test_one_call_leaves_nothing_to_the_next(tmp_path: Path) -> None:
    counts = start(
        """(i32.store8 (i32.const 64) (i32.add (i32.load8_u (i32.const 64)) (i32.const 49)))
           (i32.store (i32.const 0) (i32.const 64)) (i32.store (i32.const 4) (i32.const 1))
           (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 16)))"""
    )
    assert [run(tmp_path, counts).result for _ in range(3)] == [1, 1, 1]


STATUS_1, PANIC = "(call $exit (i32.const 1))", "thread 'main' panicked at 'no', a.rs:1\nnote: x\n"

HOSTILE: dict[str, tuple[bytes, type[VespeError], str]] = {
    "loops for ever": (start(LOOP), TimedOut, "did not finish within 0.4 s"),
    "loops while it is loaded": (
        module(f'(memory 1) (func $s {LOOP}) (start $s) (func (export "_start"))'),
        TimedOut,
        "did not finish within 0.4 s",
    ),
    "sleeps for an hour": (SLEEP, TimedOut, "did not finish within 0.4 s"),
    "fills the log for ever": (start(FLOOD.replace("TO", "2")), TimedOut, "did not finish"),
    "takes all memory": (
        start(
            "(loop $l (br_if $l (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) unreachable"
        ),
        ToolExecutionError,
        "unreachable",
    ),
    "wants two gigabytes at once": (
        start("", pages=32768),
        ToolExecutionError,
        "memory minimum size of 32768 pages exceeds",
    ),
    "has a table of a billion": (
        module('(table 1000000000 funcref) (func (export "_start"))'),
        ToolExecutionError,
        "table minimum size of 1000000000 elements exceeds",
    ),
    "calls itself for ever": (
        start("(call $f)", more="(func $f (call $f))"),
        ToolExecutionError,
        "call stack exhausted \\(in f\\)",
    ),
    "writes without end": (
        start(FLOOD.replace("TO", "1")),
        OutputTooLarge,
        "wrote more than 8388608 bytes",
    ),
    "imports what does not exist": (
        module('(func (export "_start"))', imports='(import "env" "fork" (func))'),
        ToolExecutionError,
        "unknown import: `env::fork`",
    ),
    "imports sockets of a newer WASI": (
        module(
            '(func (export "_start"))', imports='(import "wasi:sockets/tcp@0.2.0" "connect" (func))'
        ),
        ToolExecutionError,
        "unknown import: `wasi:sockets/tcp@0.2.0::connect`",
    ),
    "has no _start": (
        module('(func (export "main"))'),
        ToolExecutionError,
        "exports no function `_start`",
    ),
    "has a _start that is memory": (
        module('(memory (export "_start") 1)'),
        ToolExecutionError,
        "exports no function `_start`",
    ),
    "has a _start with parameters": (
        module('(func (export "_start") (param i32))'),
        ToolExecutionError,
        "exports no function `_start`",
    ),
    "is no module": (b"#!/bin/sh\n", ToolExecutionError, "cannot be compiled"),
    "is cut off": (ECHO[:60], ToolExecutionError, "cannot be compiled"),
    "is empty": (b"", ToolExecutionError, "cannot be compiled"),
    "is text": (b"(module)", ToolExecutionError, "_start|cannot be compiled"),
    "traps": (start("unreachable"), ToolExecutionError, "was stopped: wasm `unreachable`"),
    "divides by zero": (
        start("(drop (i32.div_s (i32.const 1) (i32.const 0)))"),
        ToolExecutionError,
        "integer divide by zero",
    ),
    "reads out of bounds": (
        start("(drop (i32.load (i32.const 65536)))"),
        ToolExecutionError,
        "out of bounds memory access",
    ),
    "ends with a status": (
        says("no such city\n", to=2, after="(call $exit (i32.const 3))"),
        ToolExecutionError,
        "status 3: no such city",
    ),
    "says why it fails": (
        says("warming up\nno such city\n", to=2, after=STATUS_1),
        ToolExecutionError,
        "^no such city$",
    ),
    "panics": (
        says(PANIC, to=2, after="unreachable"),
        ToolExecutionError,
        "; thread 'main' panicked at 'no', a.rs:1$",
    ),
    "writes half an object": (says('{"a": '), InvalidOutput, "the result is not JSON"),
    "writes what is not UTF-8": (
        start(
            FLOOD.split("(loop")[0].replace("65000", "1")
            + "(i32.store8 (i32.const 64) (i32.const 255)) (drop (call $write (i32.const 1) "
            "(i32.const 0) (i32.const 1) (i32.const 16)))"
        ),
        InvalidOutput,
        "the result is not UTF-8",
    ),
    "writes nothing": (start(""), InvalidOutput, "wrote no result"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_module_that_is_hostile_or_broken_ends_in_a_sentence(tmp_path: Path, name: str) -> None:
    code, kind, said = HOSTILE[name]
    with pytest.raises(kind) as caught:
        run(tmp_path, code, timeout_s=0.4 if kind is TimedOut else 20.0)
    assert type(caught.value) is kind and re.search(said, caught.value.message), (
        caught.value.message
    )
    assert run(tmp_path, ECHO, {"still": "there"}).result == {"still": "there"}


def test_status_0_is_a_result_and_a_huge_log_is_kept_at_its_end(tmp_path: Path) -> None:
    assert run(tmp_path, says("7", after="(call $exit (i32.const 0))")).result == 7
    with pytest.raises(TimedOut) as caught:
        run(tmp_path, start(FLOOD.replace("TO", "2")), timeout_s=0.3)
    assert 0 < len(caught.value.details["logs"]) <= 4096


def test_a_module_grows_to_what_its_permissions_state_and_no_further(tmp_path: Path) -> None:
    """70 MiB: more than the default allows."""
    grows = start(
        "(if (i32.eq (memory.grow (i32.const 1120)) (i32.const -1)) (then "
        "unreachable)) (call $say)",
        more=_SAYS_1,
    )
    assert run(tmp_path, grows, permissions={"memory_mb": 128}).result == 1
    with pytest.raises(ToolExecutionError, match="unreachable"):
        run(tmp_path, grows)


_SAYS_1 = """(data (i32.const 64) "1") (func $say (i32.store (i32.const 0) (i32.const 64)) (i32.store (i32.const 4) (i32.const 1))
             (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 16))))"""


@pytest.mark.parametrize("path", ["/etc/passwd", "tool.wasm", "../x", "/proc/self/fd/3"])
def test_no_file_opens_and_no_descriptor_but_three_is_there(tmp_path: Path, path: str) -> None:
    data = "".join(f"\\{byte:02x}" for byte in path.encode())
    tries = "".join(
        f"""(if (i32.eqz (call $open (i32.const {fd}) (i32.const 0) (i32.const 64) (i32.const {len(path)}) (i32.const 0)
            (i64.const 2) (i64.const 0) (i32.const 0) (i32.const 16))) (then unreachable))"""
        for fd in range(64)
    )
    code = module(
        f'(memory (export "memory") 1) (data (i32.const 64) "{data}") '
        f"{_SAYS_1.replace('64', '300')}"
        f'(func (export "_start") {tries} (call $say))',
        imports=IMPORTS + OPEN,
    )
    assert run(tmp_path, code).result == 1


def test_no_variable_of_the_environment_reaches_a_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_MINE", "x")
    imports = (
        '(import "wasi_snapshot_preview1" "environ_sizes_get" (func $sizes (param '
        "i32 i32) (result i32)))"
    )
    code = module(
        f"""(memory (export "memory") 1) {_SAYS_1} (func (export "_start") (drop (call $sizes (i32.const 0) (i32.const 4)))
        (if (i32.load (i32.const 0)) (then unreachable)) (call $say))""",
        imports=IMPORTS + imports,
    )
    assert run(tmp_path, code, environment={"SECRET_OF_MINE": "x"}).result == 1


def test_a_call_that_is_cancelled_ends_at_once(tmp_path: Path) -> None:
    ending = threading.Event()
    threading.Timer(0.2, ending.set).start()
    with pytest.raises(Interrupted, match="was cancelled"):
        run(tmp_path, start(LOOP), cancel=ending)


def test_two_calls_at_once_do_not_wait_for_each_other(tmp_path: Path) -> None:
    (tmp_path / "slow").mkdir()
    errors: list[type[VespeError]] = []

    def loops() -> None:
        try:
            run(tmp_path / "slow", start(LOOP), timeout_s=1.5)
        except VespeError as error:
            errors.append(type(error))

    thread = threading.Thread(target=loops)
    thread.start()
    assert run(tmp_path, ECHO, {"a": 1}).result == {"a": 1} and thread.is_alive()
    thread.join()
    assert errors == [TimedOut]


def test_a_module_that_is_replaced_is_the_one_that_runs(tmp_path: Path) -> None:
    assert run(tmp_path, says("1")).result == 1
    tool, executor = wasm_tool(tmp_path, says("1")), WasmModule()
    time.sleep(0.15)  # until its stamp is believed
    assert executor.execute(tool, {}, context(tool)).result == 1
    wasm_tool(tmp_path, says("2"))
    assert executor.execute(tool, {}, context(tool)).result == 2


def test_a_rust_function_without_its_module_says_how_to_build_it(tmp_path: Path) -> None:
    (tmp_path / "tool.rs").write_text("", encoding="utf-8")
    built = Implementation(type="rust_function", path="tool.rs", entrypoint="f")
    tool = Tool(
        uid="t",
        name="t",
        description="",
        input_schema={},
        implementation=built,
        directory=str(tmp_path),
    )
    with pytest.raises(ToolExecutionError, match="not compiled") as caught:
        RustFunction().execute(tool, {}, context(tool))
    assert "vespe tool build" in caught.value.hint
    (tmp_path / "tool.wasm").write_bytes(ECHO)
    assert RustFunction().execute(tool, {"a": 1}, context(tool)).result == {"a": 1}


def test_a_plan_shows_the_module_and_no_secret(tmp_path: Path) -> None:
    tool = wasm_tool(tmp_path, ECHO, key="${env:KEY}")
    plan = WasmModule().plan(tool, {"a": 1}, context(tool, secrets={"KEY": "s3"}))
    assert json.loads(json.dumps(plan)) == {
        "module": str(tmp_path / "tool.wasm"),
        "stdin": {"a": 1, "key": "${env:KEY}"},
        "memory_mb": 64,
    }
