"""One call of a batch, and what became of it."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias

from vespe.models import Call, Failure, JsonObject, JsonValue, Outcome, Tool
from vespe.records import dataclass, json_of

ItemId: TypeAlias = int | str
Run: TypeAlias = Callable[[Call], Outcome]
UNKNOWN_OUTCOME: Final = "unknown_outcome"
_MAY_PASS: Final = frozenset(("tool_error", "timed_out", "session_ended", "source_unavailable"))
"""The codes of failures that may be gone at another try; every other one would be the same
again.
"""


@dataclass(frozen=True, slots=True)
class Item:
    """One input: its id, and its arguments or why there are none."""

    id: ItemId
    arguments: JsonObject
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """What became of one input."""

    id: ItemId
    outcome: Outcome

    def to_line(self) -> JsonObject:
        """Return the line of the output: `id`, `ok`, `result` or `error`, `duration_ms`, and
        `truncated` if the result was cut.
        """
        outcome = self.outcome
        line: JsonObject = {"id": self.id, "ok": outcome.ok}
        said: JsonValue = outcome.result if outcome.error is None else error_of(outcome.error)
        line |= {
            "result" if outcome.ok else "error": said,
            "duration_ms": round(outcome.duration_ms, 3),
        }
        return (
            line | {"truncated": True, "output_file": outcome.output_file}
            if outcome.truncated
            else line
        )


def error_of(failure: Failure) -> JsonObject:
    """Return a failure as the output says it: `code`, `message`, `retryable`, and `details` if
    there are any.
    """
    said = json_of(failure, "code", "message", "retryable")
    return said | {"details": failure.details} if failure.details else said


def is_repeatable(tool: Tool) -> bool:
    """Whether a call of the tool may run twice: it says that it only reads, or that a second time
    changes nothing.
    """
    return any(tool.annotations.get(hint) is True for hint in ("readOnlyHint", "idempotentHint"))


def failed(item: Item, tool: Tool, failure: Failure) -> ItemOutcome:
    """Return the outcome of an input that was never called."""
    return ItemOutcome(item.id, Outcome(tool=tool.name, uid=tool.uid, error=failure))


def unknown(item: Item, tool: Tool) -> ItemOutcome:
    """Return the outcome of a call that was begun by a batch that was killed, of a tool that must
    not run twice.
    """
    message = (
        "the call had started and its outcome is unknown; the tool is neither read-only nor "
        "idempotent, so it is not run again"
    )
    return failed(item, tool, Failure(code=UNKNOWN_OUTCOME, message=message, retryable=False))


def run_item(
    item: Item, tool: Tool, run: Run, *, retries: int = 0, timeout_s: float | None = None
) -> ItemOutcome:
    """Call the tool with one input, again up to `retries` times if it failed in a way that may pass
    and may run twice.
    """
    if item.failure is not None:
        return failed(item, tool, item.failure)
    call = Call(tool=tool.name, arguments=item.arguments, timeout_s=timeout_s)
    outcome = run(call)
    for _ in range(retries if retries and is_repeatable(tool) else 0):
        if outcome.error is None or outcome.error.code not in _MAY_PASS:
            break
        outcome = run(call)
    return ItemOutcome(item.id, outcome)


def numbered(inputs: Iterable[JsonObject]) -> Iterator[Item]:
    """Return inputs as items that have their place, from 1, as id."""
    return (Item(number, arguments) for number, arguments in enumerate(inputs, 1))
