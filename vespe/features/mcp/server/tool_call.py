"""One `tools/call` from its request to its answer, through whatever serves the tools."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Final, Protocol

from vespe import errors
from vespe.adapters import result_texts, tool_errors
from vespe.calls import progress as call_progress
from vespe.calls import tracing
from vespe.documents import strict_json
from vespe.features.mcp.server import content_blocks, messages, revisions
from vespe.features.mcp.server.progress import Notify, Progress
from vespe.features.mcp.server.protocol import LEVELS, PendingCall
from vespe.models import JsonObject, JsonValue, Outcome

_REFUSED: Final = (errors.NotFound, errors.NotTrusted, errors.InvalidDocument, errors.UsageError)
"""There is no such tool here, or none any more: an error of the protocol, not of the tool."""


class CallRunner(Protocol):
    """What runs a call: `vespe.features.mcp.server.tools.ServedTools`."""

    def in_process(self, name: str) -> bool:
        """Say whether the tool is code of this process, which may be done before a thread has even
        woken.
        """
        ...

    def call(
        self,
        name: str,
        arguments: JsonObject,
        *,
        cancel: threading.Event | None,
        progress: Callable[[str], None] | None,
    ) -> tuple[Outcome, JsonObject | None]:
        """Return what became of the call, and the output schema that its tool is held to."""
        ...


def run(
    pending: PendingCall,
    calls: CallRunner,
    *,
    notify: Notify,
    cancel: threading.Event | None = None,
    progress: Progress | None = None,
    transport: str = "pipe",
) -> JsonObject:
    """Run a call to its answer; `notify` takes the notifications on the way, from this thread.

    `progress` is for a caller that tells of steps itself. `cancel` ends the call: its answer is
    then for nobody. `transport` is `pipe` or `tcp`, as traces say it.
    """
    told = progress or (
        None if pending.progress_token is None else Progress(pending.progress_token, notify)
    )
    telemetry = tracing.telemetry(carried=bool(pending.trace))
    try:
        # most calls: nobody listens on the way
        if telemetry is None and told is None and pending.log_level is None:
            outcome, output_schema = calls.call(
                pending.name, pending.arguments, cancel=cancel, progress=None
            )
        else:
            opened = None if telemetry is None else _opened(telemetry, pending, transport)
            with _heard(pending, told, notify, opened) as span:
                try:
                    outcome, output_schema = calls.call(
                        pending.name, pending.arguments, cancel=cancel, progress=told
                    )
                except errors.VespeError as error:
                    if span is not None:
                        known = not isinstance(error, errors.ToolNotFound)
                        span.fail_request(_code_of(error), named=known)
                    raise
                if span is not None and outcome.error is not None:
                    span.fail("tool_error")
    except errors.VespeError as error:
        return _refused(pending, error, code=_code_of(error))
    if pending.task is not None:
        pending.task.hear(outcome)
    if outcome.logs:
        _say(pending, notify, level="info", data=outcome.logs)
    return messages.answered(pending.id, result_of(outcome, output_schema, pending.revision))


def _code_of(error: errors.VespeError) -> int:
    return messages.INVALID_PARAMS if isinstance(error, _REFUSED) else messages.INTERNAL_ERROR


def _opened(
    telemetry: tracing.Telemetry, pending: PendingCall, transport: str
) -> contextlib.AbstractContextManager[tracing.OpenSpan]:
    """Return the span of a call that a client asked for."""
    request = {
        "jsonrpc.request.id": str(pending.id),
        "mcp.protocol.version": pending.revision,
        "network.transport": transport,
    }
    if transport == "tcp":
        request["network.protocol.name"] = "http"
    return telemetry.serve_call(pending.name, request, pending.trace)


@contextlib.contextmanager
def _heard(
    pending: PendingCall,
    told: Progress | None,
    notify: Notify,
    opened: contextlib.AbstractContextManager[tracing.OpenSpan] | None,
) -> Iterator[tracing.OpenSpan | None]:
    """Listen to a call on its way; what is yielded is its span, where there are spans."""
    with contextlib.ExitStack() as around:
        span = None if opened is None else around.enter_context(opened)
        if told is not None or pending.log_level is not None:
            around.enter_context(call_progress.listen(_listener(pending, told, notify)))
        yield span


def _refused(pending: PendingCall, error: errors.VespeError, *, code: int) -> JsonObject:
    said = f"{error} ({error.hint})" if error.hint else str(error)
    return messages.failed(
        pending.id,
        code,
        strict_json.repair_surrogates(said),
        data={"code": error.code, "tool": pending.name[:80]},
    )


def _listener(
    pending: PendingCall, told: Progress | None, notify: Notify
) -> call_progress.ProgressListener:
    def progress(done: float, total: float | None, message: str) -> None:
        if told is not None:
            told.tell(done, total=total, message=message)

    def message(level: str, data: JsonValue) -> None:
        _say(pending, notify, level=level, data=data)

    return call_progress.ProgressListener(progress=progress, message=message)


def _say(pending: PendingCall, notify: Notify, *, level: str, data: JsonValue) -> None:
    """Send a log message to a client that wants to hear of its level."""
    if (
        pending.log_level is None
        or level not in LEVELS
        or LEVELS.index(level) < LEVELS.index(pending.log_level)
    ):
        return
    notify(
        messages.notification(
            "notifications/message", {"level": level, "logger": pending.name, "data": data}
        )
    )


_OWN_KEYS: Final = {"content", "structuredContent", tool_errors.MCP_IS_ERROR, "_meta"}


def result_of(outcome: Outcome, output_schema: JsonObject | None, revision: str) -> JsonObject:
    """Return the result of `tools/call` as a revision says it.

    What failed is an `isError` result in words that a model can act on. A result that is itself one
    of `tools/call` (`{"content": [blocks], …}`) of a tool without an output schema stands as it is.
    """
    value, failed = tool_errors.outcome_of(outcome)
    if not failed and output_schema is None and is_tool_result(value):
        return revisions.complete(_sieved(value, revision), revision)
    return revisions.complete(
        _said(outcome, value, output_schema, revision) | _noted(outcome), revision
    )


def _said(
    outcome: Outcome, value: JsonValue, output_schema: JsonObject | None, revision: str
) -> JsonObject:
    failed = outcome.error is not None
    content = [{"type": "text", "text": result_texts.text_of(value)}]
    if failed or outcome.truncated:
        # What was cut no longer fits the schema that clients hold a result to.
        return {"content": content} | tool_errors.mcp_field_of(failed or output_schema is not None)
    result: JsonObject = {"content": content} | tool_errors.mcp_field_of(False)
    any_value = output_schema is not None and revisions.structures_any(revision)
    if any_value or (isinstance(value, dict) and revisions.has_structure(revision)):
        result["structuredContent"] = value
    return result


def _noted(outcome: Outcome) -> JsonObject:
    """Return `_meta` with what was repaired and where the whole of a result that was cut is, where
    there is any of it.
    """
    meta: JsonObject = {"vespe/notes": list(outcome.notes)} if outcome.notes else {}
    meta |= {"vespe/outputFile": outcome.output_file} if outcome.output_file else {}
    return {"_meta": meta} if meta else {}


def is_tool_result(value: JsonValue) -> bool:
    """Say whether a tool's result is the result of a `tools/call` already: nothing but content
    blocks and what goes with them.
    """
    if (
        not isinstance(value, dict)
        or not value.keys() <= _OWN_KEYS
        or not isinstance(value.get("content"), list)
    ):
        return False
    if not isinstance(value.get(tool_errors.MCP_IS_ERROR, False), bool) or not isinstance(
        value.get("_meta", {}), dict
    ):
        return False
    return bool(value["content"]) and all(
        content_blocks.is_block(block) for block in value["content"]
    )


def _sieved(value: JsonObject, revision: str) -> JsonObject:
    """Return a ready result as the revision says it: a block that it does not know stands as the
    text of its JSON.
    """
    content = [
        block
        if revisions.takes_block(block["type"], revision)
        else {"type": "text", "text": result_texts.text_of(block)}
        for block in value["content"]
    ]
    structure = value.get("structuredContent")
    kept: JsonObject = {
        key: value[key] for key in ("structuredContent", "_meta") if value.get(key) is not None
    }
    if not revisions.has_structure(revision) or not (
        isinstance(structure, dict) or revisions.structures_any(revision)
    ):
        kept.pop("structuredContent", None)
    failed = value.get(tool_errors.MCP_IS_ERROR, False)
    return {"content": content} | tool_errors.mcp_field_of(failed) | kept
