"""One `tools/call` from its request to its answer, through whatever serves the tools."""

import threading
from collections.abc import Callable
from typing import Final, Protocol

from vespe import errors
from vespe.calls import progress as call_progress
from vespe.documents import strict_json
from vespe.mcp_server import messages, results
from vespe.mcp_server.progress import Notify, Progress
from vespe.mcp_server.protocol import LEVELS, PendingCall
from vespe.models import JsonObject, JsonValue
from vespe.outcomes import Outcome

_REFUSED: Final = (errors.NotFound, errors.NotTrusted, errors.InvalidDocument, errors.UsageError)
"""There is no such tool here, or none any more: an error of the protocol, not of the tool."""


class Calls(Protocol):
    """What runs a call: `vespe.mcp_server.tools.ServedTools`."""

    def in_process(self, name: str) -> bool:
        """Say whether the tool is code of this process, which may be done before a thread has even woken."""
        ...

    def call(
        self, name: str, arguments: JsonObject, *, cancel: threading.Event | None, progress: Callable[[str], None] | None
    ) -> tuple[Outcome, JsonObject | None]:
        """Give what became of the call, and the output schema that its tool is held to."""
        ...


def run(
    pending: PendingCall, calls: Calls, *, notify: Notify, cancel: threading.Event | None = None, progress: Progress | None = None
) -> JsonObject:
    """Run a call to its answer; `notify` takes the notifications on the way, from this thread.

    `progress` is for a caller that tells of steps itself. `cancel` ends the call: its answer is then for nobody.
    """
    told = progress or (None if pending.progress_token is None else Progress(pending.progress_token, notify))
    try:
        if told is None and pending.log_level is None:
            outcome, output_schema = calls.call(pending.name, pending.arguments, cancel=cancel, progress=None)
        else:
            with call_progress.listened(_listener(pending, told, notify)):
                outcome, output_schema = calls.call(pending.name, pending.arguments, cancel=cancel, progress=told)
    except _REFUSED as error:
        return _refused(pending, error, code=messages.INVALID_PARAMS)
    except errors.VespeError as error:
        return _refused(pending, error, code=messages.INTERNAL_ERROR)
    if outcome.logs:
        _say(pending, notify, level="info", data=outcome.logs)
    return messages.answered(pending.id, results.result_of(outcome, output_schema, pending.revision))


def _refused(pending: PendingCall, error: errors.VespeError, *, code: int) -> JsonObject:
    said = f"{error} ({error.hint})" if error.hint else str(error)
    return messages.failed(pending.id, code, strict_json.repair_surrogates(said), data={"code": error.code, "tool": pending.name[:80]})


def _listener(pending: PendingCall, told: Progress | None, notify: Notify) -> call_progress.Listener:
    def progress(done: float, total: float | None, message: str) -> None:
        if told is not None:
            told.tell(done, total=total, message=message)

    def message(level: str, data: JsonValue) -> None:
        _say(pending, notify, level=level, data=data)

    return call_progress.Listener(progress=progress, message=message)


def _say(pending: PendingCall, notify: Notify, *, level: str, data: JsonValue) -> None:
    """Send a log message to a client that wants to hear of its level."""
    if pending.log_level is None or level not in LEVELS or LEVELS.index(level) < LEVELS.index(pending.log_level):
        return
    notify(messages.notification("notifications/message", {"level": level, "logger": pending.name, "data": data}))
