"""One `tools/call` from its request to its answer, through whatever serves the tools."""

import threading
from collections.abc import Callable
from typing import Final, Protocol

from vespe import documents, errors
from vespe.models import JsonObject
from vespe.outcomes import Outcome
from vespe.serve import messages, results
from vespe.serve.protocol import LEVELS, PendingCall

_REFUSED: Final = (errors.NotFound, errors.NotTrusted, errors.InvalidDocument, errors.UsageError)
"""There is no such tool here, or none any more: an error of the protocol, not of the tool."""
Notify = Callable[[JsonObject], None]


class Calls(Protocol):
    """What runs a call: `vespe.serve.tools.ServedTools`."""

    def call(
        self, name: str, arguments: JsonObject, *, cancel: threading.Event | None, progress: Callable[[str], None] | None
    ) -> tuple[Outcome, JsonObject | None]:
        """Give what became of the call, and the output schema that its tool is held to."""
        ...


def run(
    pending: PendingCall, calls: Calls, *, notify: Notify, cancel: threading.Event | None = None, progress: "Progress | None" = None
) -> JsonObject:
    """Run a call to its answer; `notify` takes the notifications on the way, from this thread.

    `progress` is for a caller that tells of steps itself. `cancel` ends the call: its answer is then for nobody.
    """
    steps = progress or Progress(pending, notify)
    try:
        outcome, output_schema = calls.call(
            pending.name, pending.arguments, cancel=cancel, progress=None if pending.progress_token is None else steps
        )
    except _REFUSED as error:
        hint = f" ({error.hint})" if error.hint else ""
        said = documents.repair_surrogates(f"{error}{hint}")
        return messages.failed(pending.id, messages.INVALID_PARAMS, said, data={"code": error.code, "tool": pending.name[:80]})
    except errors.VespeError as error:
        return messages.failed(pending.id, messages.INTERNAL_ERROR, documents.repair_surrogates(str(error)), data={"code": error.code})
    if outcome.logs and pending.log_level is not None and LEVELS.index(pending.log_level) <= LEVELS.index("info"):
        notify(messages.notification("notifications/message", {"level": "info", "logger": pending.name, "data": outcome.logs}))
    return messages.answered(pending.id, results.result_of(outcome, output_schema, pending.revision))


class Progress:
    """Tells a client that asked for it how far a call is: each step counts more than the last, and may say what it is about."""

    def __init__(self, pending: PendingCall, notify: Notify) -> None:
        self._token, self._notify = pending.progress_token, notify
        self._done = 0.0
        self._lock = threading.Lock()

    def __call__(self, text: str) -> None:
        """Tell of one more step."""
        self.tell(None, message=text)

    def tell(self, done: float | None, *, total: float | None = None, message: str = "") -> None:
        """Tell how much of `total` is done; None counts one more. What is no more than the last is not told."""
        with self._lock:
            reached = self._done + 1 if done is None else done
            if self._token is None or reached <= self._done > 0:
                return
            self._done = reached
            params: JsonObject = {"progressToken": self._token, "progress": reached}
            params |= {} if total is None else {"total": total}
            self._notify(messages.notification("notifications/progress", params | ({"message": message} if message else {})))
