"""Where in a program a call is decided on, and what was answered about calls like it."""

import threading
import time

import pytest

from vespe.calls.in_process import Pause
from vespe.calls.policy import IN_PROGRAM, Answer, CallPolicy, Question
from vespe.calls.program_place import (
    CallWaits,
    ProgramPlace,
    counted_in,
    current_place,
    in_program,
    said_line,
    waiting_for_person,
)
from vespe.models import Tool

TOOL = Tool(uid="u", name="send", description="Send it.", input_schema={"type": "object"})


def test_the_place_is_known_within_and_nowhere_else() -> None:
    place = ProgramPlace(said="line 1: send()", number=1)
    with in_program(place):
        assert current_place() is place
    assert current_place() is None


def test_a_question_has_the_line_and_an_answer_may_hold_for_the_program() -> None:
    asked: list[str] = []

    def ask(question: Question) -> Answer:
        asked.append(question.program)
        return Answer(allowed=True, holds=IN_PROGRAM)

    policy, place = CallPolicy(ask=ask), ProgramPlace(said="line 2: send()")
    with in_program(place):
        assert policy.why_not(TOOL, {}) == "" and policy.why_not(TOOL, {"n": 2}) == ""
    assert asked == ["line 2: send()"]
    with in_program(ProgramPlace(said="line 9: send()")):  # another program asks anew
        assert policy.why_not(TOOL, {}) == ""
    assert asked == ["line 2: send()", "line 9: send()"]


def test_none_in_this_program_denies_what_is_like_it() -> None:
    policy = CallPolicy(ask=lambda _: Answer(allowed=False, holds=IN_PROGRAM))
    with in_program(ProgramPlace()):
        assert "denied this call" in policy.why_not(TOOL, {})
        assert "in this program" in policy.why_not(TOOL, {"n": 2})


def test_where_nobody_can_be_asked_a_program_waits_or_is_denied() -> None:
    policy = CallPolicy()
    with in_program(ProgramPlace(waits=True)), pytest.raises(CallWaits, match="needs approval"):
        policy.why_not(TOOL, {})
    with in_program(ProgramPlace()):
        assert "there is no one to ask" in policy.why_not(TOOL, {})
    with in_program(ProgramPlace(waits=True)):
        assert "there is no one to ask" in CallPolicy(policy="read-only").why_not(TOOL, {})


def test_the_time_that_persons_take_is_counted_once_whoever_waits() -> None:
    waited, both = Pause(), threading.Barrier(2)

    def wait() -> None:
        with counted_in(waited), waiting_for_person():
            both.wait(10)
            time.sleep(0.05)

    threads = [threading.Thread(target=wait) for _ in range(2)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = waited.seconds
    assert 0.04 < took <= time.monotonic() - began and waited.seconds == took
    with waiting_for_person():  # outside of any program nothing counts
        time.sleep(0.01)
    assert waited.seconds == took


def test_a_line_is_said_with_its_number() -> None:
    assert said_line(["a()", "  b()"], 2) == "line 2: b()"
    assert said_line(["a()"], None) == said_line([], 1) == "in an f-string"
