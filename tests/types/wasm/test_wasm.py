"""What `wasm` and `rust_function` are as types of tools."""

from vespe.tool_types import type_of
from vespe.types.wasm import execution


def test_each_is_run_by_its_own_executor() -> None:
    assert type_of("wasm").executor() is execution.WASM_MODULE
    assert type_of("rust_function").executor() is execution.RUST_FUNCTION


def test_a_review_shows_what_a_module_was_compiled_from() -> None:
    assert type_of("wasm").runs({"path": "a.wasm"}) == ["a.wasm"]
    assert type_of("wasm").runs({"path": "a.wasm", "source": "a.c"})[1:] == ["compiled from", "a.c"]
    shown = type_of("rust_function").runs({"path": "src/tool.rs", "entrypoint": "count"})
    assert shown == ["tool.wasm", "compiled from", "src/tool.rs", "count"]
