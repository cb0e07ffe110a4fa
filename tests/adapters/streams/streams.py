"""Recorded streams, ways to feed them, and the vendors' own SDKs as judges of what comes out."""

import contextlib
import functools
import itertools
import json
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
from anthropic.types import RawMessageStreamEvent
from openai.lib.streaming.chat._completions import ChatCompletionStreamState
from openai.lib.streaming.responses import ResponseStreamState
from openai.types.chat import ChatCompletionChunk
from openai.types.responses import ResponseStreamEvent

from vespe import (
    ClaudeStreamingProcessor,
    GptStreamingProcessor,
    InteractionsStreamingProcessor,
    OllamaStreamingProcessor,
    ResponsesStreamingProcessor,
    StreamEvent,
)

CASES = Path(__file__).resolve().parents[2] / "cases" / "streams"
SIZES = (1, 2, 3, 7, 64, 4096)
SHORT = 4096
Processor = (
    GptStreamingProcessor
    | ClaudeStreamingProcessor
    | OllamaStreamingProcessor
    | ResponsesStreamingProcessor
    | InteractionsStreamingProcessor
)
MAKE: dict[str, type[Processor]] = {
    "openai": GptStreamingProcessor,
    "anthropic": ClaudeStreamingProcessor,
    "ollama": OllamaStreamingProcessor,
    "openai-responses": ResponsesStreamingProcessor,
    "gemini": InteractionsStreamingProcessor,
}
_ADDED = ("parsed", "parsed_arguments", "parsed_output")
_UNSENT = httpx2.Request("POST", "http://127.0.0.1:9")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One recorded body and the calls in it that independent implementations agree on."""

    name: str
    api: str
    body: bytes
    calls: Sequence[dict[str, Any]]


def kept() -> list[Recording]:
    """Give the recordings that travel with the tests."""
    rows = json.loads((CASES / "manifest.json").read_text(encoding="utf-8"))
    return [
        Recording(
            name=row["file"],
            api=row["api"],
            body=(CASES / row["file"]).read_bytes(),
            calls=row["expected_tool_calls"],
        )
        for row in rows
    ]


def of_corpus(shared: Path) -> Iterator[Recording]:
    """Give the recordings of the shared corpus that these processors are for."""
    for line in (shared / "corpus" / "MANIFEST.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        api = {"responses": "openai-responses"}.get(row.get("api"), row.get("api"))
        if row["file"].startswith("streams/") and api in MAKE:
            body = (shared / "corpus" / row["file"]).read_bytes()
            calls = row["expected_tool_calls"] if api == row.get("api") else responses_calls(body)
            yield Recording(name=row["file"], api=api, body=body, calls=calls)


def responses_calls(body: bytes) -> list[dict[str, Any]]:
    """Give the calls among the items that a body of Responses says are done, as a recording lists
    them.
    """
    events = [json.loads(line[6:]) for line in body.splitlines() if line.startswith(b"data: {")]
    items = [one["item"] for one in events if one["type"] == "response.output_item.done"]
    return [
        {
            "id": item["call_id"],
            "name": item["name"],
            "arguments": json.loads(item["arguments"] or "{}"),
        }
        for item in items
        if item["type"] == "function_call"
    ]


def fed(api: str, body: bytes, size: int = 0) -> tuple[Processor, list[StreamEvent]]:
    """Give a processor that was fed a body in pieces of `size` bytes (0: whole) and closed, and its
    events.
    """
    processor = MAKE[api]()
    step = size or max(len(body), 1)
    return _fed(processor, (body[at : at + step] for at in range(0, len(body), step)))


def fed_in_places(api: str, body: bytes) -> tuple[Processor, list[StreamEvent]]:
    """Give a processor that was fed a body cut in its `places` and closed, and its events."""
    ends = [0, *places(body), len(body)]
    return _fed(MAKE[api](), (body[start:end] for start, end in itertools.pairwise(ends)))


def places(body: bytes) -> list[int]:
    """Give where to cut a body: at every byte of a short one; of a long one at each line's end, in
    each character, at each 17th byte.
    """
    if len(body) <= SHORT:
        return list(range(1, len(body)))
    told = {
        match.start() + after
        for match in re.finditer(rb"[\r\n\x80-\xff]", body)
        for after in (0, 1)
    }
    return sorted(
        (told | set(range(1, SHORT // 4)) | set(range(0, len(body), 17))) - {0, len(body)}
    )


def _fed(processor: Processor, pieces: Iterable[bytes]) -> tuple[Processor, list[StreamEvent]]:
    events = [event for piece in pieces for event in processor.feed(piece)]
    return processor, [*events, *processor.close()]


def result(processor: Processor) -> dict[str, Any]:
    """Give all that a processor answers."""
    made: dict[str, Any] = {}
    processor.update_response(made)
    return {
        **made,
        "calls": processor.get_tool_calls(),
        "has": processor.has_tool_calls(),
        "cut": sorted(processor.cut_calls()),
        "message": processor.message(),
        "native": processor.native_message(),
        "complete": processor.complete,
    }


def values(calls: Sequence[dict[str, Any]]) -> list[tuple[str, Any]]:
    """Give (name, arguments as a value) of calls: no arguments are `{}`, those that are no JSON
    stay text.
    """
    return [(call["function"]["name"], value(call["function"]["arguments"])) for call in calls]


def value(text: str) -> Any:
    """Give the JSON value of arguments, or the text where they are none."""
    with contextlib.suppress(ValueError):
        return json.loads(text) if text else {}
    return text


# A client reads all certificates that the machine trusts when it is made, which takes longer than
# most streams.
@functools.cache
def _openai_client() -> openai.OpenAI:
    return openai.OpenAI(api_key="none", base_url="http://127.0.0.1:9", max_retries=0)


@functools.cache
def _anthropic_client() -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key="none", base_url="http://127.0.0.1:9", max_retries=0)


def openai_completion(body: bytes) -> dict[str, Any]:
    """Give what openai's SDK gathers of a body; raises whatever it raises."""
    state: Any = ChatCompletionStreamState()
    response = httpx2.Response(200, content=body, request=_UNSENT)
    with warnings.catch_warnings():
        # pydantic's, about what servers send and the SDK's types do not know
        warnings.simplefilter("ignore", UserWarning)
        for chunk in openai.Stream(
            cast_to=ChatCompletionChunk, response=response, client=_openai_client()
        ):
            state.handle_chunk(chunk)
    return dict(
        state.current_completion_snapshot.model_dump(
            mode="json", warnings=False, exclude_unset=True
        )
    )


