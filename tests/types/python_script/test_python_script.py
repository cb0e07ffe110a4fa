"""What `python_script` is as a type of tools."""

from vespe.tool_types import type_of
from vespe.types.python_script import execution


def test_it_is_run_by_its_own_executor() -> None:
    assert type_of("python_script").executor() is execution.EXECUTOR
