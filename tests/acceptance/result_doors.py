"""The doors at which a model is told of results: an agent, a set of tools, MCP over stdio and HTTP,
and a program. Each is asked as a model asks it, and tells what a model would be told.
"""

import contextlib
import http.client
import json
import os
import queue
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from tests.adapters.large_results.generated import result_of
from tests.support.stdio_client import LineClient
from vespe import Agent, AgentOptions, Limits, Project, Toolset, tool
from vespe.adapters.result_texts import text_of
from vespe.features.agents.providers.base import ModelAnswer

MOST: Final = 32 * 1024 * 1024
"""What the tool may give back, so that nothing but the bound of a model cuts it."""
OF_A_PROGRAM: Final = 580_000
"""What a program may give back is bounded by itself, at 1 MiB of JSON, in which a character of the
generated results takes up to 1.8 bytes.
"""
TAKEN: Final = "VESPE_TEST_TAKEN"
"""The variable that names the file in which `take` counts."""
Say = Callable[[str, dict[str, Any]], str]
"""Makes a call as a model does, and returns all the text that the model is told of it."""


@tool(read_only=True, max_output_bytes=MOST)
def make(kind: str, size: int, seed: int) -> Any:
    """Return a generated result."""
    return result_of(kind, size, seed)


@tool(read_only=True)
def take(text: str) -> int:
    """Take a text, and count that."""
    with open(os.environ[TAKEN], "a", encoding="utf-8") as file:
        file.write(f"{len(text)}\n")
    return len(text)


def serve(door: str, root: str, port: str = "") -> None:
    """Serve both tools in this process, until it is ended."""
    from vespe import serve_http, serve_stdio
    from vespe.features.mcp.server.selection import Selection

    project = Project(root)
    for one in (make, take):
        project.register(one)
    if door == "http":
        serve_http(project, address=f"127.0.0.1:{port}", token="a token")
    else:
        serve_stdio(project, selection=Selection(mode="code" if door == "program" else "all"))


@contextlib.contextmanager
def toolset(root: Path) -> Iterator[Say]:
    """A set of tools, by the messages of OpenAI's API."""
    tools = Toolset(make, take)
    calls = iter(range(10**9))

    def say(name: str, arguments: dict[str, Any]) -> str:
        function = {"name": name, "arguments": json.dumps(arguments)}
        made = [{"id": f"c{next(calls)}", "type": "function", "function": function}]
        answer = tools.answer({"choices": [{"message": {"role": "assistant", "tool_calls": made}}]})
        return str(answer[-1]["content"])

    yield say


class _Asked:
    """A model that calls what it is told to from outside, and passes on what it is told."""

    name = api = model = "asked"

    def __init__(self) -> None:
        self.calls: queue.Queue[tuple[str, dict[str, Any]] | None] = queue.Queue()
        self.told: queue.Queue[str] = queue.Queue()
        self._count = 0

    def respond(self, messages: Any, tools: Any = None, **_: Any) -> ModelAnswer:
        last = list(messages)[-1]
        if last["role"] == "tool":
            self.told.put(last["content"])
        asked = self.calls.get()
        if asked is None:
            return ModelAnswer(message={"role": "assistant", "content": "Done."})
        self._count += 1
        function = {"name": asked[0], "arguments": json.dumps(asked[1])}
        call = {"id": f"c{self._count}", "type": "function", "function": function}
        return ModelAnswer(
            message={"role": "assistant", "content": None, "tool_calls": [call]},
            finish_reason="tool_calls",
        )

    def close(self) -> None:
        """There is nothing to close."""


@contextlib.contextmanager
def agent(root: Path) -> Iterator[Say]:
    """An agent's own loop."""
    model = _Asked()
    limits = Limits(max_iterations=10**9, max_calls=None)
    loop = Agent(model, tools=Toolset(make, take), options=AgentOptions(limits=limits))  # type: ignore[arg-type]  # what a loop asks of a model
    thread = threading.Thread(target=loop.run, args=("Go on.",), daemon=True)
    thread.start()

    def say(name: str, arguments: dict[str, Any]) -> str:
        model.calls.put((name, arguments))
        return model.told.get(timeout=120)

    yield say
    model.calls.put(None)
    thread.join(60)


@contextlib.contextmanager
def stdio(root: Path, door: str = "stdio") -> Iterator[Say]:
    """MCP over stdin and stdout, in a process of its own."""
    argv = [sys.executable, "-m", "tests.acceptance.result_doors", door, str(root)]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    client = LineClient(process)
    client.hello()

    def say(name: str, arguments: dict[str, Any]) -> str:
        return told_in(client.ask("tools/call", {"name": name, "arguments": arguments}))

    try:
        yield say
    finally:
        client.close()
        process.stdout.close()  # type: ignore[union-attr]  # it is a pipe


@contextlib.contextmanager
def program(root: Path) -> Iterator[Say]:
    """Programs over MCP, whose last expression is the call."""
    with stdio(root, "program") as call:

        def say(name: str, arguments: dict[str, Any]) -> str:
            if name == "read_result":
                return call(name, arguments)
            given = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
            return call("run_code", {"code": f"{name}({given})"})

        yield say


@contextlib.contextmanager
def over_http(root: Path) -> Iterator[Say]:
    """MCP over HTTP without a session, in a process of its own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    argv = [sys.executable, "-m", "tests.acceptance.result_doors", "http", str(root), str(port)]
    process = subprocess.Popen(argv)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    while True:
        assert process.poll() is None, "the server did not start"
        with contextlib.suppress(ConnectionRefusedError):
            connection.connect()
            break
        time.sleep(0.05)
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }

    def say(name: str, arguments: dict[str, Any]) -> str:
        params = {"name": name, "arguments": arguments, "_meta": meta}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = {
            "Authorization": "Bearer a token",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": name,
        }
        connection.request("POST", "/mcp", json.dumps(body), headers)
        said = connection.getresponse().read().decode("utf-8")
        answer = json.loads(said if said.startswith("{") else said.partition("data: ")[2])
        return told_in(answer["result"])

    try:
        yield say
    finally:
        connection.close()
        process.terminate()
        process.wait(60)


def told_in(result: Any) -> str:
    """Return the text of a result of `tools/call`; a link to the whole is none of it."""
    assert len(text_of(result.get("structuredContent", ""))) <= 40_000
    return "".join(block["text"] for block in result["content"] if block["type"] == "text")


DOORS: Final = {
    "agent": agent,
    "toolset": toolset,
    "stdio": stdio,
    "http": over_http,
    "program": program,
}

if __name__ == "__main__":
    serve(*sys.argv[1:])
