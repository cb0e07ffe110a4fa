"""What `http_request` is as a type of tools."""

from vespe.tool_types import type_of
from vespe.types.http_request import execution


def test_it_is_run_by_its_own_executor() -> None:
    assert type_of("http_request").executor() is execution.EXECUTOR
