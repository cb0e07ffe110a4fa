"""Spans and metrics in OpenTelemetry's words for generative AI and MCP, where somebody listens;
nothing at all where nobody does.

Somebody listens where a variable `OTEL_…` is set, or the program has set OpenTelemetry up or opened
a trace with it. What may hold private data (arguments and results) is told only where
`OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` asks for it, without secrets.
https://opentelemetry.io/docs/specs/semconv/gen-ai/ and
https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/
"""

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

from vespe import defaults, errors
from vespe.calls import threads
from vespe.documents import strict_json
from vespe.lazy import otel_metrics, otel_propagate, otel_trace
from vespe.models import Call, JsonObject, Outcome, Tool
from vespe.records import dataclass

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.metrics import Histogram
    from opentelemetry.trace import Span, SpanKind, Tracer

T = TypeVar("T")

SCHEMA_URL: Final = "https://opentelemetry.io/schemas/1.44.0"
"""The version of the conventions whose names are used here."""
CARRIED: Final = ("traceparent", "tracestate", "baggage")
"""The keys of `params._meta` that carry a trace:
https://modelcontextprotocol.io/community/seps/414
"""
_CONTENT: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_CONTENT_ON_SPANS: Final = {"true", "span_only", "span_and_event"}
_MAX_CONTENT_CHARS: Final = 65_536
_CALL_BOUNDS_S: Final = tuple(0.01 * 2**n for n in range(14))
_AGENT_BOUNDS_S: Final = tuple(0.1 * 2**n for n in range(13))
_REQUEST_BOUNDS_S: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
_TOKEN_BOUNDS: Final = tuple(4**n for n in range(14))
_MOST_NAME: Final = 80
"""Characters of the name of a tool that there is none of: a model or a client made it up."""
_asked: Final = any(name.startswith("OTEL_") for name in os.environ)


@dataclass(frozen=True, slots=True)
class Telemetry:
    """What tells spans and durations; `telemetry()` returns the one of this process."""

    tracer: "Tracer"
    tool_duration: "Histogram"
    agent_duration: "Histogram"
    model_duration: "Histogram"
    request_duration: "Histogram"
    token_usage: "Histogram"

    def execute_tool(self, tool: Tool, call: Call) -> AbstractContextManager["OpenSpan"]:
        """Tell of one call of a tool; whoever ran it gives its Outcome to `OpenSpan.called`."""
        named = {"gen_ai.tool.name": tool.name, "gen_ai.tool.type": "function"}
        attributes = named | {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.call.id": call.call_id,
            "gen_ai.tool.description": tool.description,
            "vespe.tool.uid": tool.uid,
            "vespe.tool.scope": tool.scope,
            "vespe.kit.id": tool.kit_id,
        }
        return self._open(
            f"execute_tool {tool.name}", attributes, measured=_Measured(named, self.tool_duration)
        )

    def refuse_call(self, name: str, code: str, *, tool: Tool | None, call_id: str) -> None:
        """Tell of a call that a model made and that never reached its `tool`, or that has none."""
        about = tool or Tool(uid="", name=name[:_MOST_NAME], description="", input_schema={})
        call = Call(tool=about.name, arguments={}, call_id=call_id or None)
        with self.execute_tool(about, call) as span:
            if tool is None:
                # a duration has no name that somebody made up: there would be ever more of them
                span.named.pop("gen_ai.tool.name", None)
            span.fail(code)

    def invoke_agent(self, provider: str, model: str | None) -> AbstractContextManager["OpenSpan"]:
        """Tell of one run of an agent: its requests to the model and its calls are told below
        it.
        """
        named = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.provider.name": provider,
            "gen_ai.request.model": model,
        }
        return self._open("invoke_agent", named, measured=_Measured(named, self.agent_duration))

    def chat(
        self, provider: str, model: str | None, server: tuple[str, int] | None = None
    ) -> AbstractContextManager["OpenSpan"]:
        """Tell of one request to a model; `server` is the host and port that it goes to."""
        named = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": provider,
            "gen_ai.request.model": model,
            "server.address": server[0] if server else None,
            "server.port": server[1] if server else None,
        }
        kind = otel_trace.SpanKind.CLIENT
        return self._open(
            f"chat {model}" if model else "chat",
            named,
            kind=kind,
            measured=_Measured(named, self.model_duration, self.token_usage),
        )

    def serve_call(
        self, name: str, request: Mapping[str, str], carrier: Mapping[str, str]
    ) -> AbstractContextManager["OpenSpan"]:
        """Tell of one `tools/call` of an MCP client, in the trace that its `params._meta` carries;
        `request` are more attributes.
        """
        name = name[:_MOST_NAME]
        attributes = {
            "mcp.method.name": "tools/call",
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            **request,
        }
        named = {key: value for key, value in attributes.items() if key != "jsonrpc.request.id"}
        parent = otel_propagate.extract(dict(carrier)) if carrier else None
        return self._open(
            f"tools/call {name}",
            attributes,
            kind=otel_trace.SpanKind.SERVER,
            parent=parent,
            measured=_Measured(named, self.request_duration),
        )

    def ask_server(self, attributes: Mapping[str, str]) -> dict[str, str]:
        """Say on the open span of a call that an MCP server is asked for it (one operation, one
        span); return what `_meta` must carry.
        """
        otel_trace.get_current_span().set_attributes(
            {"mcp.method.name": "tools/call", **attributes}
        )
        return self.carrier()

    def carrier(self) -> dict[str, str]:
        """Return the open trace as whatever is asked next must be told it: `traceparent`, and
        `tracestate` and `baggage` where they are.
        """
        carrier: dict[str, str] = {}
        otel_propagate.inject(carrier)
        return {key: value for key, value in carrier.items() if key in CARRIED}

    @contextmanager
    def _open(
        self,
        name: str,
        attributes: Mapping[str, Any],
        *,
        kind: "SpanKind | None" = None,
        parent: "Context | None" = None,
        measured: "_Measured",
    ) -> Iterator["OpenSpan"]:
        kind = otel_trace.SpanKind.INTERNAL if kind is None else kind
        started, outer = time.perf_counter(), sys.exception()
        span = self.tracer.start_span(
            name, context=parent, kind=kind, attributes=_known(attributes)
        )
        opened = OpenSpan(span, _known(measured.named), measured.tokens)
        with otel_trace.use_span(
            span, end_on_exit=True, record_exception=False, set_status_on_exception=False
        ):
            try:
                yield opened
            finally:
                if (
                    (error := sys.exception()) is not None
                    and error is not outer
                    and "error.type" not in opened.named
                ):
                    opened.fail(_kind_of(error))
                measured.duration.record(time.perf_counter() - started, opened.named)


