"""What became of a call, as an Outcome: in JSON's words, checked, bounded, and free of secrets."""

import json
import time
from dataclasses import replace
from typing import Any, Final, cast

from vespe import defaults, errors
from vespe.calls import log as call_log
from vespe.calls.secrets import redact
from vespe.documents import strict_json
from vespe.documents.strict_json import text_encoder
from vespe.models import Execution, Failure, JsonValue, Outcome, Tool
from vespe.schemas import validator as schema_validator
from vespe.schemas.explain import messages_of

_NOTHING: Final = Execution()
_SAID: Final = text_encoder(json.JSONEncoder(ensure_ascii=False, allow_nan=False))


def finished(
    tool: Tool,
    result: JsonValue,
    *,
    secrets: tuple[str, ...],
    started: float,
    beside: Execution = _NOTHING,
) -> Outcome:
    """Return the Outcome of a call that came to its end: held to the output schema, free of
    secrets, and cut at the tool's limit.

    Raises InvalidOutput. `started` is when the call began, as `time.perf_counter` says it; `beside`
    has the logs and notes.
    """
    result, notes, text = _sayable(result, beside.notes)
    if tool.output_schema is not None:
        violations = schema_validator.compile_schema(tool.output_schema, closed=False).violations(
            result, subject="the result"
        )
        if violations:
            listed = messages_of(violations)
            details = {"violations": [one.to_json() for one in violations]}
            raise errors.InvalidOutput(
                f"the result of {tool.name!r} breaks its output schema: {listed}", details=details
            )
    if secrets:
        result, text = redact(result, secrets), ""
    logs = _redacted_text(beside.logs, secrets) if secrets else beside.logs
    outcome = _outcome(tool, result, (time.perf_counter() - started) * 1000, logs, notes)
    cap = tool.max_output_bytes or defaults.MAX_OUTPUT_BYTES
    return outcome if text and len(text) * 4 <= cap else _cut(outcome, cap)


class _Made:
    """An Outcome while its fields are set, which takes less than half of the time of its
    constructor: one is made for each call, of which there may be 70,000 a second.
    """

    __slots__ = Outcome.__slots__


def _outcome(
    tool: Tool, result: JsonValue, duration_ms: float, logs: str, notes: tuple[str, ...]
) -> Outcome:
    made: Any = _Made()
    made.tool, made.uid, made.result, made.error = tool.name, tool.uid, result, None
    made.duration_ms, made.logs, made.notes = duration_ms, logs, notes
    made.truncated, made.output_file, made.sandbox = False, None, None
    made.__class__ = Outcome
    return cast(Outcome, made)


def as_told(tool: Tool, outcome: Outcome) -> Outcome:
    """Return an Outcome that another runner than a call path made as a call path would: in JSON's
    words, cut at the tool's limit.

    Raises InvalidOutput for a result that JSON cannot say.
    """
    if outcome.error is not None or outcome.truncated:
        return outcome
    result, notes, _ = _sayable(outcome.result, outcome.notes)
    return _cut(
        replace(outcome, result=result, notes=notes),
        tool.max_output_bytes or defaults.MAX_OUTPUT_BYTES,
    )


def _sayable(result: JsonValue, notes: tuple[str, ...]) -> tuple[JsonValue, tuple[str, ...], str]:
    """Make sure that JSON can say the result, whoever made it, and give its text; a lone surrogate
    is repaired, and noted.
    """
    try:
        text = _SAID(result)
    except (TypeError, ValueError, RecursionError) as error:
        raise errors.InvalidOutput(f"the result cannot be represented in JSON: {error}") from None
    if text.isascii():
        return result, notes, text
    repaired = strict_json.repair_surrogates(text)
    if repaired == text:
        return result, notes, text
    return json.loads(repaired), (*notes, "lone surrogates in the result became U+FFFD"), repaired


def _cut(outcome: Outcome, cap: int) -> Outcome:
    result = outcome.result
    if isinstance(result, str) and len(result) * 4 <= cap:
        return outcome
    whole = (result if isinstance(result, str) else strict_json.compact_json(result)).encode(
        "utf-8"
    )
    if len(whole) <= cap:
        return outcome
    kept, note = _kept(whole)
    head, tail = whole[: (cap + 1) // 2], whole[len(whole) - cap // 2 :]
    marker = (
        f"\n[… cut by vespe: {len(whole) - len(head) - len(tail)} of "
        f"{len(whole)} bytes left out …]\n"
    )
    shown = head.decode("utf-8", "ignore") + marker + tail.decode("utf-8", "ignore")
    return replace(
        outcome, result=shown, truncated=True, output_file=kept, notes=outcome.notes + note
    )


def _kept(whole: bytes) -> tuple[str | None, tuple[str, ...]]:
    try:
        return call_log.keep_output(whole), ()
    except errors.StorageError as error:
        return None, (f"the whole output could not be kept: {error}",)


def refused(tool: Tool, error: errors.VespeError) -> Outcome:
    """Return the Outcome of a call that was refused before it could be made."""
    return failed(tool, error)


def failed(
    tool: Tool,
    error: errors.VespeError,
    *,
    secrets: tuple[str, ...] = (),
    started: float | None = None,
) -> Outcome:
    """Return the Outcome of a call that failed, free of secrets."""
    details: Any = redact(error.details, secrets)
    failure = Failure(
        code=error.code,
        message=_redacted_text(strict_json.repair_surrogates(str(error)), secrets),
        retryable=error.retryable,
        details=details,
        hint=_redacted_text(error.hint, secrets),
    )
    duration_ms = 0.0 if started is None else (time.perf_counter() - started) * 1000
    outcome = Outcome(tool=tool.name, uid=tool.uid, error=failure, duration_ms=duration_ms)
    if isinstance(error, errors.OutputTooLarge) and error.kept:
        kept, notes = _kept(_without_secrets(error.kept, secrets))
        return replace(outcome, truncated=True, output_file=kept, notes=notes)
    return outcome


def _without_secrets(kept: bytes, secrets: tuple[str, ...]) -> bytes:
    """Redact what was kept of a flood, then leave out its end: that may be the beginning of a
    secret in its longest form.
    """
    if not secrets:
        return kept
    margin = 3 * max(len(secret.encode("utf-8", "surrogateescape")) for secret in secrets)
    return _redacted_text(kept.decode("utf-8", "replace"), secrets).encode("utf-8", "replace")[
        :-margin
    ]


def _redacted_text(text: str, secrets: tuple[str, ...]) -> str:
    return str(redact(text, secrets))
