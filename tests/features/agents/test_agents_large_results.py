"""Results that are too large for the model of an agent: shown in part, read by their handle, passed
on, and the same when the conversation goes on or is replayed.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.features.agents.agents_on_disk import READ_ONLY, Bench, call, results
from vespe import Agent, AgentOptions, Answer, RecordingProvider, ReplayProvider, SimulatedProvider
from vespe.adapters.large_results import reading
from vespe.features.agents import transcripts
from vespe.features.agents.transcripts import ConversationFile, Transcript

LONG = "".join(f"line {number}\n" for number in range(20_000))
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


@pytest.fixture
def browsing(bench: Bench) -> Bench:
    """A tool whose result is long, and one that takes a text."""
    bench.tool("page", lambda: LONG, annotations=READ_ONLY)
    bench.tool("send", lambda text: len(text), schema=TEXT)
    return bench


def shown(tool: str) -> Any:
    """The definition of a tool in the last request."""
    return {"match": {"tools": [tool]}}


def test_the_model_is_shown_a_part_and_reads_on(browsing: Bench) -> None:
    agent = browsing.agent(
        {**shown("read_result"), "tool_calls": [call("page")]},
        [call("read_result", {"handle": "r1", "lines": [10_001, 10_002]})],
        "done",
    )
    run = agent.run("go")
    (_, part), (_, more) = results(run.messages)
    assert len(part) <= 40_000 and "its handle is r1" in part
    assert json.loads(more) == {"text": "line 10000\nline 10001\n", "next": None}
    assert run.calls[0].outcome.result == LONG and run.calls[1].ran
    assert browsing.ran == ["page"]


def test_a_reference_is_resolved_before_the_schema_the_person_and_the_tool(
    browsing: Bench,
) -> None:
    asked = []

    def allow(question: Any) -> Answer:
        asked.append((question.inputs, question.origins))
        return Answer(allowed=True)

    agent = browsing.agent(
        [call("page")], [call("send", {"text": {"$result": "r1"}})], "x", approve="ask", ask=allow
    )
    run = agent.run("go")
    assert asked == [
        ({"text": LONG}, {"text": "copied from the result r1 of page, not from your messages"})
    ]
    assert run.calls[1].outcome.result == len(LONG)
    assert run.calls[1].outcome.notes[-1].startswith(f"text is r1: {len(LONG):,} characters")


def test_a_wrong_reference_runs_nothing_and_is_told(browsing: Bench) -> None:
    agent = browsing.agent([call("send", {"text": {"$result": "r4"}})], "x")
    run = agent.run("go")
    error = run.calls[0].outcome.error
    assert error is not None and error.code == "unknown_result" and error.retryable
    assert browsing.ran == []


@pytest.mark.parametrize("closed", [True, False])
def test_handles_hold_when_a_kept_conversation_goes_on(
    browsing: Bench, tmp_path: Path, closed: bool
) -> None:
    path = tmp_path / "talk.json"
    file = ConversationFile(path)
    talk = Transcript(keep=file.keep)
    browsing.agent([call("page"), call("page")], "seen", transcript=talk).run("go")
    if closed:
        file.close(talk)
    again = transcripts.load(path)
    assert sorted(again.results) == ["r1", "r2"]
    turn = [call("send", {"text": {"$result": "r2"}}), call("page")]
    run = browsing.agent(turn, "x", transcript=again).run("on")
    assert run.calls[0].outcome.result == len(LONG)
    assert "its handle is r4" in results(run.messages)[-1][1]


def test_a_replay_asks_the_same_and_runs_nothing(browsing: Bench, tmp_path: Path) -> None:
    path = str(tmp_path / "said.json")
    turns = [
        {"tool_calls": [call("page", id="a"), call("page", id="b")]},
        {"tool_calls": [call("read_result", {"handle": "r2", "offset": 5}, id="c")]},
        {"text": "end"},
    ]
    recording = RecordingProvider(SimulatedProvider({"turns": turns}), path)
    options = AgentOptions(
        approve="all",
        on_result=lambda one: recording.record_outcome(one.call.call_id, one.outcome),
    )
    first = Agent(recording, browsing.project(), options=options).run("go")
    assert browsing.ran == ["page", "page"]
    replay = ReplayProvider(path)
    known = AgentOptions(approve="all", known=lambda one: replay.recorded_outcome(one.call_id))
    second = Agent(replay, browsing.project(), options=known).run("go")
    assert second.messages == first.messages and len(browsing.ran) == 2


def test_a_recording_of_before_is_replayed_as_it_was_asked(browsing: Bench, tmp_path: Path) -> None:
    path = tmp_path / "said.json"
    recording = RecordingProvider(SimulatedProvider({"turns": [{"text": "hi"}]}), str(path))
    Agent(recording, browsing.project()).run("go")
    old = json.loads(path.read_text(encoding="utf-8"))
    del old["bounds_results"]
    tools = old["turns"][0]["request"]["tools"]
    old["turns"][0]["request"]["tools"] = [
        one for one in tools if one["function"]["name"] != reading.READ
    ]
    path.write_text(json.dumps(old), encoding="utf-8")
    assert Agent(ReplayProvider(str(path)), browsing.project()).run("go").text == "hi"


def test_without_tools_nothing_is_declared(browsing: Bench) -> None:
    agent = browsing.agent("hi", tools=[])
    assert list(agent._loop.tools) == []


def test_a_tool_of_that_name_is_the_users_own(browsing: Bench) -> None:
    browsing.tool("read_result", lambda text: text.upper(), schema=TEXT)
    agent = browsing.agent([call("read_result", {"text": "mine"})], "x")
    assert [tool.name for tool in agent._loop.tools if tool.name == "read_result"] == [  # type: ignore[union-attr]  # none are data here
        "read_result"
    ]
    assert agent.run("go").calls[0].outcome.result == "MINE"


def test_a_model_that_takes_no_more_tools_is_told_of_no_other(browsing: Bench) -> None:
    for number in range(126):
        browsing.tool(f"t{number}")
    assert len(browsing.agent("x", tools_mode="all")._loop.tools) == 128


def test_through_a_bridge_the_same(browsing: Bench) -> None:
    agent = browsing.agent(
        {
            "match": {"tools": ["search_tools", "read_result"]},
            "tool_calls": [call("call_tool", {"name": "page", "arguments": {}})],
        },
        [call("call_tool", {"name": "send", "arguments": {"text": {"$result": "r1"}}})],
        "x",
        tools_mode="bridge",
    )
    assert agent.run("go").calls[1].outcome.result == len(LONG)


def test_what_only_reads_results_asks_nobody(browsing: Bench) -> None:
    agent = browsing.agent(
        [call("page")], [call("read_result", {"handle": "r1"})], "x", approve="read-only"
    )
    run = agent.run("go")
    assert run.calls[1].outcome.ok and len(results(run.messages)[1][1]) <= 40_000
