"""Modules of WebAssembly, written as text: what they do is to be seen, and no compiler is asked
for.
"""

import functools
from pathlib import Path

import wasmtime

from vespe.models import Implementation, JsonObject, Tool

IMPORTS = """
(import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
(import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
(import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
"""
"""What most modules import: 1 is stdout, 2 is stderr; the vector at 0 is an address and a
length.
"""


@functools.cache
def module(body: str, *, imports: str = IMPORTS) -> bytes:
    """Return the module whose fields `body` is, after the usual imports."""
    return bytes(wasmtime.wat2wasm(f"(module {imports} {body})"))


def start(code: str, *, pages: int = 1, more: str = "") -> bytes:
    """Return a module with a memory whose `_start` runs `code`."""
    return module(f'(memory (export "memory") {pages}) {more} (func (export "_start") {code})')


def says(text: str, *, to: int = 1, after: str = "") -> bytes:
    """Return a module that writes a text, and goes on with `after`."""
    data = "".join(f"\\{byte:02x}" for byte in text.encode())
    vector = (
        "(i32.store (i32.const 0) (i32.const 64)) (i32.store (i32.const 4) (i32.const "
        f"{len(text.encode())}))"
    )
    code = (
        f"{vector} (drop (call $write (i32.const {to}) (i32.const 0) (i32.const 1) "
        f"(i32.const 16))) {after}"
    )
    return start(code, more=f'(data (i32.const 64) "{data}")')


ECHO = start(
    """(i32.store (i32.const 0) (i32.const 64)) (i32.store (i32.const 4) (i32.const 65000))
       (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 16)))
       (i32.store (i32.const 4) (i32.load (i32.const 16)))
       (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 16)))"""
)
"""Writes what it reads: the arguments are the result."""


def wasm_tool(
    directory: Path, code: bytes, *, permissions: JsonObject | None = None, **args: object
) -> Tool:
    """Return a tool whose module is `code`."""
    (directory / "tool.wasm").write_bytes(code)
    return Tool(
        uid="tool-x",
        name="x",
        description="A tool.",
        input_schema={"type": "object"},
        implementation=Implementation(type="wasm", path="tool.wasm", args=dict(args)),
        directory=str(directory),
        permissions=permissions or {},
    )
