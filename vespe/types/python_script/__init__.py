"""`python_script`: a function of a Python file, run in an interpreter of its own.

`template.py` begins new ones, `execution.py` runs them; `child.py` and `values.py` run in that
interpreter.
"""

import sys
from typing import TYPE_CHECKING, Any, Final, Literal

from vespe.tool_types import Executor, ToolType

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vespe.models import Implementation, JsonObject, JsonValue
    from vespe.schemas.forms import DetailsForm
    from vespe.tool_types import Compiled, NewTool, Remark


class PythonScript:
    """`python_script` as a type of tools."""

    files: tuple[tuple[str, str], ...] = (("path", ".py"),)
    runs_own_file: bool = False
    is_python: bool = True
    compiled: "Compiled | None" = None
    in_allow_types: bool = True
    network: Literal["none", "process", "own"] = "process"
    keeps_session: bool = False
    slots: tuple[str, ...] = ()
    has_template: bool = True
    secret_keys: tuple[str, ...] = ("args",)

    def form(self) -> "DetailsForm":
        """Return what they may be."""
        from vespe.types.python_script import form

        return form.FORM

    def executor(self) -> Executor:
        """Return what runs and plans the calls."""
        from vespe.types.python_script import execution

        return execution.EXECUTOR

    def runs(self, details: "JsonObject") -> "list[JsonValue]":
        """Return the script and the function."""
        return [details.get("path"), details.get("entrypoint")]

    def address(self, details: "JsonObject") -> tuple[str, str] | None:
        """Return none: no request goes to an address that it states."""
        return None

    def effects(self, implementation: "Implementation") -> list[tuple[str, str]]:
        """Return none: what it does, it says itself."""
        return []

    def starts_process(self, args: "JsonObject") -> bool:
        """Say that it does: an interpreter."""
        return True

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
        from vespe.types.python_script import template

        return template.begin(type, name, given=given, directory=directory)

    def programs(self, implementation: "Implementation", directory: str) -> tuple[str, ...]:
        """Return the interpreter."""
        return (sys.executable,)


PYTHON_SCRIPT: Final[ToolType] = PythonScript()
