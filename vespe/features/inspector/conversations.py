"""Conversations, found and read: recordings, and those that are kept to go on with."""

import os
from collections.abc import Iterator, Sequence
from typing import Final

from vespe.documents import strict_json
from vespe.errors import NotFound, VespeError
from vespe.features.agents import recording_file
from vespe.features.agents.providers.turns import text_of
from vespe.features.agents.recordings import ReplayProvider
from vespe.features.inspector import kept_conversations
from vespe.features.inspector.shown_talk import (
    RecordedConversation,
    Said,
    ShownCall,
    shown_call,
    text_in,
)
from vespe.models import JsonObject, JsonValue, Outcome
from vespe.records import dataclass

_MOST: Final = 400
"""Files that are looked at for being conversations."""
_BEGINS: Final = b'"provider"'
_PEEK: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A file that begins as a recording does, or as a conversation that `is_kept` to go on with;
    `name` is what the pages call it.
    """

    name: str
    path: str
    size: int
    changed: float
    is_kept: bool = False


def found(root: str, named: Sequence[str]) -> list[Found]:
    """Return the conversations that were named, then those in the project's directory and in the
    directories directly in it.
    """
    known = {
        os.path.realpath(path): _file(
            path, os.path.relpath(path, root), is_kept=_kind(os.path.realpath(path)) == "kept"
        )
        for path in named
    }
    for path in _near(root):
        if path not in known and (kind := _kind(path)):
            known[path] = _file(path, os.path.relpath(path, root), is_kept=kind == "kept")
    return [file for file in known.values() if file is not None]


def file_of(root: str, named: Sequence[str], name: str) -> Found:
    """Return the conversation that the pages call so; only what `found` returns is ever opened.
    Raises NotFound.
    """
    for file in found(root, named):
        if file.name == name:
            return file
    raise NotFound(
        f"there is no conversation {name} here",
        hint="`vespe agent run PROMPT --record FILE` records one, and `--save FILE` saves one",
    )


def read(path: str) -> RecordedConversation:
    """Read a conversation; raises InvalidDocument and StorageError."""
    is_kept = _kind(os.path.realpath(path)) == "kept"
    return kept_conversations.read(path) if is_kept else _recording(path)


def _recording(path: str) -> RecordedConversation:
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
    call_id = str(call.get("id"))
    inner = [
        ShownCall(
            name=str(made["name"]),
            arguments=strict_json.compact_json(made["arguments"]),
            outcome=outcome,
        )
        for _, made, outcome in provider.recorded_program(call_id)
    ]
    return shown_call(call, outcome=outcomes.get(call_id), inner=inner)


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


def _kind(path: str) -> str:
    """Return `recording` or `kept` as a file begins, "" for another one."""
    try:
        with open(
            os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb"
        ) as file:
            begins = file.read(_PEEK)
    except OSError:
        return ""
    if (
        begins.startswith(b"{")
        and b'"version"' in begins
        and _BEGINS in begins
        and b'"api"' in begins
    ):
        return "recording"
    return "kept" if kept_conversations.begins_as_one(begins) else ""


def _file(path: str, name: str, *, is_kept: bool) -> Found | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return Found(
        name=name, path=path, size=status.st_size, changed=status.st_mtime, is_kept=is_kept
    )
