"""When a request is made again: after how long, how often, and for what; never behind the first
byte of an answer.
"""

import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from vespe.errors import ProviderError
from vespe.http.sockets import ExchangeLimits
from vespe.lazy import email_utils
from vespe.records import dataclass

T = TypeVar("T")

_TRANSIENT: Final = frozenset({408, 409, 425, 429})
_LONGEST_BACKOFF_S: Final = 8.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """The time limits of a provider in seconds (to connect, without data, in total), and the number
    of retries.

    `retry_after_cap_s` is the longest wait that an endpoint may ask for; if it asks for more, there
    is no retry. `backoff_s` is the wait before the first retry if the endpoint does not ask for
    one; it doubles, up to 8 s, with jitter. `on_wait` is called before each wait with the error and
    the seconds, in the waiting thread.

    ```python
    from vespe import OllamaProvider, Patience

    model = OllamaProvider("qwen3", patience=Patience(connect_s=2, retries=0))
    ```
    """

    connect_s: float = 10
    stall_s: float = 300
    total_s: float = 600
    retries: int = 2
    retry_after_cap_s: float = 60
    backoff_s: float = 0.5
    on_wait: Callable[[ProviderError, float], None] | None = None

    def limits(self, what: str, cancel: threading.Event | None) -> ExchangeLimits:
        """Start the time limits of one request, including its retries and waits."""
        hint = "the endpoint may be overloaded: try again later, or with a smaller request"
        return ExchangeLimits(
            what,
            timeout_s=self.total_s,
            cancel=cancel,
            stall_s=self.stall_s,
            connect_s=self.connect_s,
            hint=hint,
        )

    def wait_after(self, error: ProviderError, tries: int) -> float | None:
        """Return the seconds to wait after so many tries, or None if there should be no retry."""
        if not error.transient or tries > self.retries:
            return None
        if error.retry_after_s is not None:
            return error.retry_after_s if error.retry_after_s <= self.retry_after_cap_s else None
        jitter = int.from_bytes(os.urandom(2), "big") / 65536
        return min(self.backoff_s * 2.0 ** (tries - 1), _LONGEST_BACKOFF_S) * (0.5 + jitter / 2)


PATIENCE: Final = Patience()
"""What a provider has unless it is told otherwise."""
AT_ONCE: Final = Patience(backoff_s=0)
"""What the simulated provider has: its scripted failures are waited out only as long as they ask
for.
"""


def persistently(
    attempt: Callable[[], T],
    patience: Patience,
    *,
    limits: ExchangeLimits,
    cancel: threading.Event | None,
) -> T:
    """Attempt until it succeeds, or fails for good; raises what the last attempt raised,
    Interrupted as soon as cancelled.
    """
    tries = 0
    while True:
        tries += 1
        try:
            return attempt()
        except ProviderError as error:
            wait = patience.wait_after(error, tries)
            if wait is None:
                raise
            limits.progressed()
            limits.remaining()
            if wait >= limits.left_s:
                raise
            if patience.on_wait is not None:
                patience.on_wait(error, wait)
        (cancel or threading.Event()).wait(wait)
        limits.progressed()
        limits.remaining()


def is_transient(status: int, headers: Mapping[str, str]) -> bool:
    """Whether the same request may be answered later; `x-should-retry`, which some endpoints send,
    decides where it stands.
    """
    said = headers.get("x-should-retry")
    return said == "true" if said in ("true", "false") else status in _TRANSIENT or status >= 500


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that an endpoint asks to wait (`Retry-After-Ms`, `Retry-After` in seconds
    or as a date), or None.
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        seconds = _number(headers.get(name, "")) / unit
        if seconds >= 0:
            return seconds
    try:
        return max(
            email_utils.parsedate_to_datetime(headers.get("retry-after", "")).timestamp()
            - time.time(),
            0.0,
        )
    except (ValueError, TypeError, OverflowError):
        return None


def _number(text: str) -> float:
    """Read a number that is finite and not negative; anything else is -1."""
    plain = text.strip()
    return (
        float(plain)
        if plain.replace(".", "", 1).isdecimal() and plain.isascii() and len(plain) < 20
        else -1.0
    )
