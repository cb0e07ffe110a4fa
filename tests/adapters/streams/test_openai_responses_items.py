"""One item of a Responses stream."""

from vespe.adapters.call_ids import Calls
from vespe.adapters.streams.base import StreamEvent
from vespe.adapters.streams.openai_responses_items import GrowingItem


def test_what_an_item_says_in_the_end_counts() -> None:
    item, events = GrowingItem({"type": "message", "content": []}, 0), list[StreamEvent]()
    item.grow("output_text", 0, "Hel", events)
    item.finish({"content": [{"type": "output_text", "text": "Hello"}]}, events)
    assert "".join(event.text for event in events) == "Hello"
    item.finish({"content": [{"type": "output_text", "text": "Bye"}]}, events)
    assert "".join(event.text for event in events) == "Hello"
    assert item.native()["content"] == [{"type": "output_text", "text": "Bye"}]


def test_half_of_a_character_is_held_back_until_the_other_comes() -> None:
    item, events = GrowingItem({"type": "message"}, 0), list[StreamEvent]()
    item.grow("output_text", 0, "\ud83d", events)
    assert events == []
    item.grow("output_text", 0, "\ude00", events)
    assert [event.text for event in events] == ["😀"]
    item.grow("refusal", 1, "\ud83d", events)
    item.settle(events)
    assert events[-1].text == "\ufffd"


def test_a_call_without_a_name_is_none() -> None:
    item, events = GrowingItem({"type": "function_call", "call_id": "c"}, 0), list[StreamEvent]()
    assert not item.begin(0, None, Calls(), events)
    item.call('{"a":1}', events)
    assert not item.is_call and events == [] and item.is_whole()


def test_a_custom_call_is_never_known_to_be_whole() -> None:
    item = GrowingItem({"type": "custom_tool_call", "name": "f", "input": "{}"}, 0)
    assert item.arguments() == "{}" and not item.is_whole()
