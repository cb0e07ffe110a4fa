"""What `shell_command` is as a type of tools."""

from vespe.tool_types import type_of
from vespe.types.shell_command import execution


def test_it_is_run_by_its_own_executor() -> None:
    assert type_of("shell_command").executor() is execution.EXECUTOR
