"""Conversations that are kept to go on with (`agent run --save`), as the pages show them: while a
run goes on too, and with the call that a program of the model's waits for.
"""

import contextlib
from collections.abc import Mapping
from typing import Final

from vespe.adapters import tool_errors
from vespe.documents import strict_json
from vespe.errors import VespeError
from vespe.features.agents import recording_file, transcripts
from vespe.features.agents.open_calls import ModelCall
from vespe.features.agents.providers.turns import text_of
from vespe.features.inspector.shown_talk import (
    RecordedConversation,
    Said,
    ShownCall,
    shown_call,
    text_in,
)
from vespe.models import Failure, JsonObject, JsonValue, Outcome

_LINES: Final = b'{"vespe_conversation":'
_KEYS: Final = (b'"messages"', b'"role"')


def begins_as_one(data: bytes) -> bool:
    """Whether a file that begins so may be a kept conversation."""
    return data.startswith(_LINES) or (data.startswith(b"{") and all(key in data for key in _KEYS))


def read(path: str) -> RecordedConversation:
    """Read a kept conversation; raises InvalidDocument and StorageError."""
    talk = transcripts.load(path)
    open_calls = {call.call_id: call for call in talk.open}
    said = []
    for at, message in enumerate(talk.messages):
        if message["role"] in ("tool", "function"):
            continue
        results = _results_behind(talk.messages, at)
        calls = tuple(
            _call(call, results, talk.programs, open_calls)
            for call in message.get("tool_calls") or ()
            if isinstance(call, dict)
        )
        thinking = message.get("reasoning_content")
        said.append(
            Said(
                role=str(message["role"]),
                text=_text(message.get("content")),
                thinking=thinking if isinstance(thinking, str) else "",
                calls=calls,
            )
        )
    return RecordedConversation(
        provider=talk.provider,
        model=talk.model,
        stop_reason="waits" if open_calls else "done",
        turns=sum(message["role"] == "assistant" for message in talk.messages),
        tools=(),
        said=tuple(said),
        is_kept=True,
    )


def _text(content: JsonValue) -> str:
    return text_of(content) if isinstance(content, str) else text_in(content)


def _results_behind(messages: list[JsonObject], at: int) -> dict[str, Outcome]:
    """Return what the calls of a message came to, by their ids."""
    found: dict[str, Outcome] = {}
    for message in messages[at + 1 :]:
        if message["role"] not in ("tool", "function"):
            break
        text = _text(message.get("content"))
        failure = Failure(code="error", message=text) if tool_errors.is_failed(message) else None
        found[str(message.get("tool_call_id"))] = Outcome(
            tool=None, uid=None, result=None if failure else text, error=failure
        )
    return found


def _call(
    call: JsonObject,
    results: Mapping[str, Outcome],
    programs: Mapping[str, JsonObject],
    open_calls: Mapping[str, ModelCall],
) -> ShownCall:
    call_id = str(call.get("id"))
    record = programs.get(call_id, {})
    calls = record.get("calls")  # a file that somebody edited may have anything there
    return shown_call(
        call,
        outcome=results.get(call_id),
        inner=[_inner(one) for one in calls if isinstance(one, dict)]
        if isinstance(calls, list)
        else [],
        waits=_waits(record.get("waits")) if call_id in open_calls else None,
    )


def _inner(entry: JsonObject) -> ShownCall:
    outcome = None
    with contextlib.suppress(TypeError, VespeError):  # a file that somebody edited
        held = entry.get("outcome")
        outcome = recording_file.outcome_of(held) if isinstance(held, dict) else None
    line = entry.get("line")
    return ShownCall(
        name=str(entry.get("tool")),
        arguments=strict_json.compact_json(entry.get("arguments")),
        outcome=outcome,
        line=line if isinstance(line, int) else None,
    )


def _waits(record: JsonValue) -> ShownCall | None:
    """Return the call that a program waits for, with why it does."""
    if not isinstance(record, dict):
        return None
    line = record.get("line")
    return ShownCall(
        name=str(record.get("tool")),
        arguments=strict_json.compact_json(record.get("arguments")),
        outcome=None,
        line=line if isinstance(line, int) else None,
        why=str(record.get("why", "")),
        is_unknown=record.get("unknown_outcome") is True,
    )
