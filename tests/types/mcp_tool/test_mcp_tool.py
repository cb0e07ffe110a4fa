"""What `mcp_tool` is as a type of tools."""

import sys

from vespe.models import Implementation
from vespe.tool_types import type_of
from vespe.types.mcp_tool import execution


def test_it_is_run_by_its_own_executor() -> None:
    assert type_of("mcp_tool").executor() is execution.EXECUTOR


def test_only_a_server_that_is_started_here_is_a_process() -> None:
    kind = type_of("mcp_tool")
    assert kind.starts_process({"command": ["server", "--x"]})
    assert not kind.starts_process({"url": "https://mcp.example.org"})
    made = Implementation(type="mcp_tool", args={"command": ["server", "--x"]})
    assert kind.programs(made, "/tool") == (sys.executable, "server")


def test_its_address_is_where_the_server_listens() -> None:
    kind = type_of("mcp_tool")
    assert kind.address({"args": {"url": "https://a.example"}}) == (
        "/args/url",
        "https://a.example",
    )
    assert kind.address({"args": [1]}) is None
    assert kind.runs({"args": [1], "entrypoint": "ask"}) == [None, "ask"]
