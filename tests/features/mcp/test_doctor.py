"""What `vespe doctor` says of serving."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.ondisk import write_tool


def test_what_an_mcp_client_would_see_and_what_is_left_out_is_said(
    command: Callable[..., Any], project: Path
) -> None:
    write_tool(project / ".vespe/tools/tool-idle", "idle")
    checks = command("doctor", "--json").document["checks"]
    said = {check["message"]: check["state"] for check in checks if check["about"] == "mcp"}
    assert said.pop("`vespe mcp serve` shows 0 tools") == "ok"
    assert [state for message, state in said.items() if "it has no implementation" in message] == [
        "warning"
    ]
