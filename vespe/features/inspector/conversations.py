"""Recordings of conversations, found and read: what was said, which calls came of it, and what
became of each.
"""

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import Final

from vespe.documents import strict_json
from vespe.errors import NotFound, VespeError
from vespe.features.agents import recording_file
from vespe.features.agents.providers.turns import text_of
from vespe.features.agents.recordings import ReplayProvider
from vespe.models import JsonObject, JsonValue, Outcome
from vespe.records import dataclass

_MOST: Final = 400
"""Files that are looked at for being recordings."""
_BEGINS: Final = b'"provider"'
_PEEK: Final = 200
_SHORT: Final = 90
"""Arguments that stand on one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A file that begins as a recording does; `name` is what the pages call it."""

    name: str
    path: str
    size: int
    changed: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCall:
    """A model's call: `arguments` is JSON over several lines, or the text as it came where it is
    none; of a program it is its code, and `inner` are the calls that it made.
    """

    name: str
    arguments: str
    outcome: Outcome | None
    inner: "tuple[ShownCall, ...]" = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One thing that was said: by whom (`system`, `user`, `assistant`, `error`), the text, and the
    calls that came with it.
    """

    role: str
    text: str
    thinking: str = ""
    calls: tuple[ShownCall, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedConversation:
    """A recording, read."""

    provider: str
    model: str
    stop_reason: str
    turns: int
    tools: tuple[str, ...]
    said: tuple[Said, ...]


def found(root: str, named: Sequence[str]) -> list[Found]:
    """Return the recordings that were named, then those in the project's directory and in the
    directories directly in it.
    """
    known = {os.path.realpath(path): _file(path, os.path.relpath(path, root)) for path in named}
    for path in _near(root):
        if path not in known and _begins_as_one(path):
            known[path] = _file(path, os.path.relpath(path, root))
    return [file for file in known.values() if file is not None]


def file_of(root: str, named: Sequence[str], name: str) -> Found:
    """Return the recording that the pages call so; only what `found` returns is ever opened. Raises
    NotFound.
    """
    for file in found(root, named):
        if file.name == name:
            return file
    raise NotFound(
        f"there is no recording {name} here",
        hint="`vespe agent run PROMPT --record FILE` makes one",
    )


def read(path: str) -> RecordedConversation:
    """Read a recording; raises InvalidDocument and StorageError."""
    document, provider = recording_file.read_recording(path), ReplayProvider(path)
    outcomes = {
        item["call_id"]: recording_file.outcome_of(item["outcome"]) for item in document["outcomes"]
    }
    said: list[Said] = []
    known = 0
    for turn in document["turns"]:
        request = turn["request"]
        said += [*_system(request)] if not said else []
        said += [told for message in request["messages"][known:] for told in _of_a_person(message)]
        known = len(request["messages"])
        said.append(_answered(provider, request, outcomes))
    requests = [turn["request"] for turn in document["turns"]]
    return RecordedConversation(
        provider=provider.name,
        model=provider.model,
        stop_reason=provider.stop_reason,
        turns=len(requests),
        tools=tuple(dict.fromkeys(name for request in requests for name in tool_names(request))),
        said=tuple(said),
    )


def tool_names(request: JsonObject) -> list[str]:
    """Return the names of the tools that a request shows, in any API's shape."""
    tools = request.get("tools")
    return [
        name for tool in (tools if isinstance(tools, list) else []) if (name := tool_name(tool))
    ]


def tool_name(definition: JsonValue) -> str:
    """Return the name of a definition in any API's shape; "" where it has none."""
    if not isinstance(definition, dict):
        return ""
    inner = definition.get("function")
    name = definition.get("name") or (inner.get("name") if isinstance(inner, dict) else "")
    return name if isinstance(name, str) else ""


