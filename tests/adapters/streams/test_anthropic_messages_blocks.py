"""One block of an Anthropic stream, grown by its deltas."""

from typing import Any

import pytest

from vespe.adapters.streams.anthropic_messages import GrowingBlock
from vespe.adapters.streams.base import StreamEvent


def grown(
    start: dict[str, Any], *deltas: dict[str, Any], order: int = -1, stop: bool = True
) -> tuple[GrowingBlock, list[StreamEvent]]:
    block, events = GrowingBlock(start, 3, order=order), list[StreamEvent]()
    block.begin(events)
    for delta in deltas:
        block.take(delta, events)
    if stop:
        block.stop(events)
    return block, events


def json_delta(text: Any) -> dict[str, Any]:
    return {"type": "input_json_delta", "partial_json": text}


def test_text_grows_from_what_the_start_says_and_citations_stand_beside_it() -> None:
    citation = {"type": "char_location", "cited_text": "c"}
    deltas: list[Any] = [
        {"type": "text_delta", "text": "b"},
        {"type": "citations_delta", "citation": citation},
        {"type": "text_delta", "text": ""},
    ]
    block, events = grown({"type": "text", "text": "a"}, *deltas)
    assert block.native() == {"type": "text", "text": "ab", "citations": [citation]}
    assert events == [StreamEvent("text", "a", index=3), StreamEvent("text", "b", index=3)]


def test_thinking_grows_and_has_its_signature() -> None:
    deltas = [
        {"type": "thinking_delta", "thinking": "hm"},
        {"type": "signature_delta", "signature": "s"},
    ]
    block, events = grown({"type": "thinking", "thinking": "", "signature": ""}, *deltas)
    assert block.native() == {
        "type": "thinking",
        "thinking": "hm",
        "signature": "s",
    } and events == [StreamEvent("reasoning", "hm", index=3)]


def test_a_calls_input_is_what_its_deltas_say() -> None:
    block, events = grown(
        {"type": "tool_use", "id": "t", "name": "f", "input": {}},
        json_delta(""),
        json_delta('{"a"'),
        json_delta(": 1}"),
        order=0,
    )
    assert block.native() == {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}}
    assert [(e.type, e.text, e.call_id, e.name, e.index) for e in events] == [
        ("tool_start", "", "t", "f", 0),
        ("tool_arguments", '{"a"', "t", "f", 0),
        ("tool_arguments", ": 1}", "t", "f", 0),
    ]


def test_an_input_at_the_start_counts_where_no_delta_follows() -> None:
    start = {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}}
    block, events = grown(start, json_delta(""), order=0)
    assert block.native()["input"] == {"a": 1} and events[-1] == StreamEvent(
        "tool_arguments", '{"a":1}', "t", "f", 0
    )
    assert grown(start, json_delta('{"b":2}'), order=0)[0].native()["input"] == {"b": 2}


def test_an_input_that_is_no_json_stays_text_under_the_adapters_key() -> None:
    block, _ = grown(
        {"type": "tool_use", "id": "t", "name": "f", "input": {}}, json_delta('{"a": "b'), order=0
    )
    assert block.native()["input"] == {"vespe_arguments": '{"a": "b'} and not block.is_whole()


@pytest.mark.parametrize("kind", ["server_tool_use", "mcp_tool_use"])
def test_calls_of_the_vendors_own_have_their_input_and_no_events(kind: str) -> None:
    block, events = grown(
        {"type": kind, "id": "s", "name": "web_search", "input": {}}, json_delta('{"query":"x"}')
    )
    assert block.native()["input"] == {"query": "x"} and events == [] and not block.is_call


def test_what_is_unknown_or_meant_for_another_block_says_nothing() -> None:
    deltas: list[Any] = [
        {"type": "text_delta", "text": "x"},
        {"type": "new_delta"},
        {"type": []},
        {},
        json_delta(5),
        {"type": "signature_delta", "signature": "s"},
    ]
    start = {
        "type": "web_search_tool_result",
        "tool_use_id": "s",
        "content": [{"type": "web_search_result"}],
    }
    block, events = grown(start, *deltas)
    assert block.native() == start and events == []


def test_a_compaction_is_kept() -> None:
    assert grown({"type": "compaction"}, {"type": "compaction_delta", "content": "c"})[
        0
    ].native() == {"type": "compaction", "content": "c"}


def test_what_was_held_back_is_told_without_a_stop_too() -> None:
    block, events = grown(
        {"type": "text", "text": ""}, {"type": "text_delta", "text": "a\ud83d"}, stop=False
    )
    block.settle(events)
    assert [e.text for e in events] == ["a", "�"] and not block.stopped


def test_an_id_in_our_alphabet_is_told_as_it_was() -> None:
    assert (
        grown({"type": "tool_use", "id": "vespe_id_613a31", "name": "f"}, order=0)[0].call_id
        == "a:1"
    )


def test_a_delta_that_is_an_object_and_no_text_is_the_input_and_never_left_out() -> None:
    block, events = grown(
        {"type": "tool_use", "id": "t", "name": "f", "input": {}},
        json_delta({"path": "a"}),
        order=0,
    )
    assert block.native()["input"] == {"path": "a"}
    assert [event.text for event in events if event.type == "tool_arguments"] == ['{"path":"a"}']
