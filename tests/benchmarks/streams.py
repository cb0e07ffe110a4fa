"""Gather 20 MB of streamed tool calls:
`python tests/benchmarks/streams.py [--megabytes 20] [--json]`.

Prints MB/s, the best of five in processor time, of Vespe's processors (in pieces of 64 KB, as they
come from a socket, and of 1 KB), of a bare loop over lines with `json.loads` that puts the
arguments together, and of openai's SDK where it is installed: its decoder alone, its stream of
chunks, and its accumulator. The last two take a part of the stream, since they are slow. Ratios are
to the bare loop of the same run and the same stream. `last call` is the time from the last byte of
a call to its arguments being there, in µs.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.benchmarks.axes import Axis, compared
from vespe import (
    ClaudeStreamingProcessor,
    GptStreamingProcessor,
    InteractionsStreamingProcessor,
    OllamaStreamingProcessor,
    ResponsesStreamingProcessor,
)

CALL = json.dumps(
    {
        "path": "src/module.py",
        "pattern": "def .*",
        "limit": 20,
        "text": "the second half reads what the first wrote, ✓ " * 12,
    }
)
HEAD = {
    "id": "chatcmpl-DpE2mDqa8c3VnbFTjQq3Zzgm5Bx2X",
    "object": "chat.completion.chunk",
    "created": 1764000000,
    "model": "gpt-4.1-mini-2025-04-14",
    "service_tier": "default",
    "system_fingerprint": "fp_1a2b3c4d5e",
}
PARTIAL = 2_000_000


def fragments(text: str, size: int = 5) -> Iterator[str]:
    """Give a text as a model's tokens would cut it."""
    return (text[at : at + size] for at in range(0, len(text), size))


def framed(document: dict[str, Any], event: str = "") -> bytes:
    """Give one event of a stream."""
    name = f"event: {event}\n" if event else ""
    return f"{name}data: {json.dumps(document, separators=(',', ':'))}\n\n".encode()


def openai_stream(size: int) -> bytes:
    """Give about `size` bytes of a stream that calls one tool after the other."""
    made: list[bytes] = []
    length = index = 0
    while length < size:
        whole = [
            {
                "index": index,
                "id": f"call_{index}",
                "type": "function",
                "function": {"name": "search_text", "arguments": ""},
            }
        ]
        calls = [whole] + [
            [{"index": index, "function": {"arguments": piece}}] for piece in fragments(CALL)
        ]
        for given in calls:
            choice = {
                "index": 0,
                "delta": {"tool_calls": given},
                "logprobs": None,
                "finish_reason": None,
            }
            made.append(framed({**HEAD, "choices": [choice], "usage": None}))
            length += len(made[-1])
        index += 1
    end = {"index": 0, "delta": {}, "logprobs": None, "finish_reason": "tool_calls"}
    return b"".join([*made, framed({**HEAD, "choices": [end], "usage": None}), b"data: [DONE]\n\n"])


def anthropic_stream(size: int) -> bytes:
    """Give about `size` bytes of a stream of Anthropic's with the same calls."""
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": [],
        "usage": {"input_tokens": 1},
    }
    made = [framed({"type": "message_start", "message": message}, "message_start")]
    length = index = 0
    while length < size:
        block = {"type": "tool_use", "id": f"toolu_{index}", "name": "search_text", "input": {}}
        events: list[tuple[str, dict[str, Any]]] = [
            ("content_block_start", {"content_block": block})
        ]
        events += [
            ("content_block_delta", {"delta": {"type": "input_json_delta", "partial_json": p}})
            for p in fragments(CALL)
        ]
        for kind, rest in [*events, ("content_block_stop", {})]:
            made.append(framed({"type": kind, "index": index, **rest}, kind))
            length += len(made[-1])
        index += 1
    end = {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use"},
        "usage": {"output_tokens": 9},
    }
    return b"".join(
        [*made, framed(end, "message_delta"), framed({"type": "message_stop"}, "message_stop")]
    )


