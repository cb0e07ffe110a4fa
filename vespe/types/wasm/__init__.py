"""`wasm` and `rust_function`: tools compiled to WebAssembly, run in a worker process of their
own.
"""

from typing import TYPE_CHECKING, Any, Final, Literal

from vespe.errors import UsageError
from vespe.tool_types import Compiled, Executor, ToolType

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vespe.models import Implementation, JsonObject, JsonValue
    from vespe.schemas.forms import DetailsForm
    from vespe.tool_types import NewTool, Remark


class Wasm:
    """`wasm` as a type of tools: a module that was compiled elsewhere, or here from C."""

    files: tuple[tuple[str, str], ...] = (
        ("source", ""),
        ("path", ".wasm"),
    )
    runs_own_file: bool = False
    is_python: bool = False
    compiled: "Compiled | None" = Compiled(
        source="source", sources=(".c", ".h"), module="path", language="c"
    )
    in_allow_types: bool = True
    network: Literal["none", "process", "own"] = "none"
    keeps_session: bool = False
    slots: tuple[str, ...] = ()
    has_template: bool = False
    secret_keys: tuple[str, ...] = ("args",)

    def form(self) -> "DetailsForm":
        """Return what they may be."""
        from vespe.types.wasm import form

        return form.WASM

    def executor(self) -> Executor:
        """Return what runs and plans the calls."""
        from vespe.types.wasm import execution

        return execution.WASM_MODULE

    def runs(self, details: "JsonObject") -> "list[JsonValue]":
        """Return the module, and what it was compiled from."""
        source = details.get("source")
        return [details.get("path"), *(["compiled from", source] if source else [])]

    def address(self, details: "JsonObject") -> tuple[str, str] | None:
        """Return none: no request goes to an address that it states."""
        return None

    def effects(self, implementation: "Implementation") -> list[tuple[str, str]]:
        """Return none: what it does, it says itself."""
        return []

    def starts_process(self, args: "JsonObject") -> bool:
        """Say that it does not: a worker of ours holds the module."""
        return False

    def destroys(self, details: "JsonObject") -> str | None:
        """Return none: nothing says it."""
        return None

    def lint(self, document: "JsonObject", inputs: "JsonValue") -> "Iterable[Remark]":
        """Return what is to be said of this type alone: nothing."""
        return ()

    def begin(
        self, type: str, name: str, *, given: "Mapping[str, Any]", directory: str
    ) -> "NewTool":
        """Refuse: the module is there before its tool is."""
        raise UsageError(f"no tool of type {type} begins with a template")

    def programs(self, implementation: "Implementation", directory: str) -> tuple[str, ...]:
        """Return none."""
        return ()


class RustFunction:
    """`rust_function` as a type of tools: a function in Rust, compiled to a module here."""

    files: tuple[tuple[str, str], ...] = (("path", ".rs"),)
    runs_own_file: bool = False
    is_python: bool = False
    compiled: "Compiled | None" = Compiled(
        source="path", sources=(".rs", "Cargo.toml", "Cargo.lock"), module=None, language="rust"
    )
    in_allow_types: bool = True
    network: Literal["none", "process", "own"] = "none"
    keeps_session: bool = False
    slots: tuple[str, ...] = ()
    has_template: bool = True
    secret_keys: tuple[str, ...] = ("args",)

    def form(self) -> "DetailsForm":
        """Return what they may be."""
        from vespe.types.wasm import form

        return form.RUST_FUNCTION

    def executor(self) -> Executor:
        """Return what runs and plans the calls."""
        from vespe.types.wasm import execution

        return execution.RUST_FUNCTION

    def runs(self, details: "JsonObject") -> "list[JsonValue]":
        """Return the module, and what it was compiled from."""
        return ["tool.wasm", "compiled from", details.get("path"), details.get("entrypoint")]

    def address(self, details: "JsonObject") -> tuple[str, str] | None:
        """Return none: no request goes to an address that it states."""
        return None

    def effects(self, implementation: "Implementation") -> list[tuple[str, str]]:
        """Return none: what it does, it says itself."""
        return []

    def starts_process(self, args: "JsonObject") -> bool:
        """Say that it does not: a worker of ours holds the module."""
        return False

    def destroys(self, details: "JsonObject") -> str | None:
        """Return none: nothing says it."""
        return None

    def lint(self, document: "JsonObject", inputs: "JsonValue") -> "Iterable[Remark]":
        """Return what is to be said of this type alone: nothing."""
        return ()

    def begin(
        self, type: str, name: str, *, given: "Mapping[str, Any]", directory: str
    ) -> "NewTool":
        """Return a new tool, from the template or from what its author has."""
        from vespe.types.wasm import template

        return template.begin(type, name, given=given, directory=directory)

    def programs(self, implementation: "Implementation", directory: str) -> tuple[str, ...]:
        """Return none."""
        return ()


WASM: Final[ToolType] = Wasm()
RUST_FUNCTION: Final[ToolType] = RustFunction()
