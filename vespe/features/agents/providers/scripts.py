"""Scripts of the simulated provider: read from JSON or YAML, checked, and matched against requests;
no network.
"""

import functools
import os
import re
from collections.abc import Iterator, Sequence
from typing import Final

from vespe.documents import positions, safe_yaml, strict_json
from vespe.errors import Diverged, InvalidDocument
from vespe.files import atomic
from vespe.models import JsonObject, JsonValue
from vespe.records import dataclass
from vespe.schemas import validator

_SCHEMA: Final = os.path.join(os.path.dirname(__file__), "..", "data", "script.schema.json")
_SAYS: Final = ("reasoning", "text", "tool_calls")
_SHOWN: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """What to answer, turn by turn, as data/script.schema.json describes it; `path` is where it
    came from.
    """

    turns: Sequence[JsonObject]
    model: str = "simulated"
    path: str = ""


def read_script(path: str) -> Script:
    """Read a script from a file: `.json`, else YAML. Raises InvalidDocument with the line and
    pointer, and StorageError.
    """
    data = atomic.read_bytes(path)
    kind = "json" if path.endswith(".json") else "yaml"
    value = (strict_json.parse_json if kind == "json" else safe_yaml.parse_yaml)(data, path=path)
    try:
        return checked_script(value, path=path)
    except InvalidDocument as error:
        at = positions.locate(data.decode("utf-8"), [error.pointer], kind=kind)[error.pointer]
        raise InvalidDocument(
            error.reason, path=path, line=at[0], column=at[1], pointer=error.pointer
        ) from None


def checked_script(value: JsonValue, *, path: str = "") -> Script:
    """Return the script of a value; raises InvalidDocument with the pointer of the first thing that
    is wrong.
    """
    wrong = _validator().violations(value, subject="the script")
    if wrong:
        raise InvalidDocument(
            f"is not a script: {wrong[0].message}", path=path, pointer=wrong[0].pointer
        )
    for index, turn in enumerate(value["turns"]):
        _check_pattern(turn, index, path)
    return Script(turns=value["turns"], model=value.get("model", "simulated"), path=path)


def says_something(turn: JsonObject) -> bool:
    """Whether a turn holds an answer, besides what it may fail with."""
    return any(key in turn for key in _SAYS) or "fail" not in turn


def check_match(turn: JsonObject, payload: JsonObject, *, number: int, path: str = "") -> None:
    """Raise Diverged where a request of OpenAI's is not what the turn's `match` wants; `number`
    counts from 1.
    """
    match = turn.get("match", {})
    messages = payload.get("messages") or [{}]
    text = text_of(messages[-1])
    offered = [str(tool.get("function", tool).get("name")) for tool in payload.get("tools", ())]
    wrong = _last_differs(match, messages[-1], text)
    if missing := [name for name in match.get("tools", ()) if name not in offered]:
        wrong = wrong or (
            "tools",
            f"offers no tool {missing[0]!r}, but {', '.join(map(repr, offered)) or 'none'}",
        )
    if wrong is not None:
        place = f" of {path}" if path else ""
        raise Diverged(
            f"turn {number}{place} does not match: the request {wrong[1]}",
            turn=number,
            pointer=f"/turns/{number - 1}/match/{wrong[0]}",
            hint="change the script's turn, or what led to this request",
        )


def text_of(message: JsonObject) -> str:
    """Return all the text of a message of OpenAI's."""
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(
            str(part["text"]) for part in content if isinstance(part, dict) and "text" in part
        )
    return content if isinstance(content, str) else ""


