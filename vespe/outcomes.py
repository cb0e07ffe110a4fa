"""Frozen values of a call: the request, what an executor gives back, and what became of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vespe.models import JsonObject, JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request to run a tool: its name, uid or `scope/name`, and the inputs as an object or as JSON text."""

    tool: str
    arguments: JsonObject | str | bytes = field(default_factory=dict)
    timeout_s: float | None = None
    call_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """The error of an Outcome: a stable `code`, a sentence, and whether the model can mend it."""

    code: str
    message: str
    retryable: bool = False
    details: JsonObject = field(default_factory=dict)
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a call. Exactly one of `result` and `error` speaks: `error` is None where the call succeeded.

    `duration_ms` counts from the check of the input to the check of the output. `truncated` is true where the
    result was cut at the tool's cap; `output_file` then names the private file that holds the whole.
    `logs` is what the tool printed beside its result, `notes` what Vespe repaired.
    """

    tool: str | None
    uid: str | None
    result: JsonValue = None
    error: Failure | None = None
    duration_ms: float = 0.0
    truncated: bool = False
    output_file: str | None = None
    logs: str = ""
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the call succeeded."""
        return self.error is None

    def to_dict(self) -> JsonObject:
        """The JSON shape of `vespe tool run --json` (design, section 6)."""
        document: JsonObject = {"ok": self.ok}
        if self.error is None:
            document["result"] = self.result
        else:
            document["error"] = {
                "code": self.error.code,
                "message": self.error.message,
                "retryable": self.error.retryable,
                "details": self.error.details,
            }
            if self.error.hint:
                document["error"]["hint"] = self.error.hint
        document |= {"tool": self.tool, "uid": self.uid, "duration_ms": round(self.duration_ms, 3), "truncated": self.truncated}
        optional: Mapping[str, Any] = {"output_file": self.output_file, "logs": self.logs, "notes": list(self.notes)}
        document.update({key: value for key, value in optional.items() if value})
        return document


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """What an executor gives back, before the output is checked against its schema and cut: a result, logs and notes."""

    result: JsonValue = None
    logs: str = ""
    notes: tuple[str, ...] = ()
