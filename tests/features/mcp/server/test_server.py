"""What serving over stdio loads."""

import json
import subprocess
from pathlib import Path

from tests.support.ondisk import write_tool
from tests.support.stdio_client import served

CODE = (
    "import sys, json, vespe\nregistry = vespe.ToolRegistry()\n"
    "registry.register(lambda: 'here', name='quick')\nvespe.serve_stdio(registry=registry)\n"
    "print(json.dumps(sorted(sys.modules)))\n"
)


def test_serving_over_stdio_loads_neither_the_sdk_nor_pydantic_nor_an_event_loop_nor_an_http_client(
    project: Path,
) -> None:
    write_tool(project / ".vespe/tools/tool-quick", "quick")
    with served(project, code=CODE, stderr=subprocess.PIPE) as client:
        assert client.names() == ["quick"] and client.call("quick")["isError"] is False
        assert client.close() == 0 and client.process.stdout is not None
        loaded = set(json.loads(client.process.stdout.read()))
    assert not loaded & {
        "mcp",
        "mcp_types",
        "pydantic",
        "asyncio",
        "anyio",
        "httpx2",
        "httpcore2",
        "jsonschema",
        "rich",
        "yaml",
        "subprocess",
    }
