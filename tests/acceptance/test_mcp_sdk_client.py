"""The official SDK's client against `vespe mcp serve`, in its newest mode and in its legacy one."""

import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp
import pytest

from tests.support.ondisk import python_tool, write_tool
from tests.support.stdio_client import tool_processes

ADD = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
    "additionalProperties": False,
}
SUM = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}


@pytest.fixture(params=["auto", "legacy"])
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def served(project: Path) -> Path:
    add = python_tool(
        project / ".vespe/tools/tool-add", "add", "return {'sum': inputs['a'] + inputs['b']}"
    )
    document = json.loads((add / "config.json").read_text(encoding="utf-8"))
    document["schema"] = {"input": ADD, "output": SUM}
    (add / "config.json").write_text(json.dumps(document), encoding="utf-8")
    python_tool(project / ".vespe/tools/tool-fail", "fail", "raise RuntimeError('it broke')")
    python_tool(
        project / ".vespe/tools/tool-slow", "slow", "import time\ntime.sleep(2.5)\nreturn 'done'"
    )
    return project


@asynccontextmanager
async def connected(project: Path, mode: str, **options: Any) -> AsyncIterator[Any]:
    from mcp.client.stdio import StdioServerParameters, stdio_client

    argv = ["-m", "vespe", "mcp", "serve"]
    parameters = StdioServerParameters(
        command=sys.executable, args=argv, cwd=project, env=dict(os.environ)
    )
    with anyio.fail_after(40):
        async with mcp.Client(stdio_client(parameters), mode=mode, **options) as client:
            yield client


def run(project: Path, mode: str, body: Callable[[Any], Awaitable[None]], **options: Any) -> None:
    async def main() -> None:
        async with connected(project, mode, **options) as client:
            await body(client)

    anyio.run(main)


def test_it_lists_and_calls_and_hears_of_errors(served: Path, mode: str) -> None:
    async def body(client: Any) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == ["add", "fail", "read_result", "slow"]
        assert tools["add"].output_schema == SUM
        good = await client.call_tool("add", {"a": 1, "b": 2})
        assert (good.structured_content, good.is_error) == ({"sum": 3}, False)
        bad = await client.call_tool("add", {"a": "one", "b": 2, "c": 3})
        assert bad.is_error and "`a`" in bad.content[0].text and "`c`" in bad.content[0].text
        broken = await client.call_tool("fail", {})
        assert broken.is_error and "it broke" in broken.content[0].text
        with pytest.raises(mcp.MCPError) as unknown:
            await client.call_tool("nope", {})
        assert unknown.value.error.code == -32602

    run(served, mode, body)


def test_it_reads_the_description_of_a_tool(served: Path, mode: str) -> None:
    async def body(client: Any) -> None:
        (first, *_) = (await client.list_resources()).resources
        (read,) = (await client.read_resource(first.uri)).contents
        assert first.name == "add/description.md" and read.text.startswith("# add")

    run(served, mode, body)


def test_it_hears_of_progress(served: Path, mode: str) -> None:
    heard: list[float] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        heard.append(done)

    async def body(client: Any) -> None:
        await client.call_tool("slow", {}, progress_callback=progress)
        assert heard and heard == sorted(set(heard))

    run(served, mode, body)


def test_p44_what_it_cancels_ends_with_its_processes(served: Path, mode: str) -> None:
    marker = f"1000.{os.getpid()}{mode == 'auto':d}"
    implementation = {"type": "shell_command", "entrypoint": "sleep", "args": {"argv": [marker]}}
    write_tool(served / ".vespe/tools/tool-nap", "nap", implementation=implementation)

    async def body(client: Any) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "nap", {})
            while not tool_processes(marker):
                await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()
        with anyio.fail_after(2):
            while tool_processes(marker):
                await anyio.sleep(0.01)
        assert (await client.call_tool("add", {"a": 1, "b": 1})).structured_content == {"sum": 2}

    run(served, mode, body)


def test_the_newest_hears_of_changes_on_its_subscription(served: Path) -> None:
    async def body(client: Any) -> None:
        async with client.listen(tools_list_changed=True) as events:
            python_tool(served / ".vespe/tools/tool-late", "late", "return 1")
            async for _ in events:
                break
        assert "late" in [tool.name for tool in (await client.list_tools()).tools]

    run(served, "auto", body)


def test_the_legacy_one_hears_of_changes_as_a_notification(served: Path) -> None:
    heard: list[str] = []

    async def listener(message: Any) -> None:
        heard.append(type(message).__name__)

    async def body(client: Any) -> None:
        python_tool(served / ".vespe/tools/tool-late", "late", "return 1")
        while not any("ToolListChanged" in name for name in heard):
            await anyio.sleep(0.01)

    run(served, "legacy", body, message_handler=listener)
