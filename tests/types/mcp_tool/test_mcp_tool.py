"""What `mcp_tool` is as a type of tools."""

from vespe.tool_types import type_of
from vespe.types.mcp_tool import execution


def test_it_is_run_by_its_own_executor() -> None:
    assert type_of("mcp_tool").executor() is execution.EXECUTOR
