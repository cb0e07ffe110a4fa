"""`shell_command`: a program, run with an argv made of templates."""

from typing import Final

from vespe.tool_types import Executor, ToolType


class ShellCommand:
    """`shell_command` as a type of tools."""

    def executor(self) -> Executor:
        """Return what runs and plans the calls."""
        from vespe.types.shell_command import execution

        return execution.EXECUTOR


SHELL_COMMAND: Final[ToolType] = ShellCommand()
