"""One answer with two calls as each API streams it, and what runs them."""

import json
from typing import Any

from tests.features.agents.agents_on_disk import NUMBER, Bench
from vespe import CallPolicy, StreamContext

ONE, TWO = '{"n": 2}', '{"n": "x"}'


def openai_body() -> bytes:
    calls = [
        {
            "index": i,
            "id": f"c{i}",
            "type": "function",
            "function": {"name": "double", "arguments": a},
        }
        for i, a in enumerate((ONE, TWO))
    ]
    chunks: list[Any] = [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "so"}}]}
    ]
    chunks += [{"choices": [{"index": 0, "delta": {"tool_calls": [one]}}]} for one in calls]
    chunks += [{"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}]
    return (
        b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)
        + b"data: [DONE]\n\n"
    )


def anthropic_body() -> bytes:
    events: list[Any] = [
        {
            "type": "message_start",
            "message": {
                "id": "m",
                "role": "assistant",
                "content": [],
                "usage": {"input_tokens": 1},
            },
        }
    ]
    for index, text in enumerate((ONE, TWO)):
        block = {"type": "tool_use", "id": f"c{index}", "name": "double", "input": {}}
        events += [
            {"type": "content_block_start", "index": index, "content_block": block},
            {
                "type": "content_block_delta",
                "index": index,
                "delta": {"type": "input_json_delta", "partial_json": text},
            },
            {"type": "content_block_stop", "index": index},
        ]
    events += [
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use"},
            "usage": {"output_tokens": 1},
        },
        {"type": "message_stop"},
    ]
    return b"".join(
        f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events
    )


def responses_body() -> bytes:
    calls = [
        {
            "type": "function_call",
            "id": f"fc{i}",
            "call_id": f"c{i}",
            "name": "double",
            "arguments": a,
        }
        for i, a in enumerate((ONE, TWO))
    ]
    items = [{"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "g"}, *calls]
    events: list[Any] = [
        {"type": "response.created", "response": {"id": "r", "status": "in_progress"}}
    ]
    events += [
        {"type": f"response.output_item.{step}", "output_index": index, "item": item}
        for index, item in enumerate(items)
        for step in ("added", "done")
    ]
    events += [{"type": "response.completed", "response": {"id": "r", "status": "completed"}}]
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


def interactions_body() -> bytes:
    events: list[Any] = [
        {"event_type": "interaction.created", "interaction": {"id": "i", "status": "in_progress"}},
        {
            "event_type": "step.start",
            "index": 0,
            "step": {"type": "thought", "signature": "c2ln"},
        },
        {"event_type": "step.stop", "index": 0},
    ]
    for index, text in enumerate((ONE, TWO), start=1):
        step = {"type": "function_call", "id": f"c{index - 1}", "name": "double", "arguments": {}}
        events += [
            {"event_type": "step.start", "index": index, "step": step},
            {
                "event_type": "step.delta",
                "index": index,
                "delta": {"type": "arguments_delta", "arguments": text},
            },
            {"event_type": "step.stop", "index": index},
        ]
    events.append(
        {
            "event_type": "interaction.completed",
            "interaction": {"id": "i", "status": "requires_action"},
        }
    )
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


def ollama_body() -> bytes:
    calls = [{"function": {"name": "double", "arguments": json.loads(text)}} for text in (ONE, TWO)]
    lines: list[Any] = [
        {"message": {"role": "assistant", "content": "", "tool_calls": calls}, "done": False}
    ]
    lines += [
        {
            "message": {"role": "assistant", "content": ""},
            "done": True,
            "done_reason": "stop",
            "prompt_eval_count": 1,
            "eval_count": 1,
        }
    ]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def context(bench: Bench, **extra: Any) -> StreamContext:
    """Give a context with one tool that doubles."""
    bench.tool("double", lambda n: n * 2, schema=NUMBER)
    path = bench.project().call_path()
    return StreamContext(
        tools=[path.tool("double")], runner=path, policy=CallPolicy(policy="all"), **extra
    )


def cut(body: bytes, size: int) -> list[bytes]:
    """Cut a body into pieces of a size."""
    return [body[at : at + size] for at in range(0, len(body), size)]