def openai_response(body: bytes) -> dict[str, Any]:
    """Give the Response that openai's SDK gathers of a body; raises whatever it raises."""
    kind: Any = ResponseStreamEvent
    state: Any = ResponseStreamState(input_tools=openai.omit, text_format=openai.omit)
    sent = httpx2.Response(200, content=body, request=_UNSENT)
    snapshot: Any = None
    for event in openai.Stream(cast_to=kind, response=sent, client=_openai_client()):
        for told in state.handle_event(event):
            snapshot = getattr(told, "response", snapshot)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return dict(snapshot.model_dump(mode="json", warnings=False, exclude_unset=True))


def anthropic_message(body: bytes) -> dict[str, Any]:
    """Give what anthropic's SDK gathers of a body; raises whatever it raises."""
    response = httpx2.Response(
        200, content=body, headers={"content-type": "text/event-stream"}, request=_UNSENT
    )
    kind: Any = RawMessageStreamEvent
    raw: Any = anthropic.Stream(cast_to=kind, response=response, client=_anthropic_client())
    stream: Any = anthropic.MessageStream(raw, output_format=anthropic.NOT_GIVEN)
    return dict(
        stream.get_final_message().model_dump(mode="json", warnings=False, exclude_unset=True)
    )


def differences(ours: Any, theirs: Any, pointer: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Give (JSON Pointer, ours, theirs) where two messages differ; null is as good as absent, and
    so is what only an SDK adds.
    """
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted((ours.keys() | theirs.keys()) - set(_ADDED)):
            yield from differences(ours.get(key), theirs.get(key), f"{pointer}/{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for at, pair in enumerate(zip(ours, theirs, strict=True)):
            yield from differences(*pair, f"{pointer}/{at}")
    elif ours != theirs:
        yield pointer, ours, theirs