def ollama_stream(size: int) -> bytes:
    """Give about `size` bytes of Ollama's lines: tokens, and calls, which come whole."""
    call = {"function": {"name": "search_text", "arguments": json.loads(CALL)}}
    head = {"model": "qwen3:4b", "created_at": "2026-01-01T00:00:00.000000000Z"}
    said = {"role": "assistant", "content": ""}
    tokens = [
        {**head, "message": {**said, "content": piece}, "done": False} for piece in fragments(CALL)
    ]
    lines = [*tokens, {**head, "message": {**said, "tool_calls": [call]}, "done": False}]
    turn = "".join(json.dumps(line) + "\n" for line in lines).encode()
    last = {**head, "message": said, "done": True, "done_reason": "stop", "eval_count": 1}
    return turn * (size // len(turn) + 1) + json.dumps(last).encode() + b"\n"


def responses_stream(size: int) -> bytes:
    """Give about `size` bytes of a stream of OpenAI's Responses with the same calls."""
    made = [framed({"type": "response.created", "response": {"id": "r", "status": "in_progress"}})]
    length = index = 0
    while length < size:
        item = {"type": "function_call", "id": f"fc_{index}", "call_id": f"call_{index}"}
        item |= {"name": "search_text", "arguments": ""}
        place = {"output_index": index, "item_id": f"fc_{index}", "sequence_number": length}
        delta = {"type": "response.function_call_arguments.delta", **place}
        events = [{"type": "response.output_item.added", **place, "item": item}]
        events += [delta | {"delta": piece} for piece in fragments(CALL)]
        whole = item | {"arguments": CALL, "status": "completed"}
        events.append({"type": "response.output_item.done", **place, "item": whole})
        made += [framed(event, str(event["type"])) for event in events]
        length += sum(map(len, made[-len(events) :]))
        index += 1
    end = {"type": "response.completed", "response": {"id": "r", "status": "completed"}}
    return b"".join([*made, framed(end, "response.completed")])


def interactions_stream(size: int) -> bytes:
    """Give about `size` bytes of a stream of Gemini's Interactions with the same calls."""
    made: list[bytes] = []
    length = index = 0
    while length < size:
        step = {"type": "function_call", "id": f"call_{index}", "name": "search_text"}
        events: list[dict[str, Any]] = [{"event_type": "step.start", "index": index, "step": step}]
        events += [
            {"event_type": "step.delta", "index": index}
            | {"delta": {"type": "arguments_delta", "arguments": piece}}
            for piece in fragments(CALL)
        ]
        events.append({"event_type": "step.stop", "index": index})
        made += [framed(event, event["event_type"]) for event in events]
        length += sum(map(len, made[-len(events) :]))
        index += 1
    end = {"event_type": "interaction.completed", "interaction": {"status": "requires_action"}}
    return b"".join([*made, framed(end, "interaction.completed")])


def bare_responses(data: bytes) -> list[str]:
    """The same of a stream of Responses."""
    calls: dict[int, list[str]] = {}
    for line in data.split(b"\n"):
        if line.startswith(b"data: "):
            event = json.loads(line[6:])
            if event["type"] == "response.function_call_arguments.delta":
                calls.setdefault(event["output_index"], []).append(event["delta"])
    return ["".join(parts) for parts in calls.values()]


def bare_interactions(data: bytes) -> list[str]:
    """The same of a stream of Interactions."""
    calls: dict[int, list[str]] = {}
    for line in data.split(b"\n"):
        if line.startswith(b"data: "):
            event = json.loads(line[6:])
            if event["event_type"] == "step.delta":
                calls.setdefault(event["index"], []).append(event["delta"]["arguments"])
    return ["".join(parts) for parts in calls.values()]


def bare_loop(data: bytes) -> list[str]:
    """Put the arguments together as anybody would, with nothing that a real stream asks for."""
    calls: dict[int, list[str]] = {}
    for line in data.split(b"\n"):
        if line.startswith(b"data: ") and line != b"data: [DONE]":
            for choice in json.loads(line[6:])["choices"]:
                for call in choice["delta"].get("tool_calls") or ():
                    calls.setdefault(call["index"], []).append(call["function"]["arguments"])
    return ["".join(parts) for parts in calls.values()]


def bare_anthropic(data: bytes) -> list[str]:
    """The same of Anthropic's stream."""
    calls: dict[int, list[str]] = {}
    for line in data.split(b"\n"):
        if line.startswith(b"data: "):
            event = json.loads(line[6:])
            if event["type"] == "content_block_delta":
                calls.setdefault(event["index"], []).append(event["delta"]["partial_json"])
    return ["".join(parts) for parts in calls.values()]


def bare_ollama(data: bytes) -> list[dict[str, Any]]:
    """The same of Ollama's, with the text."""
    messages = [json.loads(line)["message"] for line in data.split(b"\n") if line]
    assert "".join(message["content"] for message in messages)
    return [call for message in messages for call in message.get("tool_calls", ())]


def gathered(make: Callable[[], Any], piece: int) -> Callable[[bytes], list[str]]:
    """Give the work of a processor that is fed pieces of so many bytes, and whose events somebody
    looks at.
    """

    def work(data: bytes) -> list[str]:
        processor = make()
        told = 0
        for at in range(0, len(data), piece):
            for event in processor.feed(data[at : at + piece]):
                told += event.type == "tool_arguments"
        processor.close()
        assert processor.complete and told
        return [call["function"]["arguments"] for call in processor.get_tool_calls()]

    return work


def openai_work() -> dict[str, tuple[int, Callable[[bytes], Any]]]:
    """Give the SDK's own ways by name, each with the bytes that it is given; {} where it is not
    installed.
    """
    try:
        import httpx2
        import openai
        from openai._streaming import SSEDecoder
        from openai.lib.streaming.chat._completions import ChatCompletionStreamState
        from openai.types.chat import ChatCompletionChunk
    except ImportError:
        return {}
    client = openai.OpenAI(api_key="none", base_url="http://127.0.0.1:9")

    def decoder(data: bytes) -> int:
        return sum(1 for _ in SSEDecoder().iter_bytes(iter([data])))

    def chunks(data: bytes) -> Iterator[Any]:
        response = httpx2.Response(
            200, content=data, request=httpx2.Request("POST", "http://127.0.0.1:9")
        )
        yield from openai.Stream(cast_to=ChatCompletionChunk, response=response, client=client)

    def accumulator(data: bytes) -> list[str]:
        state: Any = ChatCompletionStreamState()
        for chunk in chunks(data):
            state.handle_chunk(chunk)
        calls = state.get_final_completion().choices[0].message.tool_calls
        return [call.function.arguments for call in calls]

    return {
        "openai: decoder alone": (sys.maxsize, decoder),
        "openai: chunks": (PARTIAL, lambda data: sum(1 for _ in chunks(data))),
        "openai: accumulator": (PARTIAL // 10, accumulator),
    }


def best(work: Callable[[bytes], Any], data: bytes, rounds: int = 5) -> float:
    """Give MB/s by the least of the rounds' processor times."""
    times = []
    for _ in range(rounds):
        started = time.process_time()
        work(data)
        times.append(time.process_time() - started)
    return len(data) / 1e6 / min(times)


def last_call(data: bytes) -> float:
    """Give the µs between the last byte of a call's arguments and the arguments being there, of a
    stream of one call.
    """
    processor = GptStreamingProcessor()
    end = data.rindex(b'"finish_reason":"tool_calls"')
    end = data.index(b"\n\n", end) + 2
    processor.feed(data[: end - 1])
    started = time.perf_counter_ns()
    processor.feed(data[end - 1 : end])
    assert processor.complete and processor.get_tool_calls()
    return (time.perf_counter_ns() - started) / 1e3


def axes(scratch: Path) -> Iterator[Axis]:
    """Measure each API's stream beside a bare loop over the same bytes, by the clock."""
    size = 5_000_000
    for api, data, bare, make in (
        ("openai", openai_stream(size), bare_loop, GptStreamingProcessor),
        ("anthropic", anthropic_stream(size), bare_anthropic, ClaudeStreamingProcessor),
        ("ollama", ollama_stream(size), bare_ollama, OllamaStreamingProcessor),
    ):
        for piece, said in ((65536, "64 KB"), (1024, "1 KB")):
            cases: dict[str, Callable[[bytes], Any]] = {
                "ours": gathered(make, piece),
                "bare": bare,
            }
            found: dict[str, list[float]] = {name: [] for name in cases}
            for _ in range(5):
                for name, work in cases.items():
                    began = time.perf_counter()
                    work(data)
                    found[name].append(len(data) / 1e6 / (time.perf_counter() - began))
            row = f"stream of {api}, pieces of {said}"
            yield compared(
                row, "MB/s", (found["ours"], found["bare"]), peer="a bare loop", goal=0.8
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    size = int(options.megabytes * 1e6)
    data = openai_stream(size)
    assert bare_loop(data) == gathered(GptStreamingProcessor, 65536)(data)
    figures = {"bare loop with json.loads": best(bare_loop, data)}
    figures["vespe: openai, 64 KB pieces"] = best(gathered(GptStreamingProcessor, 65536), data)
    figures["vespe: openai, 1 KB pieces"] = best(gathered(GptStreamingProcessor, 1024), data)
    others: list[tuple[str, bytes, Callable[[bytes], Any], Callable[[], Any]]] = [
        ("anthropic", anthropic_stream(size), bare_anthropic, ClaudeStreamingProcessor)
    ]
    others += [("ollama", ollama_stream(size), bare_ollama, OllamaStreamingProcessor)]
    others += [
        ("responses", responses_stream(size), bare_responses, ResponsesStreamingProcessor),
        (
            "interactions",
            interactions_stream(size),
            bare_interactions,
            InteractionsStreamingProcessor,
        ),
    ]
    for api, stream, bare, make in others:
        figures[f"bare loop: {api}"] = best(bare, stream)
        figures[f"vespe: {api}"] = best(gathered(make, 65536), stream)
    for name, (limit, work) in openai_work().items():
        figures[name] = best(
            work, data if limit >= size else openai_stream(limit), 2 if limit < size else 5
        )
    reference = figures["bare loop with json.loads"]
    waited = sorted(last_call(openai_stream(1)) for _ in range(200))[100]
    if options.json:
        rows = {name: {"mb_per_s": rate} for name, rate in figures.items()}
        print(json.dumps({"bytes": len(data), "rates": rows, "last_call_us": waited}, indent=2))
        return
    for name, rate in figures.items():
        ratio = rate / figures.get(f"bare loop: {name.split()[-1]}", reference)
        print(f"{name:28} {rate:8.1f} MB/s   {ratio:5.2f}")
    print(f"{'last call':28} {waited:8.1f} µs")


if __name__ == "__main__":
    main()