def _last_differs(match: JsonObject, last: JsonObject, text: str) -> tuple[str, str] | None:
    wanted = match.get("contains", [])
    missing = [
        part for part in ([wanted] if isinstance(wanted, str) else wanted) if part not in text
    ]
    shown = f"the last message is {_shown(text)}"
    if "role" in match and last.get("role") != match["role"]:
        return "role", f"ends in a message of the role {last.get('role')!r}, not {match['role']!r}"
    if "equals" in match and text != match["equals"]:
        return "equals", f"should end in {_shown(match['equals'])}; {shown}"
    if missing:
        return "contains", f"should end in a message with {_shown(missing[0])}; {shown}"
    if "pattern" in match and not re.search(match["pattern"], text):
        return "pattern", f"should end in a message like {match['pattern']!r}; {shown}"
    return None


def _check_pattern(turn: JsonObject, index: int, path: str) -> None:
    try:
        re.compile(turn.get("match", {}).get("pattern", ""))
    except re.error as error:
        raise InvalidDocument(
            f"is not a regular expression: {error}",
            path=path,
            pointer=f"/turns/{index}/match/pattern",
        ) from None


@functools.cache
def _validator() -> validator.Validator:
    schema = strict_json.read_object(_SCHEMA)
    del schema["$id"]
    return validator.compile_schema(schema, closed=False)


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")


_WORD: Final = re.compile(r"\s*\S+\s*|\s+")
_ARGUMENTS_PIECE: Final = 12


def whole(turn: JsonObject, *, number: int, model: str) -> bytes:
    """Return the body of an answer that is not streamed; `number` is the turn's, from 1, and makes
    its ids.
    """
    message: JsonObject = {"role": "assistant", "content": turn.get("text")}
    if "reasoning" in turn:
        message["reasoning_content"] = turn["reasoning"]
    if calls := _calls(turn, number):
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(turn)}
    document = _head(number, model, "chat.completion") | {
        "choices": [choice],
        "usage": _usage(turn),
    }
    return strict_json.compact_json(document).encode("utf-8")


def streamed(turn: JsonObject, *, number: int, model: str) -> Iterator[bytes]:
    """Return the events of a streamed answer: texts word by word, arguments in pieces, usage in the
    last chunk.
    """
    head = _head(number, model, "chat.completion.chunk")
    for delta in _deltas(turn, number):
        yield _event(head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    yield _event(head | {"choices": [{"index": 0, "delta": {}, "finish_reason": _finish(turn)}]})
    yield _event(head | {"choices": [], "usage": _usage(turn)})
    yield b"data: [DONE]\n\n"


def failure(fail: JsonObject) -> bytes:
    """Return the body of an error."""
    status = fail["status"]
    kind = "server_error" if status >= 500 else "invalid_request_error"
    error = {
        "message": fail.get("message", "as the script says"),
        "type": kind,
        "param": None,
        "code": fail.get("code"),
    }
    return strict_json.compact_json({"error": error}).encode("utf-8")


def _deltas(turn: JsonObject, number: int) -> Iterator[JsonObject]:
    yield {"role": "assistant", "content": "" if "text" in turn else None}
    for word in _WORD.findall(turn.get("reasoning", "")):
        yield {"reasoning_content": word}
    for word in _WORD.findall(turn.get("text", "")):
        yield {"content": word}
    for index, call in enumerate(_calls(turn, number)):
        text = call["function"]["arguments"]
        yield {
            "tool_calls": [
                {
                    "index": index,
                    **call,
                    "function": {"name": call["function"]["name"], "arguments": ""},
                }
            ]
        }
        for start in range(0, len(text), _ARGUMENTS_PIECE):
            yield {
                "tool_calls": [
                    {
                        "index": index,
                        "function": {"arguments": text[start : start + _ARGUMENTS_PIECE]},
                    }
                ]
            }


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
    return (
        given
        if "total_tokens" in given
        else given | {"total_tokens": given["prompt_tokens"] + given["completion_tokens"]}
    )


def _head(number: int, model: str, kind: str) -> JsonObject:
    return {"id": f"chatcmpl-simulated-{number}", "object": kind, "created": 0, "model": model}


def _event(chunk: JsonObject) -> bytes:
    return b"data: " + strict_json.compact_json(chunk).encode("utf-8") + b"\n\n"
