"""Questions that a server sends to a client while one of its calls waits (2025-06-18, 2025-11-25):
`elicitation/create`, and the answers as they come, over whatever transport.
"""

import threading
import time
from typing import Final

from vespe.calls.asking import ASK_TIMEOUT_S
from vespe.errors import Interrupted, NeedsInput
from vespe.features.mcp.server import messages
from vespe.features.mcp.server.progress import Notify
from vespe.models import JsonObject, JsonValue

MAX_OPEN: Final = 100
"""How many questions of one client may be open at once."""
_LOOK_S: Final = 0.05
_HEAD: Final = "vespe-question-"


class _Open:
    __slots__ = ("answer", "there")

    def __init__(self) -> None:
        self.there = threading.Event()
        self.answer: JsonObject = {}


class ClientQuestions:
    """The open questions of one client, by their ids; safe to share between threads."""

    __slots__ = ("_last", "_lock", "_open")

    def __init__(self) -> None:
        self._open: dict[str, _Open] = {}
        self._lock = threading.Lock()
        self._last = 0

    def take(self, message: JsonObject) -> None:
        """Take a message that answers a request; one that answers none, or answers it once more, is
        for nobody.
        """
        with self._lock:
            known = self._open.pop(str(message.get("id")), None)
        if known is not None:
            known.answer = message
            known.there.set()

    def ask(
        self,
        params: JsonObject,
        notify: Notify,
        *,
        withdraw: Notify,
        cancel: threading.Event,
        over: threading.Event,
    ) -> JsonValue:
        """Send a question by `notify`, and return the result that answers it.

        Raises NeedsInput where there is none, Interrupted where the call ends first: the client is
        then told by `withdraw` that nobody waits any more. `over` is set where the time is up.
        """
        identifier, one = self._opened()
        try:
            notify(messages.request(identifier, "elicitation/create", params))
            until = time.monotonic() + ASK_TIMEOUT_S
            while not one.there.wait(_LOOK_S):
                if cancel.is_set() or over.is_set() or time.monotonic() > until:
                    raise self._left(identifier, withdraw, cancelled=cancel.is_set())
        finally:
            with self._lock:
                self._open.pop(identifier, None)
        error = one.answer.get("error")
        if error is not None:
            said = error.get("message") if isinstance(error, dict) else error
            raise NeedsInput(f"the client could not ask its user: {str(said)[:200]!r}")
        return one.answer.get("result")

    def _opened(self) -> tuple[str, _Open]:
        one = _Open()
        with self._lock:
            if len(self._open) >= MAX_OPEN:
                raise NeedsInput(
                    f"{MAX_OPEN} questions are already waiting for an answer",
                    hint="answer those first",
                )
            self._last += 1
            identifier = f"{_HEAD}{self._last}"
            self._open[identifier] = one
        return identifier, one

    def _left(self, identifier: str, withdraw: Notify, *, cancelled: bool) -> Exception:
        why = "the call was cancelled" if cancelled else "the time is up"
        withdraw(
            messages.notification(
                "notifications/cancelled", {"requestId": identifier, "reason": why}
            )
        )
        if cancelled:
            return Interrupted("the call was cancelled at a question")
        return NeedsInput(
            f"nobody answered the question within {ASK_TIMEOUT_S / 60:g} minutes",
            hint="make the call again",
        )