@dataclass(frozen=True, slots=True)
class _Measured:
    """What is measured of a span: its duration, by the attributes `named`, and the tokens that it
    used.
    """

    named: Mapping[str, Any]
    duration: "Histogram"
    tokens: "Histogram | None" = None


@dataclass(frozen=True, slots=True)
class OpenSpan:
    """A span on its way; `named` are the attributes of its duration, `tokens` counts those that a
    request used.
    """

    span: "Span"
    named: dict[str, Any]
    tokens: "Histogram | None" = None

    def fail(self, kind: str) -> None:
        """Say that it failed; `kind` is the code of the error."""
        self.named["error.type"] = kind
        self.span.set_attribute("error.type", kind)
        self.span.set_status(otel_trace.StatusCode.ERROR)

    def fail_request(self, code: int, *, named: bool) -> None:
        """Say that a request of an MCP client was answered with an error of JSON-RPC; `named` is
        false where there is no tool of the name that it called.
        """
        if not named:
            self.named.pop("gen_ai.tool.name", None)
        self.named["rpc.response.status_code"] = str(code)
        self.span.set_attribute("rpc.response.status_code", str(code))
        self.fail(str(code))

    def called(self, outcome: Outcome, arguments: Callable[[], Any]) -> None:
        """Say how a call ended; `arguments` returns them without secrets, and is asked only where
        content is told.
        """
        if outcome.error is not None:
            self.fail(outcome.error.code)
        if self.span.is_recording() and os.environ.get(_CONTENT, "").lower() in _CONTENT_ON_SPANS:
            self.span.set_attribute("gen_ai.tool.call.arguments", _as_text(arguments()))
            if outcome.error is None:
                self.span.set_attribute("gen_ai.tool.call.result", _as_text(outcome.result))

    def answered(
        self,
        usage: JsonObject | None,
        finish_reason: str | None,
        *,
        model: str = "",
        response_id: str = "",
    ) -> None:
        """Say what a request or a run used, in OpenAI's words, and why the model ended; `model` and
        `response_id` are what the answer says of itself.
        """
        used = usage or {}
        counts = {"input": used.get("prompt_tokens"), "output": used.get("completion_tokens")}
        attributes = {
            "gen_ai.usage.input_tokens": counts["input"],
            "gen_ai.usage.output_tokens": counts["output"],
            "gen_ai.usage.cache_read.input_tokens": _within(used, "prompt", "cached_tokens"),
            "gen_ai.usage.reasoning.output_tokens": _within(used, "completion", "reasoning_tokens"),
            "gen_ai.response.finish_reasons": finish_reason and (finish_reason,),
            "gen_ai.response.model": model,
            "gen_ai.response.id": response_id,
        }
        self.span.set_attributes(_known(attributes))
        if model:
            self.named["gen_ai.response.model"] = model
        for kind, count in counts.items():
            if self.tokens is not None and count is not None:
                self.tokens.record(count, self.named | {"gen_ai.token.type": kind})


