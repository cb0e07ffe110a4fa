"""The library's way to serve."""

from pathlib import Path

from tests.support.ondisk import write_tool
from tests.support.stdio_client import served

CODE = """
import vespe
def add(a, b):
    vespe.report_progress(1, 2, message="half")
    return {"sum": a + b}
registry = vespe.ToolRegistry()
registry.register(add)
vespe.serve_stdio(registry=registry)
"""
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}


def test_a_function_of_the_callers_process_is_served(project: Path) -> None:
    write_tool(project / ".vespe/tools/tool-add", "add", schema=SCHEMA)
    with served(project, code=CODE) as client:
        client.send("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}, "_meta": {"progressToken": 1}}, id=1)
        assert client.read()["params"] == {"progressToken": 1, "progress": 1, "total": 2, "message": "half"}
        assert client.read()["result"]["structuredContent"] == {"sum": 3}
