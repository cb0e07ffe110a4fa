"""What a host program with OpenTelemetry sees of calls, in a process of its own: a provider is set
once in each.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import PATIENCE_S, python_tool, vespe
from tests.support.stdio_client import served

pytest.importorskip(
    "opentelemetry.sdk",
    reason="OpenTelemetry's SDK is not installed: the tests of traces are skipped",
)

HOST = Path(__file__).parents[1] / "cases/tracing/host.py"
TRACE = "0af7651916cd43dd8448eb211c80319c"
CONTENT = {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "span_only"}


def told(case: str, directory: Path, **environment: str) -> list[dict[str, Any]]:
    """Run the host in a directory, and return its spans, durations and results."""
    command = [sys.executable, str(HOST), case]
    done = subprocess.run(
        command,
        cwd=directory,
        env=os.environ | environment,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_call_is_told_as_the_conventions_own_library_tells_it(project: Path) -> None:
    ours, theirs, *durations = told("same", project, **CONTENT)
    told_here, told_there = ours["attributes"], theirs["attributes"]
    assert all(name.startswith("vespe.") for name in told_here.keys() - told_there.keys()), (
        told_here
    )
    assert {name: _value(told_here[name]) for name in told_there} == {
        name: _value(value) for name, value in told_there.items()
    }
    assert (
        (ours["name"], ours["kind"])
        == (theirs["name"], theirs["kind"])
        == ("execute_tool add", "SpanKind.INTERNAL")
    )
    assert [one["name"] for one in durations] == ["gen_ai.execute_tool.duration"] * 2
    assert durations[0]["attributes"] == durations[1]["attributes"] and {
        one["unit"] for one in durations
    } == {"s"}


def _value(attribute: str) -> Any:
    return json.loads(attribute) if attribute.startswith("{") else attribute


def test_content_is_told_only_where_it_is_asked_for(project: Path) -> None:
    (span, *_) = told("same", project)
    assert not [name for name in span["attributes"] if "arguments" in name or "result" in name]


@pytest.mark.parametrize(
    ("case", "code"), [("error", "tool_error"), ("refused", "invalid_arguments")]
)
def test_a_call_that_fails_is_told_with_its_code(project: Path, case: str, code: str) -> None:
    span, duration = told(case, project)
    assert span["attributes"]["error.type"] == duration["attributes"]["error.type"] == code
    assert span["status"]["status_code"] == "ERROR"


def test_a_tools_process_is_told_of_the_open_trace(project: Path) -> None:
    python_tool(
        project / ".vespe/tools/tool-see",
        "see",
        "import os\nreturn os.environ['TRACEPARENT']",
        params="",
    )
    vespe("trust", "--yes", cwd=project)
    result, call, host, *_ = told("script", project)
    assert call["parent_id"] == host["span_id"]
    _, trace, span, _ = result["result"].split("-")
    assert (f"0x{trace}", f"0x{span}") == (call["trace_id"], call["span_id"])


def test_a_run_of_an_agent_is_one_trace_without_an_orphan(project: Path) -> None:
    spans = [one for one in told("agent", project) if "metric" not in one]
    assert sorted(one["name"] for one in spans) == [
        "chat m",
        "chat m",
        "execute_tool add",
        "execute_tool add",
        "invoke_agent",
    ]
    root = spans[-1]
    assert root["parent_id"] is None and {one["parent_id"] for one in spans[:-1]} == {
        root["span_id"]
    }
    assert root["attributes"]["gen_ai.provider.name"] == "simulated"


def test_nobody_is_told_where_nobody_listens() -> None:
    asked = (
        "import opentelemetry.trace; from vespe.calls import tracing\n"
        "print(tracing.telemetry(), tracing.environment(), tracing.carry(len) is len, "
        "tracing.telemetry(carried=True) is None)"
    )
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("OTEL_")
    }
    done = subprocess.run(
        [sys.executable, "-c", asked],
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.split() == ["None", "{}", "True", "False"]


def test_what_an_mcp_client_carries_reaches_the_tool(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python_tool(
        project / ".vespe/tools/tool-see",
        "see",
        "import os\nreturn os.environ.get('TRACEPARENT', '')",
        params="",
    )
    vespe("trust", "--yes", cwd=project)
    monkeypatch.setenv("OTEL_SERVICE_NAME", "vespe")
    with served(project) as client:
        client.hello()
        meta = {
            "traceparent": f"00-{TRACE}-b7ad6b7169203331-01",
            "tracestate": 3,
            "progressToken": 1,
        }
        answer = client.ask("tools/call", {"name": "see", "arguments": {}, "_meta": meta})
    assert TRACE in json.dumps(answer)