def telemetry(*, carried: bool = False) -> Telemetry | None:
    """Return what spans are told to, or None where nobody listens; cheap enough to be asked at
    every call.

    `carried` says that there is a trace to pass on.
    """
    if not _asked and ("opentelemetry.trace" not in sys.modules or not (carried or _is_in_use())):
        return None
    return _telemetry()


def _is_in_use() -> bool:
    """Say whether OpenTelemetry is more than imported: many libraries import it, and nothing comes
    of it until a program sets it up.
    """
    # What stands for a provider until one is set has a public name for traces alone.
    return (
        "Proxy" not in type(otel_trace.get_tracer_provider()).__name__
        or "Proxy" not in type(otel_metrics.get_meter_provider()).__name__
        or (
            (span := otel_trace.get_current_span()) is not otel_trace.INVALID_SPAN
            and span.get_span_context().is_valid
        )
    )


def carry(function: Callable[..., T]) -> Callable[..., T]:
    """Return a function for another thread that tells its spans below the one that is open here."""
    return function if telemetry() is None else threads.in_this_context(function)


def tell_refused(
    name: str, outcome: Outcome, *, tool: Tool | None = None, call_id: str = ""
) -> None:
    """Tell, where somebody listens, of a call that a model made and that never reached its tool."""
    if outcome.error is not None and (found := telemetry()) is not None:
        found.refuse_call(name, outcome.error.code, tool=tool, call_id=call_id)


def environment() -> dict[str, str]:
    """Return the variables that tell a tool's process of the open trace: `TRACEPARENT` and its
    companions, or nothing.

    https://opentelemetry.io/docs/specs/otel/context/env-carriers/
    """
    found = telemetry()
    return {} if found is None else {name.upper(): value for name, value in found.carrier().items()}


@cache
def _telemetry() -> Telemetry | None:
    try:
        meter = otel_metrics.get_meter("vespe", defaults.VERSION, schema_url=SCHEMA_URL)
        # it is imported here, and raises ValueError for a word in OTEL_PROPAGATORS that it does not
        # know
        otel_propagate.get_global_textmap()
    except (ImportError, ValueError):
        return None

    def seconds(name: str, description: str, bounds: tuple[float, ...]) -> "Histogram":
        return meter.create_histogram(
            name, unit="s", description=description, explicit_bucket_boundaries_advisory=bounds
        )

    return Telemetry(
        otel_trace.get_tracer("vespe", defaults.VERSION, schema_url=SCHEMA_URL),
        seconds("gen_ai.execute_tool.duration", "How long a call of a tool took.", _CALL_BOUNDS_S),
        seconds(
            "gen_ai.invoke_agent.duration", "How long a run of an agent took.", _AGENT_BOUNDS_S
        ),
        seconds(
            "gen_ai.client.operation.duration",
            "How long a request to a model took.",
            _CALL_BOUNDS_S,
        ),
        seconds(
            "mcp.server.operation.duration",
            "How long a request of an MCP client took.",
            _REQUEST_BOUNDS_S,
        ),
        meter.create_histogram(
            "gen_ai.client.token.usage",
            unit="{token}",
            description="How many tokens a request to a model used.",
            explicit_bucket_boundaries_advisory=_TOKEN_BOUNDS,
        ),
    )


def _within(used: JsonObject, part: str, key: str) -> Any:
    """Return one of the counts within an answer's, or of a run's, which has them beside."""
    details = used.get(f"{part}_tokens_details")
    count = details.get(key) if isinstance(details, dict) else used.get(key)
    return count if type(count) is int else None


def _known(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in attributes.items() if value is not None and value != ""}


def _kind_of(error: BaseException) -> str:
    if isinstance(error, errors.VespeError):
        return error.code
    return "interrupted" if isinstance(error, KeyboardInterrupt) else type(error).__qualname__


def _as_text(value: Any) -> str:
    text = value if isinstance(value, str) else strict_json.compact_json(value)
    return text if len(text) <= _MAX_CONTENT_CHARS else f"{text[:_MAX_CONTENT_CHARS]}…"
