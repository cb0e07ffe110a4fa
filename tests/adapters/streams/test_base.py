"""Events as values and as JSON."""

import pytest

from vespe.adapters.streams.base import StreamEvent


def test_an_event_as_json_says_nothing_that_it_does_not_say() -> None:
    assert StreamEvent(type="text", text="Hi").as_json() == {"type": "text", "text": "Hi"}
    assert StreamEvent("text", "Hi", index=1).as_json() == {
        "type": "text",
        "text": "Hi",
        "index": 1,
    }


def test_an_event_of_a_call_always_says_which() -> None:
    assert StreamEvent("tool_start", call_id="c", name="f").as_json() == {
        "type": "tool_start",
        "call_id": "c",
        "name": "f",
        "index": 0,
    }


def test_an_event_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        StreamEvent("done").text = "x"  # type: ignore[misc]  # what the test is about
