"""`wasm` and `rust_function`: tools compiled to WebAssembly, run in a worker process of their
own.
"""

from typing import Final

from vespe.tool_types import Executor, ToolType


class Wasm:
    """`wasm` as a type of tools: a module that was compiled elsewhere, or here from C."""

    def executor(self) -> Executor:
        """Return what runs and plans the calls."""
        from vespe.types.wasm import execution

        return execution.WASM_MODULE


class RustFunction:
    """`rust_function` as a type of tools: a function in Rust, compiled to a module of ours."""

    def executor(self) -> Executor:
        """Return what runs and plans the calls."""
        from vespe.types.wasm import execution

        return execution.RUST_FUNCTION


WASM: Final[ToolType] = Wasm()
RUST_FUNCTION: Final[ToolType] = RustFunction()
