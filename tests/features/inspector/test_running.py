"""A call from a page: what is asked about, denied and kept."""

import asyncio
import json
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.support.inspecting import Pages
from tests.support.ondisk import python_tool
from vespe.calls import asking
from vespe.calls.asking import PersonReply
from vespe.calls.policy import SESSION, Answer
from vespe.features.inspector import running
from vespe.features.inspector.running import Given, Runs

T = TypeVar("T")


def now(waiting: Awaitable[T]) -> T:
    async def awaited() -> T:
        return await waiting

    return asyncio.run(awaited())


def given(pages: Pages, text: str = "hi") -> tuple[Runs, Given]:
    path = pages.site._project.path
    return Runs(path), Given(tool=path.tool("say"), arguments={"text": text}, fields={"text": text})


def test_a_yes_for_the_session_holds_until_the_inspector_ends(pages: Pages) -> None:
    runs, call = given(pages)
    key, kind = now(runs.start(call))
    assert kind == "waiting"
    assert now(runs.go_on(key, Answer(allowed=True, holds=SESSION)))
    ran = runs.ran(now(runs.start(call))[0])
    assert ran is not None
    assert ran.outcome.result == "hi"


def test_a_tool_that_changed_since_it_was_shown_is_asked_about_again(pages: Pages) -> None:
    runs, call = given(pages)
    key, _ = now(runs.start(call))
    runs._waiting[key] = running.UnconfirmedCall(
        given=call, inputs={"text": "hi"}, why="", digest="another"
    )
    again = now(runs.go_on(key, Answer(allowed=True)))
    assert again is not None
    assert again[1] == "waiting"
    assert now(runs.go_on("nonsense", Answer(allowed=True))) is None


def test_what_the_configuration_denies_is_not_even_asked_about(pages: Pages) -> None:
    runs, call = given(pages)
    config = Path(pages.site._project.root) / ".vespe/config.json"
    before = config.read_text(encoding="utf-8")
    config.write_text(
        json.dumps(json.loads(before) | {"approvals": {"deny": ["say"]}}), encoding="utf-8"
    )
    key, kind = now(runs.start(call))
    config.write_text(before, encoding="utf-8")
    ran = runs.ran(key)
    assert kind == "ran"
    assert ran is not None
    assert ran.outcome.error is not None
    assert "the configuration denies" in ran.outcome.error.message


def test_only_so_many_outcomes_are_kept(pages: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "MOST", 1)
    runs, call = given(pages)
    first, _ = now(runs.start(call))
    second, _ = now(runs.start(call))
    assert runs.waiting(first) is None
    assert runs.waiting(second) is not None


def asks(pages: Pages, body: str, name: str = "asks") -> tuple[Runs, Given]:
    place = Path(pages.site._project.root, f".vespe/tools/tool-{name}")
    if not place.exists():
        python_tool(place, name, body, annotations={"readOnlyHint": True})
    path = pages.site._project.path.now()
    return Runs(path), Given(tool=path.tool(name), arguments={}, fields={})


TWICE = (
    'import vespe_ask\nreturn [vespe_ask.ask("One?", name="a"), vespe_ask.ask("Two?", name="b")]'
)


def test_a_tool_that_asks_goes_on_with_each_answer(pages: Pages) -> None:
    runs, call = asks(pages, TWICE)

    async def talk() -> Any:
        first, kind = await runs.start(call)
        one = runs.asking(first)
        assert kind == "asked" and one is not None and one.question is not None
        assert one.question.text == "One?" and runs.running == 1
        second = await runs.answer(first, PersonReply(action="accept"))
        assert second is not None and second[1] == "asked" and runs.asking(first) is None
        assert await runs.answer(first, PersonReply(action="accept")) is None
        last = await runs.answer(second[0], PersonReply(action="accept"))
        assert last is not None and last[1] == "ran" and runs.running == 0
        return runs.ran(last[0])

    ran = now(talk())
    assert ran.outcome.result == [{}, {}]


LATE = """import vespe_ask
try:
    vespe_ask.ask("Look?")
except Exception:
    vespe_ask.ask("Delete?")
    return "deleted"
"""


def test_an_answer_that_comes_too_late_is_no_answer_to_the_next_question(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, call = asks(pages, LATE, name="late")
    monkeypatch.setattr(asking, "ASK_TIMEOUT_S", 0.2)

    async def talk() -> Any:
        first, _ = await runs.start(call)
        monkeypatch.undo()
        one = runs.asking(first)
        assert one is not None and one.question is not None and one.question.text == "Look?"
        while not one.question.over.is_set():
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.5)  # meanwhile the tool asks the next one
        second = await runs.answer(first, PersonReply(action="accept"))
        assert second is not None and second[1] == "asked"
        assert one.question.text == "Delete?"
        was_late = one.came_late
        last = await runs.answer(second[0], PersonReply(action="decline"))
        assert last is not None and last[1] == "ran"
        return runs.ran(last[0]), was_late, one.came_late

    ran, *late = now(talk())
    assert ran.outcome.error is not None and ran.outcome.error.code == "declined"
    assert late == [True, False]


def test_a_call_that_waits_for_an_answer_ends_with_the_inspector(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "MOST", 1)
    runs, call = asks(pages, TWICE)

    async def left() -> None:
        keys = [(await runs.start(call))[0] for _ in range(2)]
        assert runs.asking(keys[1]) is not None  # the first is ended for the second
        runs.stop()
        while runs.running:
            await asyncio.sleep(0.02)
        assert [runs.asking(key) for key in keys] == [None, None]

    now(left())


def test_a_page_that_is_closed_while_its_call_asks_again_ends_the_call(pages: Pages) -> None:
    runs, call = asks(
        pages, 'import time, vespe_ask\nvespe_ask.ask("One?")\ntime.sleep(60)', name="naps"
    )

    async def hung_up() -> None:
        key, _ = await runs.start(call)
        going = asyncio.ensure_future(runs.answer(key, PersonReply(action="accept")))
        await asyncio.sleep(0.3)
        going.cancel()
        await asyncio.wait((going,))
        assert runs.running == 0

    now(hung_up())
