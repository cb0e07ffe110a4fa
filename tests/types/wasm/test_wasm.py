"""What `wasm` and `rust_function` are as types of tools."""

from vespe.tool_types import type_of
from vespe.types.wasm import execution


def test_each_is_run_by_its_own_executor() -> None:
    assert type_of("wasm").executor() is execution.WASM_MODULE
    assert type_of("rust_function").executor() is execution.RUST_FUNCTION
