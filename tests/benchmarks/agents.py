"""The loop of an agent whose model is a script, and HTTP tools beside a client by hand."""

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx2

from tests.benchmarks.axes import Axis, compared, make_project, rates, times
from tests.benchmarks.calls import add
from tests.support.ondisk import write_tool
from vespe import Agent, AgentOptions, Limits, Project, SimulatedProvider
from vespe.projects import user_config


def axes(scratch: Path) -> Iterator[Axis]:
    """Measure turns, then requests."""
    yield _turns(scratch)
    yield _requests(scratch)


def _turns(scratch: Path) -> Axis:
    project = Project(make_project(scratch / "agent", tools=4, annotations={"readOnlyHint": True}))
    project.registry.register(add)

    def run(turns: int) -> None:
        calls = [
            {"tool_calls": [{"name": "add", "arguments": {"a": 1, "b": 2}}]} for _ in range(turns)
        ]
        limits = Limits(max_iterations=turns + 1, max_calls=turns + 1)
        with Agent(
            SimulatedProvider({"turns": [*calls, {"text": "done"}]}),
            project,
            options=AgentOptions(limits=limits),
        ) as agent:
            if (ended := agent.run("Add.")).stop_reason != "done":
                raise RuntimeError(ended.stop_reason)

    found = times({"1000": lambda: run(1000), "100": lambda: run(100)}, rounds=2)
    return compared(
        "agent loop, 1,000 turns",
        "ms",
        (found["1000"], found["100"]),
        peer="100 turns",
        goal=11.0,
        more=False,
    )


class _Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *arguments: object) -> None:
        pass


def _requests(scratch: Path) -> Axis:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/"
    root = make_project(scratch / "http", tools=1)
    details = {"type": "http_request", "entrypoint": "GET", "path": url, "args": {}}
    write_tool(root / ".vespe/tools/tool-get", "get", implementation=details)
    user_config.set_value("allow_hosts", [f"127.0.0.1:{server.server_port}"])
    project = Project(root)
    if (error := project.execute_tool("get").error) is not None:
        raise RuntimeError(error.message)
    with httpx2.Client() as client:
        found = rates(
            {"ours": lambda: project.execute_tool("get"), "httpx2": lambda: client.get(url)},
            rounds=5,
            seconds=0.4,
        )
    server.shutdown()
    return compared(
        "HTTP tool, keep-alive",
        "calls/CPU s",
        (found["ours"], found["httpx2"]),
        peer="httpx2.Client",
        goal=0.7,
    )
