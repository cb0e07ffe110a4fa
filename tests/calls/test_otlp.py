"""What a collector is sent by a command, over real HTTP."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.loopback import Exchange, Loopback
from tests.support.ondisk import python_tool, vespe

trace_service = pytest.importorskip(
    "opentelemetry.proto.collector.trace.v1.trace_service_pb2",
    reason="OpenTelemetry's exporter is not installed: its tests are skipped",
)
SCRIPT = {"turns": [{"tool_calls": [{"name": "see", "arguments": {}}] * 2}, {"text": "done"}]}


def take(exchange: Exchange) -> bool:
    return exchange.reply(b"", kind="application/x-protobuf")


def run_agent(project: Path, endpoint: str, **environment: str) -> Any:
    python_tool(project / ".vespe/tools/tool-see", "see", "return 1", params="")
    (project / "script.json").write_text(json.dumps(SCRIPT), encoding="utf-8")
    vespe("trust", "--yes", cwd=project)
    words = (
        "agent",
        "run",
        "go",
        "--provider",
        "simulated",
        "--script",
        "script.json",
        "--approve",
        "all",
    )
    return vespe(*words, cwd=project, env={"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint} | environment)


def test_a_whole_run_of_an_agent_reaches_the_collector_as_one_trace(project: Path) -> None:
    with Loopback(take) as collector:
        done = run_agent(project, collector.url("").rstrip("/"))
    assert done.returncode == 0 and "telemetry" not in done.stderr, done.stderr
    bodies = [
        raw.partition(b"\r\n\r\n")[2]
        for raw in collector.requests
        if raw.startswith(b"POST /v1/traces")
    ]
    sent = [trace_service.ExportTraceServiceRequest.FromString(body) for body in bodies]
    resources = [resource for request in sent for resource in request.resource_spans]
    assert {
        one.value.string_value
        for each in resources
        for one in each.resource.attributes
        if one.key == "service.name"
    } == {"vespe"}
    spans = [span for each in resources for scope in each.scope_spans for span in scope.spans]
    assert sorted(span.name for span in spans) == [
        "chat simulated",
        "chat simulated",
        "execute_tool see",
        "execute_tool see",
        "invoke_agent",
    ]
    assert len({span.trace_id for span in spans}) == 1
    assert {span.parent_span_id for span in spans if span.parent_span_id} <= {
        span.span_id for span in spans
    }
    assert any(raw.startswith(b"POST /v1/metrics") for raw in collector.requests)


def test_a_collector_that_is_not_there_costs_a_line_and_not_the_command(project: Path) -> None:
    done = run_agent(project, "http://127.0.0.1:9")
    assert done.returncode == 0 and "done" in done.stdout
    assert done.stderr.count("telemetry:") == 1


def test_words_that_opentelemetry_does_not_know_cost_a_line_and_not_the_command(
    project: Path,
) -> None:
    with Loopback(take) as collector:
        url = collector.url("").rstrip("/")
        done = run_agent(project, url, OTEL_PROPAGATORS="nonsense", OTEL_METRICS_EXPORTER="console")
    assert done.returncode == 0 and "done" in done.stdout
    assert "nonsense" in done.stderr and "Traceback" not in done.stderr
    assert "OTEL_METRICS_EXPORTER=console sends nothing" in done.stderr
    assert done.stderr.count("telemetry:") == 2
