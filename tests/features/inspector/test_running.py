"""A call from a page: what is asked about, denied and kept."""

import asyncio
import json
from collections.abc import Awaitable
from pathlib import Path
from typing import TypeVar

import pytest

from tests.support.inspecting import Pages
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
    key, waits = now(runs.start(call))
    assert waits
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
    assert again[1]
    assert now(runs.go_on("nonsense", Answer(allowed=True))) is None


def test_what_the_configuration_denies_is_not_even_asked_about(pages: Pages) -> None:
    runs, call = given(pages)
    config = Path(pages.site._project.root) / ".vespe/config.json"
    before = config.read_text(encoding="utf-8")
    config.write_text(
        json.dumps(json.loads(before) | {"approvals": {"deny": ["say"]}}), encoding="utf-8"
    )
    key, waits = now(runs.start(call))
    config.write_text(before, encoding="utf-8")
    ran = runs.ran(key)
    assert not waits
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
