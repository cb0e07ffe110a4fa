"""Recorded streams, ways to feed them, and the vendors' own SDKs as judges of what comes out."""

import contextlib
import json
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
from anthropic.types import RawMessageStreamEvent
from openai.lib.streaming.chat._completions import ChatCompletionStreamState
from openai.types.chat import ChatCompletionChunk

from vespe import ClaudeStreamingProcessor, GptStreamingProcessor, OllamaStreamingProcessor, StreamEvent

CASES = Path(__file__).resolve().parents[2] / "cases" / "streams"
SIZES = (1, 2, 3, 7, 64, 4096)
Processor = GptStreamingProcessor | ClaudeStreamingProcessor | OllamaStreamingProcessor
MAKE: dict[str, type[Processor]] = {
    "openai": GptStreamingProcessor,
    "anthropic": ClaudeStreamingProcessor,
    "ollama": OllamaStreamingProcessor,
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
        Recording(name=row["file"], api=row["api"], body=(CASES / row["file"]).read_bytes(), calls=row["expected_tool_calls"])
        for row in rows
    ]


def of_corpus(shared: Path) -> Iterator[Recording]:
    """Give the recordings of the shared corpus that these processors are for."""
    for line in (shared / "corpus" / "MANIFEST.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["file"].startswith("streams/") and row["api"] in MAKE:
            body = (shared / "corpus" / row["file"]).read_bytes()
            yield Recording(name=row["file"], api=row["api"], body=body, calls=row["expected_tool_calls"])


def fed(api: str, body: bytes, size: int = 0) -> tuple[Processor, list[StreamEvent]]:
    """Give a processor that was fed a body in pieces of `size` bytes (0: whole) and closed, and its events."""
    processor = MAKE[api]()
    step = size or max(len(body), 1)
    events = [event for at in range(0, len(body), step) for event in processor.feed(body[at : at + step])]
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
    """Give (name, arguments as a value) of calls: no arguments are `{}`, those that are no JSON stay text."""
    return [(call["function"]["name"], value(call["function"]["arguments"])) for call in calls]


def value(text: str) -> Any:
    """Give the JSON value of arguments, or the text where they are none."""
    with contextlib.suppress(ValueError):
        return json.loads(text) if text else {}
    return text


def openai_completion(body: bytes) -> dict[str, Any]:
    """Give what openai's SDK gathers of a body; raises whatever it raises."""
    client = openai.OpenAI(api_key="none", base_url="http://127.0.0.1:9", max_retries=0)
    state: Any = ChatCompletionStreamState()
    response = httpx2.Response(200, content=body, request=_UNSENT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # pydantic's, about what servers send and the SDK's types do not know
        for chunk in openai.Stream(cast_to=ChatCompletionChunk, response=response, client=client):
            state.handle_chunk(chunk)
    return dict(state.current_completion_snapshot.model_dump(mode="json", warnings=False, exclude_unset=True))


def anthropic_message(body: bytes) -> dict[str, Any]:
    """Give what anthropic's SDK gathers of a body; raises whatever it raises."""
    client = anthropic.Anthropic(api_key="none", base_url="http://127.0.0.1:9", max_retries=0)
    response = httpx2.Response(200, content=body, headers={"content-type": "text/event-stream"}, request=_UNSENT)
    kind: Any = RawMessageStreamEvent
    raw: Any = anthropic.Stream(cast_to=kind, response=response, client=client)
    stream: Any = anthropic.MessageStream(raw, output_format=anthropic.NOT_GIVEN)
    return dict(stream.get_final_message().model_dump(mode="json", warnings=False, exclude_unset=True))


def differences(ours: Any, theirs: Any, pointer: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Give (JSON Pointer, ours, theirs) where two messages differ; null is as good as absent, and so is what only an SDK adds."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted((ours.keys() | theirs.keys()) - set(_ADDED)):
            yield from differences(ours.get(key), theirs.get(key), f"{pointer}/{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for at, pair in enumerate(zip(ours, theirs, strict=True)):
            yield from differences(*pair, f"{pointer}/{at}")
    elif ours != theirs:
        yield pointer, ours, theirs
