"""Why a model stopped and what it used, in OpenAI's words and in Anthropic's and Ollama's."""

from typing import Any, Final

from vespe.adapters.messages import REST, detached, object_or_none
from vespe.errors import InvalidDocument
from vespe.models import JsonObject, JsonValue

_FINISH: Final = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}
_STOP: Final = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
}
_OWN: Final = (
    "cache_creation",
    "service_tier",
    "inference_geo",
    "server_tool_use",
    "speed",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens_details",
)
_INPUT: Final = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def to_finish_reason(stop_reason: str | None) -> JsonObject:
    """Return Anthropic's `stop_reason` as the fields of an OpenAI choice: `finish_reason`, and
    `native_finish_reason` beside it.

    The second is the reason itself where OpenAI has no word for it alone (`stop_sequence`,
    `pause_turn`, `model_context_window_exceeded`, one that Vespe does not know), so that it comes
    back. Null stays null.
    """
    if stop_reason is None:
        return {"finish_reason": None}
    if not isinstance(stop_reason, str):
        raise InvalidDocument(
            f"must be a string or null, not {type(stop_reason).__name__}", path="stop_reason"
        )
    finish = _FINISH.get(stop_reason, "stop")
    return {"finish_reason": finish} | (
        {} if _STOP[finish] == stop_reason else {"native_finish_reason": stop_reason}
    )


def to_stop_reason(choice: JsonObject) -> str | None:
    """Return Anthropic's `stop_reason` of an OpenAI choice; null, and a reason that nobody
    documents, is null.
    """
    choice = object_or_none(choice, "choice")
    native = choice.get("native_finish_reason")
    if (
        isinstance(native, str)
        and native
        and (native in _FINISH or choice.get("finish_reason") in _STOP)
    ):
        return native
    return _STOP.get(str(choice.get("finish_reason")))


def finish_reason_of_done(done_reason: str | None, *, calls: bool) -> str | None:
    """Return OpenAI's `finish_reason` of Ollama's `done_reason`, which is `stop` where the model
    called tools, too.
    """
    if calls and done_reason in ("stop", None):
        return "tool_calls"
    return {"stop": "stop", "length": "length", "load": "stop", "unload": "stop"}.get(
        str(done_reason)
    )


def done_reason_of(finish_reason: str | None) -> str | None:
    """Return Ollama's `done_reason` of OpenAI's `finish_reason`."""
    return None if finish_reason is None else "length" if finish_reason == "length" else "stop"


def from_anthropic_usage(usage: JsonObject | None) -> JsonObject:
    """Return OpenAI's `usage` of Anthropic's.

    Anthropic counts what its cache read and wrote apart from `input_tokens`; OpenAI's
    `prompt_tokens` count all of it, with `cached_tokens` and `cache_write_tokens` as details. What
    OpenAI has no field for stays under its own name, and what Vespe does not know under
    `anthropic`.
    """
    usage = object_or_none(usage, "usage")
    counted: dict[str, int] = {
        key: usage[key] for key in (*_INPUT, "output_tokens") if _is_count(usage.get(key))
    }
    prompt, completion = sum(counted.get(key, 0) for key in _INPUT), counted.get("output_tokens", 0)
    details = {
        name: counted[key]
        for key, name in zip(_INPUT[1:], ("cached_tokens", "cache_write_tokens"), strict=True)
        if key in counted
    }
    made: JsonObject = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }
    if details:
        made["prompt_tokens_details"] = details
    spent = usage.get("output_tokens_details")
    if (
        isinstance(spent, dict)
        and spent.keys() == {"thinking_tokens"}
        and _is_count(spent["thinking_tokens"])
    ):
        made["completion_tokens_details"] = {"reasoning_tokens": spent["thinking_tokens"]}
    taken = {*counted, *(["output_tokens_details"] if "completion_tokens_details" in made else [])}
    left = {key: detached(value, "usage") for key, value in usage.items() if key not in taken}
    unknown = {
        key: left.pop(key)
        for key in list(left)
        if key not in _OWN and key not in ("input_tokens", "output_tokens")
    }
    return made | left | ({REST: unknown} if unknown else {})


