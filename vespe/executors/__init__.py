"""The ways to run a tool, one literal table."""

from typing import Final

from vespe.executors.base import Executor
from vespe.executors.http_request import HttpRequest
from vespe.executors.python_script import PythonScript
from vespe.executors.shell_command import ShellCommand

EXECUTORS: Final[dict[str, Executor]] = {executor.type: executor for executor in (PythonScript(), ShellCommand(), HttpRequest())}
"""Every executor by the `type` of `implementation_details`."""
