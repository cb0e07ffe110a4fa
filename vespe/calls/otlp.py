"""Sends what `vespe.calls.tracing` tells to an OTLP collector: for a command, whose process is
ours; a library leaves that to its host.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from vespe import defaults
from vespe.lazy import (
    otel_metrics,
    otel_propagate,
    otel_sdk_metrics,
    otel_sdk_metrics_export,
    otel_sdk_resources,
    otel_sdk_trace,
    otel_sdk_trace_export,
    otel_trace,
    otlp_metrics,
    otlp_traces,
)

Command: TypeAlias = Callable[[Sequence[str]], int | None]
_PATIENCE_S: Final = 2.0
"""How long the end of a command waits for a collector."""

_EXPORTERS: Final = ("OTEL_TRACES_EXPORTER", "OTEL_METRICS_EXPORTER")
_SENT: Final = ("otlp", "none", "")


class _First(logging.Handler):
    """Keeps the first thing that the exporters complain of, to be said in one line when the command
    has ended.
    """

    said = ""

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the message of the first record."""
        self.said = self.said or record.getMessage().splitlines()[0]


def exporting(command: Command, note: Callable[[str], None]) -> Command:
    """Return the command with its spans and metrics sent, by the OTLP exporter over HTTP and the
    variables that it knows.

    `note` is told, once the command has ended, what kept them from being sent.

    Nothing is sent where the packages of `vespe[otel]` are missing, or the host's own launcher has
    set up a provider already. https://opentelemetry.io/docs/specs/otel/protocol/exporter/
    """

    def run(arguments: Sequence[str]) -> int | None:
        heard = _First()
        logger = logging.getLogger("opentelemetry")
        logger.addHandler(heard)
        logger.propagate = False
        for name in _EXPORTERS:
            if (asked := os.environ.get(name, "otlp")) not in _SENT:
                note(f"telemetry: {name}={asked} sends nothing: only otlp is sent")
        if complaint := _misread():
            note(f"telemetry: {complaint}")
        ends = _set_up()
        try:
            return command(arguments)
        finally:
            # An exporter tries again and again for a minute; who typed a command does not wait for
            # that.
            until = time.monotonic() + _PATIENCE_S
            ending = [threading.Thread(target=end, daemon=True) for end in ends]
            for thread in ending:
                thread.start()
            for thread in ending:
                thread.join(max(0, until - time.monotonic()))
            if heard.said:
                note(f"telemetry: {heard.said}")

    return run


def _misread() -> str:
    """Say what OpenTelemetry cannot read in OTEL_PROPAGATORS, "" where it reads it."""
    try:
        otel_propagate.get_global_textmap()
    except ImportError:
        return ""
    except ValueError as error:
        return str(error).splitlines()[0]
    return ""


def _set_up() -> list[Callable[[], Any]]:
    """Set up what exports, and return what ends it with everything sent."""
    try:
        resource = otel_sdk_resources.Resource.create(
            {"service.version": defaults.VERSION, **_named()}
        )
        spans, durations = otlp_traces.OTLPSpanExporter(), otlp_metrics.OTLPMetricExporter()
    except ImportError:
        return []
    if isinstance(otel_trace.get_tracer_provider(), otel_sdk_trace.TracerProvider):
        return []
    ends: list[Callable[[], Any]] = []
    if os.environ.get("OTEL_TRACES_EXPORTER", "otlp") == "otlp":
        tracers = otel_sdk_trace.TracerProvider(resource=resource, shutdown_on_exit=False)
        tracers.add_span_processor(otel_sdk_trace_export.BatchSpanProcessor(spans))
        otel_trace.set_tracer_provider(tracers)
        ends.append(tracers.shutdown)
    if os.environ.get("OTEL_METRICS_EXPORTER", "otlp") == "otlp":
        reader = otel_sdk_metrics_export.PeriodicExportingMetricReader(durations)
        meters = otel_sdk_metrics.MeterProvider([reader], resource=resource, shutdown_on_exit=False)
        otel_metrics.set_meter_provider(meters)
        ends.append(meters.shutdown)
    return ends


def _named() -> dict[str, str]:
    return {} if os.environ.get("OTEL_SERVICE_NAME") else {"service.name": "vespe"}
