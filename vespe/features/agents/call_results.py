"""What became of a model's call: its Outcome, how long it took to begin and to run, and the message
that tells the model.
"""

from dataclasses import field
from typing import Final, Literal, TypeAlias

from vespe.adapters import result_parts, tool_errors
from vespe.adapters.streams.base import StreamEvent
from vespe.features.agents.open_calls import ModelCall
from vespe.models import Failure, JsonObject, Outcome, Tool
from vespe.records import dataclass, json_of

WAITS: Final = "waits"
"""What is known of a call that was left without a result."""
Known: TypeAlias = Outcome | Literal["waits"] | None
"""What a recording knows of a call: what became of it, that it waits, or nothing."""
ENDED: Final = (
    "interrupted: the call was ended before it finished; it is not run again automatically"
)
_UNKNOWN: Final = (
    "interrupted: the call started in an earlier session, "
    "and its outcome is unknown; it is not run again automatically"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """One call and its Outcome; `ran` is false where the tool was not even begun.

    `timing` has `wait_ms`, from the arrival of the call's last byte to the tool's start (absent
    where it did not start, or the call came from a file), and `duration_ms`, the tool's own time.
    `shown` is what the model is told where the outcome is too large for it, None elsewhere. `inner`
    are the calls that a program made.
    """

    call: ModelCall
    outcome: Outcome
    ran: bool = False
    timing: JsonObject = field(default_factory=dict)
    shown: Outcome | None = None
    inner: "tuple[CallResult, ...]" = ()

    @property
    def told(self) -> Outcome:
        """The outcome as the model is told of it."""
        return self.shown or self.outcome

    @property
    def message(self) -> JsonObject:
        """The tool message in the inner format, the same however the call ran."""
        value, failed = tool_errors.outcome_of(self.told)
        message: JsonObject = {
            "role": "tool",
            "tool_call_id": self.call.call_id,
            "content": result_parts.shown(value),
        }
        return message | tool_errors.field_of(failed)

    def to_dict(self) -> JsonObject:
        """Return the call, what the model was told, and the Outcome, as JSON says them."""
        made = json_of(self.call, "call_id", "name", "arguments", call_id="id")
        said = {"ran": self.ran, "content": self.message["content"]}
        return made | said | json_of(self, "outcome", "timing")

    @property
    def event(self) -> StreamEvent:
        """The event that tells of it."""
        call = self.call
        return StreamEvent(
            "tool_result",
            call_id=call.call_id,
            name=call.name,
            index=call.place,
            data=self.to_dict(),
        )


def not_run(
    call: ModelCall,
    message: str,
    *,
    code: str = "not_run",
    retryable: bool = False,
    tool: Tool | None = None,
) -> CallResult:
    """Return the result of a call that is not run, with the reason in words for the model."""
    failure = Failure(code=code, message=message, retryable=retryable)
    return CallResult(
        call=call,
        outcome=Outcome(tool=call.name or None, uid=tool.uid if tool else None, error=failure),
    )


def interrupted(call: ModelCall, *, known: bool = True) -> CallResult:
    """Return the result of a call that was begun and ended before its time; `known` is false where
    nobody saw it end.
    """
    failure = Failure(code="interrupted", message=ENDED if known else _UNKNOWN)
    return CallResult(
        call=call, outcome=Outcome(tool=call.name or None, uid=None, error=failure), ran=True
    )
