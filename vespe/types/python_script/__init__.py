"""`python_script`: a function of a Python file, run in an interpreter of its own.

Begin with `execution.py`; `child.py` and `values.py` run in that interpreter.
"""

from typing import Final

from vespe.tool_types import Executor, ToolType


class PythonScript:
    """`python_script` as a type of tools."""

    def executor(self) -> Executor:
        """Return what runs and plans the calls."""
        from vespe.types.python_script import execution

        return execution.EXECUTOR


PYTHON_SCRIPT: Final[ToolType] = PythonScript()