def to_anthropic_usage(usage: JsonObject | None) -> JsonObject:
    """Return Anthropic's `usage` of OpenAI's; what Anthropic has no field for is left out, but for
    its own that came along.
    """
    usage = object_or_none(usage, "usage")
    details = _details(usage, "prompt_tokens_details")
    read, written = details.get("cached_tokens"), details.get("cache_write_tokens")
    cached: dict[str, Any] = {
        key: count
        for key, count in zip(_INPUT[1:], (read, written), strict=True)
        if _is_count(count)
    }
    made: JsonObject = {
        "input_tokens": max(_count(usage.get("prompt_tokens")) - sum(cached.values()), 0)
    } | cached
    made["output_tokens"] = _count(usage.get("completion_tokens"))
    reasoning = _details(usage, "completion_tokens_details").get("reasoning_tokens")
    if _is_count(reasoning):
        made["output_tokens_details"] = {"thinking_tokens": reasoning}
    unknown = detached(usage[REST], "usage") if isinstance(usage.get(REST), dict) else {}
    return (
        unknown
        | {key: detached(usage[key], "usage") for key in _OWN if key in usage and key not in made}
        | made
    )


def from_responses_usage(usage: JsonObject | None) -> JsonObject:
    """Return chat's `usage` of the one of OpenAI's Responses; what chat has no field for stays
    under its own name.
    """
    usage = object_or_none(usage, "usage")
    prompt, completion = _count(usage.get("input_tokens")), _count(usage.get("output_tokens"))
    made: JsonObject = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": _count(usage.get("total_tokens")) or prompt + completion,
    }
    left = {
        key: detached(value, "usage")
        for key, value in usage.items()
        if key not in ("input_tokens", "output_tokens", "total_tokens")
    }
    for key, name in (("input", "prompt"), ("output", "completion")):
        if isinstance(details := left.pop(f"{key}_tokens_details", None), dict):
            made[f"{name}_tokens_details"] = details
    return made | left


def finish_reason_of_response(response: JsonObject, *, calls: bool) -> str | None:
    """Return chat's `finish_reason` of a Response, None where it does not say that it is over."""
    status = response.get("status")
    if status == "incomplete":
        details = response.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, dict) else None
        return "content_filter" if reason == "content_filter" else "length"
    return ("tool_calls" if calls else "stop") if status == "completed" else None


def from_interactions_usage(usage: JsonObject | None) -> JsonObject:
    """Return chat's `usage` of the one of Gemini's Interactions, whose outputs leave thoughts out;
    what chat has no field for stays under its own name.
    """
    usage = object_or_none(usage, "usage")
    prompt, thought = _count(usage.get("total_input_tokens")), usage.get("total_thought_tokens")
    completion = _count(usage.get("total_output_tokens")) + _count(thought)
    made: JsonObject = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": _count(usage.get("total_tokens")) or prompt + completion,
    }
    if _is_count(cached := usage.get("total_cached_tokens")):
        made["prompt_tokens_details"] = {"cached_tokens": cached}
    if _is_count(thought):
        made["completion_tokens_details"] = {"reasoning_tokens": thought}
    taken = ("input", "output", "thought", "cached")
    known = {"total_tokens", *(f"total_{name}_tokens" for name in taken)}
    return made | {
        key: detached(value, "usage") for key, value in usage.items() if key not in known
    }


def from_ollama_usage(response: JsonObject | None) -> JsonObject:
    """Return OpenAI's `usage` of the counts in Ollama's last line; absent ones are 0."""
    response = object_or_none(response, "usage")
    prompt, completion = (
        _count(response.get("prompt_eval_count")),
        _count(response.get("eval_count")),
    )
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }


def to_ollama_usage(usage: JsonObject | None) -> JsonObject:
    """Return Ollama's counts of OpenAI's `usage`."""
    counts = object_or_none(usage, "usage")
    return {
        "prompt_eval_count": _count(counts.get("prompt_tokens")),
        "eval_count": _count(counts.get("completion_tokens")),
    }


def _details(usage: JsonObject, key: str) -> JsonObject:
    return value if isinstance(value := usage.get(key), dict) else {}


def _is_count(value: JsonValue) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _count(value: JsonValue) -> int:
    return int(value) if _is_count(value) else 0
