"""Well-formed streams of any content: gathered as the vendors' SDKs gather them, whatever is
interleaved with what.
"""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.adapters.streams.streams import anthropic_message, differences, fed, openai_completion

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
inputs = st.dictionaries(
    texts, texts | st.integers(-5, 5) | st.booleans() | st.lists(texts, max_size=2), max_size=3
)


@st.composite
def pieces(draw: st.DrawFn, text: str) -> list[str]:
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=3)))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@st.composite
def interleaved(draw: st.DrawFn, lanes: list[list[Any]]) -> list[Any]:
    """Give the items of all lanes, those of each in their order."""
    order = draw(st.permutations([n for n, lane in enumerate(lanes) for _ in lane]))
    waiting = [iter(lane) for lane in lanes]
    return [next(waiting[n]) for n in order]


@st.composite
def openai_streams(draw: st.DrawFn) -> bytes:
    said = [{"content": piece} for piece in draw(pieces(draw(texts)))]
    lanes: list[list[Any]] = [said]
    count = draw(st.integers(0, 3))
    deltas: list[Any] = []
    for index in range(count):
        whole = {
            "index": index,
            "id": f"c{index}",
            "type": "function",
            "function": {"name": f"f{index}", "arguments": ""},
        }
        deltas.append({"tool_calls": [whole]})
        arguments = draw(pieces(json.dumps(draw(inputs), ensure_ascii=False)))
        lanes.append(
            [
                {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
                for piece in arguments
            ]
        )
    deltas = [{"role": "assistant", "content": None}, *deltas, *draw(interleaved(lanes))]
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    chunks: list[Any] = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        for delta in deltas
    ]
    chunks.append(
        {
            **head,
            "choices": [
                {
                    "index": 0,
                    "delta": {},
                    "finish_reason": draw(st.sampled_from(["stop", "tool_calls"])),
                }
            ],
        }
    )
    if draw(st.booleans()):
        chunks.append(
            {
                **head,
                "choices": [],
                "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
            }
        )
    return (
        "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode() + b"data: [DONE]\n\n"
    )


@st.composite
def anthropic_streams(draw: st.DrawFn) -> bytes:
    start: dict[str, Any] = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "c",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }
    events: list[Any] = [
        {
            "type": "message_start",
            "message": start | {"usage": {"input_tokens": 1, "output_tokens": 1}},
        }
    ]
    lanes: list[list[Any]] = []
    for index, kind in enumerate(
        draw(st.lists(st.sampled_from(["text", "thinking", "tool_use"]), max_size=3))
    ):
        block: dict[str, Any] = (
            {"type": kind, kind: ""}
            if kind != "tool_use"
            else {"type": kind, "id": f"t{index}", "name": "f", "input": {}}
        )
        block |= {"signature": ""} if kind == "thinking" else {}
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        text = json.dumps(draw(inputs), ensure_ascii=False) if kind == "tool_use" else draw(texts)
        key = {
            "text": ("text_delta", "text"),
            "thinking": ("thinking_delta", "thinking"),
            "tool_use": ("input_json_delta", "partial_json"),
        }[kind]
        deltas = [{"type": key[0], key[1]: piece} for piece in draw(pieces(text))]
        deltas += [{"type": "signature_delta", "signature": "s"}] if kind == "thinking" else []
        lanes.append(
            [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        )
        lanes[-1].append({"type": "content_block_stop", "index": index})
    events += draw(interleaved(lanes))
    events.append(
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use", "stop_sequence": None},
            "usage": {"output_tokens": 5},
        }
    )
    return "".join(
        f"event: {e['type']}\ndata: {json.dumps(e)}\n\n"
        for e in [*events, {"type": "message_stop"}]
    ).encode()


@settings(max_examples=40, deadline=None)
@given(body=openai_streams(), size=st.integers(1, 50))
def test_what_openais_sdk_gathers_is_gathered(body: bytes, size: int) -> None:
    processor, _ = fed("openai", body, size)
    assert (
        list(differences(processor.native_message(), openai_completion(body))) == []
        and processor.complete
    )
    assert processor.cut_calls() == frozenset()


@settings(max_examples=40, deadline=None)
@given(body=anthropic_streams(), size=st.integers(1, 50))
def test_what_anthropics_sdk_gathers_is_gathered(body: bytes, size: int) -> None:
    processor, _ = fed("anthropic", body, size)
    assert (
        list(differences(processor.native_message(), anthropic_message(body))) == []
        and processor.complete
    )
    assert processor.cut_calls() == frozenset()
