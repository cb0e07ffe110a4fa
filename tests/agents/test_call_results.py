"""What became of a call."""

from vespe.agents.call_results import CallResult, interrupted, not_run
from vespe.agents.open_calls import ModelCall
from vespe.models import Failure, Outcome

CALL = ModelCall(call_id="c", name="f", arguments="{}", place=2)


def test_a_result_is_text_or_compact_json_and_an_error_is_marked() -> None:
    told = CallResult(call=CALL, outcome=Outcome(tool="f", uid="u", result={"a": 1})).message
    assert told == {"role": "tool", "tool_call_id": "c", "content": '{"a":1}'}
    failed = CallResult(call=CALL, outcome=Outcome(tool="f", uid="u", error=Failure(code="x", message="no", hint="do"))).message
    assert failed == {"role": "tool", "tool_call_id": "c", "content": "no (do)", "is_error": True}


def test_what_did_not_run_and_what_was_ended_are_errors_in_words() -> None:
    assert (not_run(CALL, "because").ran, interrupted(CALL).ran) == (False, True)
    assert "earlier session" in interrupted(CALL, known=False).message["content"] and interrupted(CALL).message["is_error"]


def test_the_event_carries_the_call_its_place_and_the_outcome() -> None:
    event = not_run(CALL, "because", code="denied").event
    assert (event.type, event.call_id, event.name, event.index) == ("tool_result", "c", "f", 2)
    assert event.data is not None and event.data["outcome"]["error"]["code"] == "denied" and event.data["content"] == "because"
