"""One step of an Interactions stream."""

from vespe.adapters.call_ids import Calls
from vespe.adapters.streams.base import StreamEvent
from vespe.adapters.streams.gemini_interactions_steps import GrowingStep


def test_half_of_a_character_is_held_back_until_the_other_comes() -> None:
    step, events = GrowingStep({"type": "model_output"}, 0), list[StreamEvent]()
    step.take({"type": "text", "text": "\ud83d"}, events)
    assert events == []
    step.take({"type": "text", "text": "\ude00"}, events)
    assert [event.text for event in events] == ["😀"]
    step.take({"type": "text", "text": "\ud83d"}, events)
    step.settle(events)
    assert events[-1].text == "\ufffd"


def test_a_delta_of_another_step_says_nothing() -> None:
    step, events = GrowingStep({"type": "thought"}, 0), list[StreamEvent]()
    for delta in (
        {"type": "text", "text": "a"},
        {"type": "arguments_delta", "arguments": "{}"},
        {"type": "text_annotation_delta", "annotations": [1]},
        {"type": "thought_summary", "content": 3},
    ):
        step.take(delta, events)
    assert events == [] and step.native() == {"type": "thought"}


def test_a_call_without_a_name_is_none() -> None:
    step, events = GrowingStep({"type": "function_call", "id": "c"}, 0), list[StreamEvent]()
    assert not step.begin(0, None, Calls(), events)
    step.call('{"a":1}', events)
    assert not step.is_call and events == [] and step.is_whole()
