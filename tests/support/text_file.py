"""A type of tools that Vespe does not have, whole in one module: its tools print a text file.

`tests/acceptance/test_new_type.py` puts it into a copy of the package.
"""

import os
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from vespe.files.trees import TreeFile
from vespe.models import Execution, Implementation, JsonObject, JsonValue, Tool
from vespe.processes import process
from vespe.schemas import forms
from vespe.tool_types import Compiled, Context, Executor, NewTool, Remark, ToolType


class TextFile:
    """A text file of the tool's own, printed by a program, after another one if `args` says so."""

    files: tuple[tuple[str, str], ...] = (("path", ".txt"),)
    runs_own_file: bool = False
    is_python: bool = False
    compiled: Compiled | None = None
    in_allow_types: bool = True
    network: Literal["none", "process", "own"] = "process"
    keeps_session: bool = False
    slots: tuple[str, ...] = ()
    has_template: bool = True
    secret_keys: tuple[str, ...] = ("args",)

    def form(self) -> forms.DetailsForm:
        """Return what `implementation_details` may be."""
        return forms.DetailsForm(
            keys={"path": forms.own_file("a .txt file inside the tool's directory", ends=".txt")},
            args={"before": forms.text("A file to print before.")},
            required=("path",),
        )

    def executor(self) -> Executor:
        """Return itself: a call needs little."""
        return self

    def plan(self, tool: Tool, inputs: JsonObject, context: Context) -> JsonObject:
        """Return what would be started."""
        return {"argv": self._argv(tool, context)}

    def execute(self, tool: Tool, inputs: JsonObject, context: Context) -> Execution:
        """Print the file, whose text is the result."""
        done = process.run(
            process.Command(
                argv=self._argv(tool, context),
                cwd=context.project_root,
                env=context.environment,
                timeout_s=context.timeout_s,
                sandbox=context.sandbox,
            )
        )
        return Execution(result=(done.stdout + done.stderr).decode())

    def _argv(self, tool: Tool, context: Context) -> list[str]:
        details = tool.implementation
        path, args = (details.path, details.args) if details is not None else ("", {})
        own = os.path.join(context.directory, str(path))
        return ["cat", *([args["before"]] if "before" in args else []), own]

    def runs(self, details: JsonObject) -> list[JsonValue]:
        """Return the program and the file."""
        return ["cat", details.get("path")]

    def address(self, details: JsonObject) -> tuple[str, str] | None:
        """Return none."""
        return None

    def effects(self, implementation: Implementation) -> list[tuple[str, str]]:
        """Return that what it prints is private."""
        return [("reads_private", "it is a text_file")]

    def starts_process(self, args: JsonObject) -> bool:
        """Say that it does."""
        return True

    def programs(self, implementation: Implementation, directory: str) -> tuple[str, ...]:
        """Return the program."""
        return ("cat",)

    def destroys(self, details: JsonObject) -> str | None:
        """Return none."""
        return None

    def lint(self, document: JsonObject, inputs: JsonValue) -> Iterable[Remark]:
        """Return that another file is printed."""
        args = document["implementation_details"].get("args")
        if isinstance(args, dict) and "before" in args:
            yield Remark(
                "safety-literal-secret",
                "/implementation_details/args/before",
                "a file that is not the tool's own is printed",
                "print the tool's own file alone",
            )

    def begin(self, type: str, name: str, *, given: Mapping[str, Any], directory: str) -> NewTool:
        """Return a tool that greets."""
        document = {
            "name": name,
            "description": "Read the greeting.",
            "schema": {
                "input": {"type": "object", "properties": {}, "additionalProperties": False}
            },
            "implementation_details": {"type": type, "path": "greeting.txt"},
        }
        return NewTool(document, {"greeting.txt": TreeFile(data=b"hello\n")})


TEXT_FILE: Final[ToolType] = TextFile()
