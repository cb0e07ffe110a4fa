"""A scripted turn as OpenAI's endpoint would send it: one JSON document, or server-sent events; the same bytes each time."""

import re
from collections.abc import Iterator
from typing import Final

from vespe.documents import strict_json
from vespe.models import JsonObject

_WORD: Final = re.compile(r"\s*\S+\s*|\s+")
_ARGUMENTS_PIECE: Final = 12


def whole(turn: JsonObject, *, number: int, model: str) -> bytes:
    """Give the body of an answer that is not streamed; `number` is the turn's, from 1, and makes its ids."""
    message: JsonObject = {"role": "assistant", "content": turn.get("text")}
    if "reasoning" in turn:
        message["reasoning_content"] = turn["reasoning"]
    if calls := _calls(turn, number):
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(turn)}
    document = _head(number, model, "chat.completion") | {"choices": [choice], "usage": _usage(turn)}
    return strict_json.compact_json(document).encode("utf-8")


def streamed(turn: JsonObject, *, number: int, model: str) -> Iterator[bytes]:
    """Give the events of a streamed answer: texts word by word, arguments in pieces, usage in the last chunk."""
    head = _head(number, model, "chat.completion.chunk")
    for delta in _deltas(turn, number):
        yield _event(head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    yield _event(head | {"choices": [{"index": 0, "delta": {}, "finish_reason": _finish(turn)}]})
    yield _event(head | {"choices": [], "usage": _usage(turn)})
    yield b"data: [DONE]\n\n"


def failure(fail: JsonObject) -> bytes:
    """Give the body of an error."""
    status = fail["status"]
    kind = "server_error" if status >= 500 else "invalid_request_error"
    error = {"message": fail.get("message", "as the script says"), "type": kind, "param": None, "code": fail.get("code")}
    return strict_json.compact_json({"error": error}).encode("utf-8")


def _deltas(turn: JsonObject, number: int) -> Iterator[JsonObject]:
    yield {"role": "assistant", "content": "" if "text" in turn else None}
    for word in _WORD.findall(turn.get("reasoning", "")):
        yield {"reasoning_content": word}
    for word in _WORD.findall(turn.get("text", "")):
        yield {"content": word}
    for index, call in enumerate(_calls(turn, number)):
        text = call["function"]["arguments"]
        yield {"tool_calls": [{"index": index, **call, "function": {"name": call["function"]["name"], "arguments": ""}}]}
        for start in range(0, len(text), _ARGUMENTS_PIECE):
            yield {"tool_calls": [{"index": index, "function": {"arguments": text[start : start + _ARGUMENTS_PIECE]}}]}


def _calls(turn: JsonObject, number: int) -> list[JsonObject]:
    return [
        {
            "id": call.get("id", f"call_{number}_{place}"),
            "type": "function",
            "function": {"name": call["name"], "arguments": _arguments(call.get("arguments", {}))},
        }
        for place, call in enumerate(turn.get("tool_calls", ()), start=1)
    ]


def _arguments(given: JsonObject | str) -> str:
    return given if isinstance(given, str) else strict_json.compact_json(given)


def _finish(turn: JsonObject) -> str:
    return str(turn.get("finish_reason") or ("tool_calls" if turn.get("tool_calls") else "stop"))


def _usage(turn: JsonObject) -> JsonObject:
    given: JsonObject = {"prompt_tokens": 0, "completion_tokens": 0} | turn.get("usage", {})
    return given if "total_tokens" in given else given | {"total_tokens": given["prompt_tokens"] + given["completion_tokens"]}


def _head(number: int, model: str, kind: str) -> JsonObject:
    return {"id": f"chatcmpl-simulated-{number}", "object": kind, "created": 0, "model": model}


def _event(chunk: JsonObject) -> bytes:
    return b"data: " + strict_json.compact_json(chunk).encode("utf-8") + b"\n\n"
