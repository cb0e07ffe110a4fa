"""`shell_command`: a program, run with an argv made of templates."""

import os
from typing import TYPE_CHECKING, Any, Final, Literal

from vespe.tool_types import Executor, ToolType

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vespe.models import Implementation, JsonObject, JsonValue
    from vespe.schemas.forms import DetailsForm
    from vespe.tool_types import Compiled, NewTool, Remark


class ShellCommand:
    """`shell_command` as a type of tools."""

    files: tuple[tuple[str, str], ...] = (("path", ""),)
    runs_own_file: bool = True
    is_python: bool = False
    compiled: "Compiled | None" = None
    in_allow_types: bool = True
    network: Literal["none", "process", "own"] = "process"
    keeps_session: bool = False
    slots: tuple[str, ...] = ("path", "args")
    has_template: bool = True
    secret_keys: tuple[str, ...] = ("args",)

    def form(self) -> "DetailsForm":
        """Return what they may be."""
        from vespe.types.shell_command import form

        return form.FORM

    def executor(self) -> Executor:
        """Return what runs and plans the calls."""
        from vespe.types.shell_command import execution

        return execution.EXECUTOR

    def runs(self, details: "JsonObject") -> "list[JsonValue]":
        """Return the program and its arguments."""
        args = details.get("args")
        argv = args.get("argv") if isinstance(args, dict) else None
        program = details.get("path") or details.get("entrypoint")
        return [program, *(argv if isinstance(argv, list) else [])]

    def address(self, details: "JsonObject") -> tuple[str, str] | None:
        """Return none: no request goes to an address that it states."""
        return None

    def effects(self, implementation: "Implementation") -> list[tuple[str, str]]:
        """Return none: what it does, it says itself."""
        return []

    def starts_process(self, args: "JsonObject") -> bool:
        """Say that it does: the program."""
        return True

    def destroys(self, details: "JsonObject") -> str | None:
        """Return the program, where it is known to destroy."""
        from vespe.types.shell_command import remarks

        return remarks.destroys(details)

    def lint(self, document: "JsonObject", inputs: "JsonValue") -> "Iterable[Remark]":
        """Return what its command does that may not be meant."""
        from vespe.types.shell_command import remarks

        return remarks.remarks(document["implementation_details"], inputs)

    def begin(
        self, type: str, name: str, *, given: "Mapping[str, Any]", directory: str
    ) -> "NewTool":
        """Return a new tool, from the template or from what its author has."""
        from vespe.types.shell_command import template

        return template.begin(type, name, given=given, directory=directory)

    def programs(self, implementation: "Implementation", directory: str) -> tuple[str, ...]:
        """Return the program."""
        if implementation.path:
            return (os.path.join(directory, implementation.path),)
        return (str(implementation.entrypoint),)


SHELL_COMMAND: Final[ToolType] = ShellCommand()
