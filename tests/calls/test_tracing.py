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


@pytest.mark.parametrize(("case", "above"), [("program", "host"), ("program of an agent", "")])
def test_the_calls_of_a_program_stand_below_it(project: Path, case: str, above: str) -> None:
    pytest.importorskip("pydantic_monty")
    spans = {one["span_id"]: one for one in told(case, project) if "metric" not in one}
    (program,) = (one for one in spans.values() if one["name"] == "execute_tool run_code")
    made = [one for one in spans.values() if one["name"] == "execute_tool add"]
    assert [one["parent_id"] for one in made] == [program["span_id"]] * 2
    assert spans[program["parent_id"]]["name"] == (above or "invoke_agent")
    assert not [name for one in spans.values() for name in one["attributes"] if "arguments" in name]


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


def test_calls_that_an_agent_refuses_have_a_span_too(project: Path) -> None:
    seen = told("refused by an agent", project)
    calls = [one for one in seen if one["name"].startswith("execute_tool") and "metric" not in one]
    assert [(one["name"], one["attributes"].get("error.type")) for one in calls] == [
        ("execute_tool add", "invalid_arguments"),
        ("execute_tool made_up", "tool_not_found"),
        ("execute_tool add", None),
    ]
    durations = [one for one in seen if one["name"] == "gen_ai.execute_tool.duration"]
    named = {one["attributes"].get("gen_ai.tool.name") for one in durations}
    assert named == {"add", None}
    assert len({one["trace_id"] for one in seen if "metric" not in one}) == 1


def test_a_toolset_tells_of_the_calls_that_it_refuses(project: Path) -> None:
    (span, *_) = told("toolset", project)
    assert (span["name"], span["attributes"]["error.type"]) == (
        "execute_tool add",
        "invalid_arguments",
    )


def test_what_a_model_used_is_told_and_nothing_where_it_does_not_say(project: Path) -> None:
    seen = told("refused by an agent", project)
    (root,) = (one for one in seen if one["name"] == "invoke_agent")
    assert root["attributes"]["gen_ai.response.finish_reasons"] == ["stop"]
    assert root["attributes"]["gen_ai.usage.input_tokens"] == 7
    first = next(one for one in seen if one["name"] == "chat m")
    assert first["attributes"]["gen_ai.response.model"] == "m"
    assert first["attributes"]["gen_ai.response.id"]
    tokens = {
        one["attributes"]["gen_ai.token.type"]: one["unit"]
        for one in seen
        if one["name"] == "gen_ai.client.token.usage"
    }
    assert tokens == {"input": "{token}", "output": "{token}"}
    (silent,) = (one for one in told("no usage", project) if one["name"] == "invoke_agent")
    assert not [name for name in silent["attributes"] if "usage" in name]


def test_an_mcp_server_tells_of_requests_as_the_conventions_say(project: Path) -> None:
    seen = told("served", project)
    spans = {one["name"]: one["attributes"] for one in seen if "metric" not in one}
    add, late, made_up = (spans[f"tools/call {name}"] for name in ("add", "late", "made_up"))
    assert add["network.transport"] == "pipe" and "error.type" not in add
    assert (late["network.transport"], late["network.protocol.name"]) == ("tcp", "http")
    assert late["error.type"] == "tool_error" and "rpc.response.status_code" not in late
    assert (made_up["error.type"], made_up["rpc.response.status_code"]) == ("-32602", "-32602")
    durations = [one["attributes"] for one in seen if one["name"].startswith("mcp.server")]
    assert {one["name"] for one in seen if "metric" in one} == {"mcp.server.operation.duration"}
    assert [one.get("gen_ai.tool.name") for one in durations] == ["add", "late", None]
    assert not any("jsonrpc.request.id" in one for one in durations)
