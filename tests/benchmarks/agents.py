"""The loop of an agent whose model is a script, and HTTP tools beside a client by hand."""

import http.server
import json
import statistics
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx2

from tests.benchmarks.axes import Axis, bounded, compared, make_project, rates, times
from tests.benchmarks.calls import add
from tests.support.ondisk import write_tool
from vespe import Agent, AgentOptions, Limits, Project, SimulatedProvider
from vespe.projects import user_config


def axes(scratch: Path) -> Iterator[Axis]:
    """Measure one turn among few and many tools, long conversations, then requests."""
    for tools, most in ((4, 1.0), (128, 1.2), (1000, 2.0)):
        yield _turn(scratch, tools, most)
    yield _turns(scratch)
    yield _requests(scratch)


def _project(root: Path, tools: int) -> Project:
    make_project(root, tools=tools, annotations={"readOnlyHint": True})
    config = root / ".vespe/config.json"
    said = json.loads(config.read_text(encoding="utf-8")) | {"tools": {"add": {"expose": "always"}}}
    config.write_text(json.dumps(said), encoding="utf-8")
    project = Project(root)
    project.registry.register(add)
    return project


def _run(project: Project, turns: int) -> None:
    calls = [{"tool_calls": [{"name": "add", "arguments": {"a": 1, "b": 2}}]} for _ in range(turns)]
    limits = Limits(max_iterations=turns + 1, max_calls=turns + 1)
    options = AgentOptions(limits=limits)
    script = SimulatedProvider({"turns": [*calls, {"text": "done"}]})
    with Agent(script, project, options=options) as agent:
        if (ended := agent.run("Add.")).stop_reason != "done":
            raise RuntimeError(ended.stop_reason)


def _turn(scratch: Path, tools: int, most: float) -> Axis:
    """Measure one turn: what 101 of them take more than one, whatever an agent's start takes."""
    project = _project(scratch / f"turn-{tools}", tools)
    cases = {"101": lambda: _run(project, 101), "1": lambda: _run(project, 1)}
    found = times(cases, rounds=5)
    taken = (statistics.median(found["101"]) - statistics.median(found["1"])) / 100
    return bounded(f"a turn of an agent with {tools:,} tools", "ms", taken, at_most=most)


def _turns(scratch: Path) -> Axis:
    project = _project(scratch / "agent", 4)
    found = times(
        {"1000": lambda: _run(project, 1000), "100": lambda: _run(project, 100)}, rounds=2
    )
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
        "calls/s",
        (found["ours"], found["httpx2"]),
        peer="httpx2.Client",
        goal=0.7,
    )
