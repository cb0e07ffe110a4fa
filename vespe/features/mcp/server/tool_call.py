"""One `tools/call` from its request to its answer, through whatever serves the tools."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Final, Protocol

from vespe import errors
from vespe.adapters import tool_errors
from vespe.calls import progress as call_progress
from vespe.calls import tracing
from vespe.calls.asking import CallSuspended
from vespe.documents import strict_json
from vespe.features.mcp.server import messages, revisions, tool_results
from vespe.features.mcp.server.call_client import (
    CallClient,
    OnTheWay,
    RoundCallClient,
    TaskCallClient,
    WaitingCallClient,
)
from vespe.features.mcp.server.messages import ProtocolError
from vespe.features.mcp.server.progress import Notify, Progress
from vespe.features.mcp.server.protocol import LEVELS, PendingCall
from vespe.features.mcp.server.tool_results import Called
from vespe.models import JsonObject, JsonValue

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
        by: CallClient | None = None,
    ) -> Called:
        """Return what became of the call; references to what its client was shown in part are
        resolved first, and its user is asked. Raises CallSuspended where that takes another call.
        """
        ...


def run(
    pending: PendingCall,
    calls: CallRunner,
    way: OnTheWay,
    *,
    progress: Progress | None = None,
    transport: str = "pipe",
) -> JsonObject:
    """Run a call to its answer; notifications on the way come from this thread.

    `progress` is for a caller that tells of steps itself. A call that is ended has an answer that
    is for nobody. `transport` is `pipe` or `tcp`, as traces say it. Raises CallSuspended where the
    call cannot wait for a person here: it is to be run again, in a thread that can be kept.
    """
    told = progress or (
        None if pending.progress_token is None else Progress(pending.progress_token, way.notify)
    )
    by = _client_of(pending, way)
    telemetry = tracing.telemetry(carried=bool(pending.trace))
    try:
        # most calls: nobody listens on the way
        if telemetry is None and told is None and pending.log_level is None:
            called = calls.call(
                pending.name, pending.arguments, cancel=way.cancel, progress=None, by=by
            )
        else:
            opened = None if telemetry is None else _opened(telemetry, pending, transport)
            with _heard(pending, told, way.notify, opened) as span:
                called = _traced(pending, calls, way, told, by, span)
    except CallSuspended:
        if not isinstance(by, RoundCallClient):
            raise
        return _asked(pending, by)
    except ProtocolError as error:  # a state that is none
        return messages.failed(pending.id, error.code, error.message, data=error.data)
    except errors.VespeError as error:
        return _refused(pending, error, code=_code_of(error))
    if pending.task is not None:
        pending.task.hear(called.outcome)
    if called.outcome.logs:
        _say(pending, way.notify, level="info", data=called.outcome.logs)
    if _lacks_elicitation(called, pending):
        return _unasked(pending, called)
    return messages.answered(
        pending.id, tool_results.result_of(called, pending.revision, client=pending.client)
    )


def _client_of(pending: PendingCall, way: OnTheWay) -> CallClient | None:
    client = pending.client
    if client is None:
        return None
    if not pending.elicits:
        return CallClient(client)
    if pending.revision != revisions.NEWEST:
        return WaitingCallClient(client, way)
    responses, state = pending.responses, pending.state
    if (task := pending.task) is not None:
        return TaskCallClient(client, way, lambda: task.asker, responses=responses, state=state)
    return RoundCallClient(client, responses=responses, state=state)


def _traced(
    pending: PendingCall,
    calls: CallRunner,
    way: OnTheWay,
    told: Progress | None,
    by: CallClient | None,
    span: tracing.OpenSpan | None,
) -> Called:
    try:
        called = calls.call(
            pending.name, pending.arguments, cancel=way.cancel, progress=told, by=by
        )
    except errors.VespeError as error:
        if span is not None:
            known = not isinstance(error, errors.ToolNotFound)
            span.fail_request(_code_of(error), named=known)
        raise
    if span is not None and called.outcome.error is not None:
        span.fail("tool_error")
    return called


def _asked(pending: PendingCall, by: RoundCallClient) -> JsonObject:
    try:
        return messages.answered(pending.id, by.result())
    except errors.VespeError as error:  # no state can be signed
        return _refused(pending, error, code=messages.INTERNAL_ERROR)


def _lacks_elicitation(called: Called, pending: PendingCall) -> bool:
    """Whether a call failed only since its client did not declare that it can ask its user."""
    error = called.outcome.error
    return (
        error is not None
        and error.code == errors.NeedsInput.code
        and called.could_ask
        and not pending.elicits
        and pending.task is None
        and pending.revision == revisions.NEWEST
    )


def _unasked(pending: PendingCall, called: Called) -> JsonObject:
    said = tool_errors.outcome_of(called.outcome)[0]
    needed: JsonObject = {"requiredCapabilities": {"elicitation": {"form": {}}}}
    return messages.failed(pending.id, messages.MISSING_CAPABILITY, str(said), data=needed)


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
