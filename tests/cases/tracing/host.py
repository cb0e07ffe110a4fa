"""A host program with OpenTelemetry's SDK: it runs the call named on its command line, and prints each span as one line of JSON."""

import json
import sys

from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.util.genai.handler import TelemetryHandler

from vespe import Agent, AgentOptions, Project, SimulatedProvider, Toolset, tool

spans, durations = InMemorySpanExporter(), InMemoryMetricReader()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
trace.set_tracer_provider(provider)
metrics.set_meter_provider(MeterProvider([durations]))


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
def fail() -> int:
    """Fail."""
    raise ValueError("no")


def theirs(name, description, arguments, result):
    """The same call, told by the conventions' own library."""
    with TelemetryHandler().tool(name, tool_type="function") as invocation:
        invocation.tool_description = description
        invocation.arguments = arguments
        invocation.tool_result = result


def ours(name, **arguments):
    with Project() as project:
        project.register(add)
        project.register(fail)
        project.call(name, **arguments)


case = sys.argv[1]
if case == "same":
    ours("add", a=1, b=2)
    theirs("add", "Add two numbers.", {"a": 1, "b": 2}, 3)
elif case == "error":
    ours("fail")
elif case == "refused":
    ours("add", a="x")
elif case == "script":
    with trace.get_tracer("host").start_as_current_span("host"), Project() as project:
        print(json.dumps({"name": "result", "result": project.call("see").unwrap()}))
elif case == "program":
    with trace.get_tracer("host").start_as_current_span("host"), Project() as project:
        project.register(add)
        project.run_code("add(a=1, b=add(a=1, b=1))")
elif case == "program of an agent":
    code = {"code": "add(a=1, b=2) + add(a=3, b=4)"}
    script = {"turns": [{"tool_calls": [{"name": "run_code", "arguments": code}]}, {"text": "10"}]}
    Agent(SimulatedProvider(script, model="m"), tools=Toolset(add), options=AgentOptions(tools_mode="code")).run("go")
elif case == "agent":
    script = {"turns": [{"tool_calls": [{"name": "add", "arguments": {"a": 1, "b": 2}}] * 2}, {"text": "3"}]}
    Agent(SimulatedProvider(script, model="m"), tools=Toolset(add)).run("go")
elif case == "refused by an agent":
    calls = [{"name": "add", "arguments": {"a": "x"}}, {"name": "made_up", "arguments": {}}, {"name": "add", "arguments": {"a": 1, "b": 2}}]
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    script = {"turns": [{"tool_calls": calls, "usage": usage}, {"text": "3"}]}
    Agent(SimulatedProvider(script, model="m"), tools=Toolset(add)).run("go")
elif case == "no usage":
    Agent(SimulatedProvider({"turns": [{"text": "3"}]}, model="m"), tools=Toolset(add)).run("go")
elif case == "toolset":
    import asyncio

    call = {"id": "i", "type": "function", "function": {"name": "add", "arguments": "{}"}}
    asyncio.run(Toolset(add).aanswer({"role": "assistant", "tool_calls": [call]}))
elif case == "served":
    from vespe.errors import ToolNotFound
    from vespe.features.mcp.server import tool_call
    from vespe.features.mcp.server.call_client import OnTheWay
    from vespe.features.mcp.server.protocol import PendingCall
    from vespe.features.mcp.server.tool_results import Called
    from vespe.models import Failure, Outcome

    class Served:
        def in_process(self, name):
            return True

        def call(self, name, arguments, *, cancel, progress, by=None):
            if name == "made_up":
                raise ToolNotFound(name)
            failure = Failure(code="timed_out", message="late") if name == "late" else None
            return Called(Outcome(tool=name, uid=None, result=None if failure else 1, error=failure), None)

    for name, transport in (("add", "pipe"), ("late", "tcp"), ("made_up", "pipe")):
        pending = PendingCall(id=1, name=name, arguments={}, revision="2025-11-25")
        tool_call.run(pending, Served(), OnTheWay(notify=print), transport=transport)
for span in spans.get_finished_spans():
    document = json.loads(span.to_json())
    print(json.dumps({key: document[key] for key in ("name", "kind", "parent_id", "attributes", "status")} | document["context"]))
data = durations.get_metrics_data()
for resource in data.resource_metrics if data else ():
    for scope in resource.scope_metrics:
        for metric in scope.metrics:
            for point in metric.data.data_points:
                print(json.dumps({"name": metric.name, "metric": True, "unit": metric.unit, "count": point.count, "attributes": dict(point.attributes)}))
