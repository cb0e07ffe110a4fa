"""Tools of this process that ask a person: one door, whoever answers."""

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vespe import Outcome, ToolRegistry, UsageError
from vespe.calls import asking
from vespe.calls.asking import CallSuspended, PersonReply, ToolQuestion, aask, answered_by, ask
from vespe.calls.path import CallPath
from vespe.errors import Declined
from vespe.models import Call, Tool
from vespe.projects.workspace import open_workspace

AGE = {
    "type": "object",
    "properties": {
        "age": {"type": "integer", "minimum": 1},
        "unit": {"type": "string", "default": "years"},
    },
    "required": ["age"],
}


NUMBERS = {"a": {"type": "integer"}, "b": {"type": "integer"}}
TOOL = Tool(
    uid="", name="add", description="", input_schema={"type": "object", "properties": NUMBERS}
)


class Person:
    """Answers questions with `replies`, one after another, and keeps what was asked."""

    def __init__(self, *replies: PersonReply) -> None:
        self.replies, self.asked = list(replies), list[ToolQuestion]()

    def __call__(self, question: ToolQuestion) -> PersonReply:
        self.asked.append(question)
        assert not question.over.is_set()
        return self.replies.pop(0)


def accepts(**content: Any) -> PersonReply:
    return PersonReply(action="accept", content=content)


@pytest.fixture
def called(project: Path) -> Callable[..., Outcome]:
    def call(
        function: Callable[..., Any], asker: Any, *, timeout_s: float | None = None
    ) -> Outcome:
        registry = ToolRegistry()
        registry.register(function, name="add")
        path = CallPath(
            workspace=open_workspace(str(project)), registry=registry, trusted=True, asker=asker
        )
        return path.run_tool(
            TOOL, Call(tool="add", arguments={"a": 1, "b": 2}, timeout_s=timeout_s)
        )

    return call


def test_a_tool_is_given_the_answer_with_the_defaults_of_its_schema(called: Any) -> None:
    person = Person(accepts(age=7))
    outcome = called(lambda a, b: ask("How old?", AGE, name="age"), person)
    assert outcome.result == {"age": 7, "unit": "years"}
    assert [(one.tool, one.text, one.key) for one in person.asked] == [("add", "How old?", "age")]
    assert person.asked[0].over.is_set()
    called(lambda a, b: ask("Sure?\x1b[2J\u202e\nYes?"), inert := Person(accepts()))
    assert inert.asked[0].text == "Sure?\\x1b[2J\\u202e\nYes?"


def test_the_same_question_is_asked_once_and_a_name_stands_for_one_question(called: Any) -> None:
    def twice(a: int, b: int) -> Any:
        return [ask("How old?", AGE), ask("How old?", AGE), ask("Sure?", name="sure")]

    def mixed(a: int, b: int) -> Any:
        return [ask("Remove 3?", name="sure"), ask("Remove 300?", name="sure")]

    person = Person(accepts(age=7), accepts())
    assert called(twice, person).result[:2] == [{"age": 7, "unit": "years"}] * 2
    assert len(person.asked) == 2
    error = called(mixed, Person(accepts())).error
    assert error.code == "tool_error" and "two questions with the name 'sure'" in error.message


@pytest.mark.parametrize(("action", "did"), [("decline", "declined to"), ("cancel", "did not")])
def test_a_no_is_declined_unless_the_tool_goes_on_without(
    called: Any, action: Any, did: str
) -> None:
    error = called(lambda a, b: ask("Sure?"), Person(PersonReply(action=action))).error
    assert error.code == "declined" and did in error.message and error.details["action"] == action

    def goes_on(a: int, b: int) -> str:
        try:
            ask("Sure?")
        except Declined:
            return "without"
        return "with"

    assert called(goes_on, Person(PersonReply(action=action))).result == "without"


def test_where_nobody_is_asked_the_call_needs_input(called: Any) -> None:
    error = called(lambda a, b: ask("Sure?"), None).error
    assert error.code == "needs_input" and "there is no one to ask here" in error.message


def test_an_answer_that_does_not_fit_is_asked_for_again_and_refused_at_last(called: Any) -> None:
    person = Person(accepts(age="old"), accepts(age=0), accepts(age=3))
    assert called(lambda a, b: ask("How old?", AGE), person).result["age"] == 3
    assert [bool(one.problem) for one in person.asked] == [False, True, True]
    person = Person(*[accepts(years=3)] * 3)
    error = called(lambda a, b: ask("How old?", AGE), person).error
    assert error.code == "needs_input" and "does not fit" in error.message and not person.replies


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (lambda: ask(""), "is not a string of 1 to 4000 characters"),
        (lambda: ask("x" * 4001), "is not a string of 1 to 4000 characters"),
        (lambda: ask("Sure?", name="n" * 65), "whose name"),
        (lambda: ask("Sure?", {"type": "string"}), "cannot be entered in a form"),
        (lambda: [ask(f"Number {n}?") for n in range(9)], "more than 8 questions"),
    ],
)
def test_what_cannot_be_asked_is_the_tools_own_error(
    called: Any, asked: Callable[[], Any], why: str
) -> None:
    error = called(lambda a, b: asked(), lambda question: accepts()).error
    assert error.code == "tool_error" and why in error.message