def text_in(content: JsonValue) -> str:
    """Return what a message says, in any API's shape; parts that are no text are named."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(
        part if isinstance(part, str) else str(part.get("text") or f"[{part.get('type')}]")
        for part in parts
        if _says(part)
    )


def _says(part: JsonValue) -> bool:
    return isinstance(part, (dict, str))


def is_result(message: JsonValue) -> bool:
    """Whether a message only tells a model what became of its calls."""
    if not isinstance(message, dict) or message.get("role") in ("tool", "function"):
        return True
    parts = message.get("content")
    return isinstance(parts, list) and any(
        isinstance(part, dict) and part.get("type") == "tool_result" for part in parts
    )


def _of_a_person(message: JsonValue) -> Iterator[Said]:
    """Yield what a message of a request says; the model's own and the results of calls stand in the
    answers already.
    """
    if isinstance(message, dict) and message.get("role") != "assistant" and not is_result(message):
        yield Said(role=str(message.get("role")), text=text_in(message.get("content")))


def _system(request: JsonObject) -> Iterator[Said]:
    if request.get("system"):
        yield Said(role="system", text=text_in(request["system"]))


def _answered(provider: ReplayProvider, request: JsonObject, outcomes: dict[str, Outcome]) -> Said:
    """Read the next answer as a replay does."""
    provider.payload = lambda *_, **__: request
    try:
        answer = provider.respond((), on_event=None)
    except VespeError as error:
        return Said(role="error", text=str(error))
    message = answer.message
    calls = tuple(
        _call(call, outcomes, provider)
        for call in message.get("tool_calls") or ()
        if isinstance(call, dict)
    )
    thinking = message.get("reasoning_content")
    return Said(
        role="assistant",
        text=text_of(message.get("content")),
        thinking=thinking if isinstance(thinking, str) else "",
        calls=calls,
        note=_usage(answer.usage),
    )


def _call(call: JsonObject, outcomes: dict[str, Outcome], provider: ReplayProvider) -> ShownCall:
    function = call.get("function") or call.get("custom") or {}
    arguments = str(function.get("arguments") or function.get("input") or "")
    with contextlib.suppress(VespeError):
        value = strict_json.parse_json(arguments)
        line = strict_json.compact_json(value)
        arguments = line if len(line) <= _SHORT else strict_json.dump_json(value).rstrip("\n")
        if function.get("name") == "run_code" and isinstance(value, dict):
            arguments = str(value.get("code", arguments))
    return ShownCall(
        name=str(function.get("name")),
        arguments=arguments,
        outcome=outcomes.get(str(call.get("id"))),
        inner=tuple(
            ShownCall(
                name=str(made["name"]),
                arguments=strict_json.compact_json(made["arguments"]),
                outcome=outcome,
            )
            for _, made, outcome in provider.recorded_program(str(call.get("id")))
        ),
    )


def _usage(usage: JsonObject | None) -> str:
    counts = usage or {}
    given, got = counts.get("prompt_tokens"), counts.get("completion_tokens")
    return (
        f"{given:,} tokens in, {got:,} out"
        if isinstance(given, int) and isinstance(got, int) and given
        else ""
    )


def _near(root: str) -> Iterator[str]:
    looked = 0
    directories = [root]
    for level in range(2):
        deeper = []
        for directory in directories:
            try:
                entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
            except OSError:
                continue
            for entry in entries:
                if (
                    level == 0
                    and entry.is_dir(follow_symlinks=False)
                    and not entry.name.startswith(".")
                ):
                    deeper.append(entry.path)
                if (
                    entry.name.endswith(".json")
                    and entry.is_file(follow_symlinks=False)
                    and looked < _MOST
                ):
                    looked += 1
                    yield entry.path
        directories = deeper


def _begins_as_one(path: str) -> bool:
    try:
        with open(
            os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb"
        ) as file:
            begins = file.read(_PEEK)
    except OSError:
        return False
    return (
        begins.startswith(b"{")
        and b'"version"' in begins
        and _BEGINS in begins
        and b'"api"' in begins
    )


def _file(path: str, name: str) -> Found | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return Found(name=name, path=path, size=status.st_size, changed=status.st_mtime)
