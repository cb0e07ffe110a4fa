"""One message of an Anthropic stream."""

from typing import Any

import pytest

from vespe.adapters.streams.anthropic_messages import MessageGathering
from vespe.adapters.streams.base import StreamEvent

START = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "content": [],
    "usage": {"input_tokens": 5, "output_tokens": 1},
}
USE = {"type": "tool_use", "id": "t", "name": "f", "input": {}}


def message(
    *blocks: dict[str, Any], stop: str | None = None, start: dict[str, Any] | None = None
) -> MessageGathering:
    made = MessageGathering(start or START, 0, [])
    for index, block in enumerate(blocks):
        made.begin_block(block, index, [])
        made.end_block(index, [])
    if stop:
        made.change({"delta": {"stop_reason": stop}}, [])
    return made


def test_interleaved_deltas_find_their_blocks() -> None:
    made = message({"type": "text", "text": ""}, {"type": "text", "text": ""})
    for index, text in ((0, "a"), (1, "b"), (0, "c")):
        made.grow_block(index, {"type": "text_delta", "text": text}, [])
    assert [block["text"] for block in made.native()["content"]] == ["ac", "b"]


def test_a_text_whose_block_never_began_begins_one_and_arguments_do_not() -> None:
    made = message()
    events: list[StreamEvent] = []
    made.grow_block(0, {"type": "text_delta", "text": "a"}, events)
    made.grow_block(4, {"type": "input_json_delta", "partial_json": "{}"}, events)
    assert made.native()["content"] == [{"type": "text", "text": "a"}] and events == [
        StreamEvent("text", "a")
    ]


def test_counts_are_totals_and_null_says_nothing() -> None:
    made, events = message(), list[StreamEvent]()
    made.change(
        {
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 9, "input_tokens": None},
        },
        events,
    )
    assert (
        made.native()["usage"] == {"input_tokens": 5, "output_tokens": 9}
        and made.native()["stop_reason"] == "end_turn"
    )
    assert events == [
        StreamEvent("usage", data={"prompt_tokens": 5, "completion_tokens": 9, "total_tokens": 14})
    ]


def test_blocks_in_the_start_count_too() -> None:
    events: list[StreamEvent] = []
    made = MessageGathering({**START, "content": [{**USE, "input": {"a": 1}}]}, 2, events)
    assert [(e.type, e.text, e.index) for e in events] == [
        ("tool_start", "", 2),
        ("tool_arguments", '{"a":1}', 2),
    ]
    assert made.inner()["tool_calls"][0]["function"] == {"name": "f", "arguments": '{"a":1}'}


def test_the_inner_message_is_what_the_adapters_make_of_it() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    made = message(
        thinking, {"type": "text", "text": "Hi", "citations": [{"cited_text": "c"}]}, USE
    )
    assert made.inner() == {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "Hi", "anthropic": {"citations": [{"cited_text": "c"}]}}
        ],
        "tool_calls": [
            {"id": "t", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        ],
        "anthropic_blocks": [thinking, "part", "tool_call"],
    }


def test_a_call_without_a_name_is_none_and_one_without_an_id_gets_one() -> None:
    made = message(
        {"type": "tool_use", "id": "x", "input": {}}, {"type": "tool_use", "name": "f", "input": {}}
    )
    (call,) = made.inner()["tool_calls"]
    assert call["id"].startswith("vespe_call_") and call["id"] == made.blocks[1].call_id
    assert "id" not in made.native()["content"][1]


@pytest.mark.parametrize(
    ("stop", "cut"),
    [("tool_use", set()), ("end_turn", set()), ("max_tokens", {"t"}), (None, {"t"})],
)
def test_p40c_the_last_call_without_arguments_is_cut_unless_the_message_ended_well(
    stop: str | None, cut: set[str]
) -> None:
    assert message(USE, stop=stop).cut_calls(broken=False) == cut
    assert message({**USE, "input": {"a": 1}}, stop=stop).cut_calls(broken=False) == set()


def test_p40c_a_call_is_cut_where_its_block_did_not_stop() -> None:
    made = MessageGathering(START, 0, [])
    made.begin_block(USE, 0, [])
    made.begin_block({**USE, "id": "u"}, 1, [])
    assert made.cut_calls(broken=False) == {"t", "u"}
    made.end_block(0, [])
    assert made.cut_calls(broken=False) == {"u"}
    made.change({"delta": {"stop_reason": "tool_use"}}, [])
    assert made.cut_calls(broken=False) == set() and made.cut_calls(broken=True) == {"u"}


def test_two_calls_of_one_id_become_two() -> None:
    assert [call["id"] for call in message(USE, USE).inner()["tool_calls"]] == ["t", "t_2"]