def test_the_deadline_stands_still_while_a_person_is_asked(called: Any) -> None:
    def slowly(question: ToolQuestion) -> PersonReply:
        time.sleep(0.4)
        return accepts()

    async def awaits(a: int, b: int) -> int:
        await aask("Sure?")
        return a + b

    def waits(a: int, b: int) -> int:
        ask("Sure?")
        return a + b

    assert called(awaits, slowly, timeout_s=0.3).result == 3
    assert called(waits, slowly, timeout_s=0.3).result == 3

    async def late(a: int, b: int) -> None:
        await aask("Sure?")
        await asyncio.sleep(60)

    assert called(late, slowly, timeout_s=0.3).error.code == "timed_out"


def test_an_asker_ends_the_call_even_where_the_tool_catches_everything(called: Any) -> None:
    def suspends(question: ToolQuestion) -> PersonReply:
        raise CallSuspended(question)

    def stubborn(a: int, b: int) -> str:
        try:
            ask("Sure?", name="sure")
        except BaseException:
            return "went on"
        return "asked"

    with pytest.raises(CallSuspended) as ended:
        called(stubborn, suspends)
    assert [one.key for one in ended.value.questions] == ["sure"]


def test_async_tools_of_this_loop_ask_while_it_goes_on(project: Path) -> None:
    registry = ToolRegistry()

    async def add(a: int, b: int) -> Any:
        return await aask("Sure?", name="sure")

    async def blocks(a: int, b: int) -> Any:
        return ask("Sure?")

    async def made() -> list[Outcome]:
        loop = asyncio.get_running_loop()

        def asker(question: ToolQuestion) -> PersonReply:
            async def in_the_loop() -> PersonReply:
                return accepts()

            return asyncio.run_coroutine_threadsafe(in_the_loop(), loop).result(10)

        path = CallPath(workspace=open_workspace(str(project)), registry=registry, trusted=True)
        call = Call(tool="add", arguments={"a": 1, "b": 2})
        registry.register(add)
        with answered_by(asker):
            first = await path.arun_tool(TOOL, call)
            registry.unregister("add")
            registry.register(blocks, name="add")
            return [first, await path.arun_tool(TOOL, call)]

    answered, blocked = asyncio.run(made())
    assert answered.result == {}
    assert blocked.error is not None and "aask" in blocked.error.hint


def test_a_cancelled_call_leaves_its_question(project: Path) -> None:
    registry = ToolRegistry()
    registry.register(lambda a, b: ask("Sure?"), name="add")
    cancel, seen = threading.Event(), list[ToolQuestion]()

    def never(question: ToolQuestion) -> PersonReply:
        seen.append(question)
        cancel.set()
        assert question.over.wait(30)
        return accepts()

    path = CallPath(
        workspace=open_workspace(str(project)), registry=registry, trusted=True, asker=never
    )
    outcome = path.run_tool(TOOL, Call(tool="add", arguments={"a": 1, "b": 2}), cancel=cancel)
    assert outcome.error is not None and outcome.error.code == "interrupted"
    assert seen[0].over.wait(30)


def test_an_asker_that_returns_no_reply_is_a_programs_mistake(called: Any) -> None:
    with pytest.raises(UsageError, match="must return a vespe"):
        called(lambda a, b: ask("Sure?"), lambda question: True)


def test_a_call_within_a_call_asks_the_same_person_in_its_own_name(project: Path) -> None:
    registry = ToolRegistry()
    path = CallPath(workspace=open_workspace(str(project)), registry=registry, trusted=True)
    inner = Call(tool="add", arguments={"a": 1, "b": 2})

    def add(a: int, b: int) -> Any:
        if a == 1:
            return ask("Sure?")
        return path.run_tool(TOOL, inner).result

    registry.register(add)
    person = Person(accepts())
    with answered_by(person):
        assert path.run_tool(TOOL, Call(tool="add", arguments={"a": 2, "b": 2})).result == {}
        with answered_by(None):
            error = path.run_tool(TOOL, inner).error
            assert error is not None and error.code == "needs_input"
    assert person.asked[0].tool == "add"
    assert asking.asker_here(None) is None


@pytest.mark.parametrize("at_once", [True, False])
def test_questions_wait_at_the_same_time_only_where_who_is_asked_takes_several(
    at_once: bool, called: Any
) -> None:
    together, here, most = threading.Event(), list[str](), list[int]()

    def person(question: ToolQuestion) -> PersonReply:
        here.append(question.key)
        most.append(len(here))
        if len(here) == 2:
            together.set()
        together.wait(30 if at_once else 0.1)
        here.remove(question.key)
        return accepts(age=len(question.key))

    async def both(a: int, b: int) -> list[int]:
        names = ("one", "three", "one")
        said = await asyncio.gather(*(aask("How old?", AGE, name=name) for name in names))
        return [answer["age"] for answer in said]

    outcome = called(both, asking.AtOnce(person) if at_once else person, timeout_s=60)
    assert outcome.result == [3, 5, 3], outcome.error
    assert len(most) == 2 and max(most) == (2 if at_once else 1)
