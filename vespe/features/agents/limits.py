"""How far a run of the agent loop may go, and how far it has gone."""

import threading
import time
from collections.abc import Mapping
from dataclasses import field
from typing import Final

from vespe.errors import UsageError
from vespe.models import JsonObject
from vespe.records import dataclass

MAX_ITERATIONS: Final = 5
MAX_CALLS: Final = 100
_COUNTED: Final = ("prompt_tokens", "completion_tokens", "total_tokens")
_WITHIN: Final = {
    "cached_tokens": "prompt_tokens_details",
    "reasoning_tokens": "completion_tokens_details",
}
"""What of these is counted apart where an answer says it, and where it stands in its usage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of one run; None means no limit.

    `max_iterations` limits the model's turns with tools; after the last one, it gets one turn
    without tools. `max_calls` limits the calls that run, and `max_calls_per_tool` those of each
    tool. `max_seconds` limits the elapsed time, including the time for questions to the user.
    `max_tokens` limits the tokens of prompts and answers, as the provider counts them. Raises
    UsageError for a limit below 1, or a time of 0.

    ```python
    from vespe import Agent, AgentOptions, Limits, SimulatedProvider, Toolset

    def next_page() -> str:
        return "page"

    script = {"turns": [{"tool_calls": [{"name": "next_page", "arguments": {}}]}] * 3}
    options = AgentOptions(limits=Limits(max_iterations=2))
    agent = Agent(SimulatedProvider(script), tools=Toolset(next_page), options=options)
    assert agent.run("Read on").stop_reason == "max_iterations"
    ```
    """

    max_iterations: int = MAX_ITERATIONS
    max_calls: int | None = MAX_CALLS
    max_seconds: float | None = None
    max_tokens: int | None = None
    max_calls_per_tool: int | None = None

    def __post_init__(self) -> None:
        for name in ("max_iterations", "max_calls", "max_tokens", "max_calls_per_tool"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"{name} is a whole number of at least 1, not {value}")
        if self.max_seconds is not None and not self.max_seconds > 0:
            raise UsageError(f"max_seconds is a number of seconds above 0, not {self.max_seconds}")


@dataclass(slots=True)
class Spent:
    """What a run has used so far: turns of the model, calls that ran, and tokens as the provider
    counts them, those from a cache and of reasoning too where it tells them.
    """

    iterations: int = 0
    calls: int = 0
    usage: JsonObject = field(default_factory=lambda: dict.fromkeys(_COUNTED, 0))

    def add_usage(self, usage: Mapping[str, object] | None) -> None:
        """Add one answer's usage, in OpenAI's shape; a total that is not said is the sum of its
        parts.
        """
        counts = {
            key: value for key in _COUNTED if (value := _count((usage or {}).get(key))) is not None
        }
        counts.setdefault(
            "total_tokens", counts.get("prompt_tokens", 0) + counts.get("completion_tokens", 0)
        )
        for key, place in _WITHIN.items():
            details = (usage or {}).get(place)
            if isinstance(details, dict) and (count := _count(details.get(key))) is not None:
                counts[key] = count
        for key, value in counts.items():
            self.usage[key] = self.usage.get(key, 0) + value

    def over(self, limits: Limits) -> str:
        """Return the name of the limit that ends the run at once, `max_tokens`, or ""."""
        return (
            "max_tokens"
            if limits.max_tokens is not None and self.usage["total_tokens"] >= limits.max_tokens
            else ""
        )

    def over_calls(self, limits: Limits) -> str:
        """Return `max_calls` where no further call may run, or ""."""
        return (
            "max_calls" if limits.max_calls is not None and self.calls >= limits.max_calls else ""
        )


@dataclass(slots=True)
class Quota:
    """How many calls of each tool may run; None means unbounded."""

    most: int | None = None
    taken: dict[str, int] = field(default_factory=dict)

    def why_not(self, name: str) -> str:
        """Say in words for the model why no further call of a tool may run, or ""."""
        if self.most is None or self.taken.get(name, 0) < self.most:
            return ""
        calls = f"{self.most} call{'' if self.most == 1 else 's'}"
        return f"not run: the limit of {calls} of {name!r} is reached"

    def take(self, name: str) -> None:
        """Count a call of a tool that is about to run."""
        self.taken[name] = self.taken.get(name, 0) + 1


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


_SLICE_S: Final = 0.05


class Stop(threading.Event):
    """Set once it is set itself, its `outer` event is, or `seconds` from its making have passed.

    Whoever takes a `threading.Event` to be cancelled by can be given one of these.
    """

    def __init__(
        self, outer: threading.Event | None = None, *, seconds: float | None = None
    ) -> None:
        super().__init__()
        self._outer = outer
        self._deadline = None if seconds is None else time.monotonic() + seconds

    @property
    def reason(self) -> str:
        """Why to stop: `cancelled`, `max_seconds`, or "" where nothing says so."""
        if super().is_set() or (self._outer is not None and self._outer.is_set()):
            return "cancelled"
        return (
            "max_seconds"
            if self._deadline is not None and time.monotonic() >= self._deadline
            else ""
        )

    def is_set(self) -> bool:
        """Whether anything says stop."""
        return bool(self.reason)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until something says stop, at most `timeout` seconds; gives whether it does."""
        until = None if timeout is None else time.monotonic() + timeout
        while not self.is_set():
            left = _SLICE_S if until is None else min(_SLICE_S, until - time.monotonic())
            if left <= 0:
                return False
            super().wait(left)
        return True
