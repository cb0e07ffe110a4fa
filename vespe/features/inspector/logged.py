"""A line of the log as the pages read it: whatever stands in the file, each field has its type."""

from datetime import datetime

from vespe.models import JsonObject, JsonValue
from vespe.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedCall:
    """One call of the log. `at` is when it ended, in seconds of the epoch, 0.0 where its line does
    not say.

    `arguments` is None where they were not kept; then `digest` stands for them. `parent` is the id
    of the program over tools that made the call.
    """

    id: str
    time: str
    at: float
    tool: str
    uid: str
    scope: str
    outcome: str
    duration_ms: float
    error: str
    arguments: JsonValue
    digest: str
    purpose: str
    parent: str

    @property
    def ok(self) -> bool:
        """Whether the call succeeded."""
        return self.outcome == "ok"


def logged(line: JsonObject) -> LoggedCall:
    """Return a line as a call; what it does not say, or says as something else, is empty."""

    def text(key: str) -> str:
        value = line.get(key)
        return value if isinstance(value, str) else ""

    duration = line.get("duration_ms")
    return LoggedCall(
        id=text("id"),
        time=text("time"),
        at=_seconds(text("time")),
        tool=text("tool"),
        uid=text("uid"),
        scope=text("scope"),
        outcome=text("outcome"),
        duration_ms=float(duration) if isinstance(duration, (int, float)) else 0.0,
        error=text("error"),
        arguments=line.get("arguments"),
        digest=text("arguments_digest")[:8],
        purpose=text("purpose"),
        parent=text("parent"),
    )


def _seconds(time: str) -> float:
    try:
        return datetime.fromisoformat(time).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0
