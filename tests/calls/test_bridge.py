"""Three tools in the place of many, for agents and for clients of the server."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.tool_search import bridged, synthetic
from tests.features.agents.agents_on_disk import NUMBER, READ_ONLY, Bench, call, results
from vespe import Limits
from vespe.calls.bridge import OWN, Bridge
from vespe.calls.log import read as read_log
from vespe.features.agents.providers.simulated import SimulatedProvider
from vespe.features.mcp.server.selection import Selection
from vespe.features.mcp.server.tools import ServedTools
from vespe.projects import project as projects
from vespe.projects import user_config
from vespe.projects.init import found_project
from vespe.projects.workspace import open_workspace

TOO_MUCH = {"tool_budget": 10}


@pytest.fixture
def bench(home: Path, tmp_path: Path) -> Bench:
    """A project with `double` and `greet`, to be found, `status`, always exposed, and `gone`,
    never.
    """
    found_project(tmp_path)
    made = Bench(tmp_path)
    made.tool("double", lambda n: 2 * n, schema=NUMBER, description="Multiply a number by two.")
    made.tool("greet", lambda: "hello", description="Say hello to a person.")
    made.tool(
        "status", lambda: "up", description="Say whether the service runs.", annotations=READ_ONLY
    )
    made.tool("gone", description="Multiply in secret.")
    say(tmp_path, {"tools": {"status": {"expose": "always"}, "gone": {"expose": "never"}}})
    return made


def say(root: Path, said: Any) -> None:
    projects.update_config(root, lambda document: document.update(said))


def through(name: str, arguments: Any = None) -> Any:
    return call("call_tool", {"name": name, "arguments": arguments or {}})


class Watched(SimulatedProvider):
    """Keeps the tools of each request, as the vendor is sent them."""

    def __init__(self, *turns: Any) -> None:
        super().__init__({"turns": list(turns)})
        self.sent: list[str] = []

    def respond(self, messages: Any, tools: Any = None, **more: Any) -> Any:
        self.sent.append(json.dumps(self.payload(messages, tools).get("tools")))
        return super().respond(messages, tools, **more)


def run(bench: Bench, *turns: Any, **options: Any) -> Any:
    return bench.agent(*turns, **{"tools_mode": "bridge", **options}).run("go")


def told(result: Any) -> list[str]:
    return [text for _, text in results(result.messages)]


def test_a_model_searches_reads_and_calls(bench: Bench) -> None:
    result = run(
        bench,
        [call("search_tools", {"query": "multiply"})],
        [call("describe_tool", {"name": "double"})],
        [through("double", {"n": 4})],
        "8",
    )
    found, described, doubled = told(result)
    assert [one["name"] for one in json.loads(found)["tools"]] == ["double"] and doubled == "8"
    assert json.loads(described)["input_schema"]["required"] == ["n"]
    assert [one.call.name for one in result.calls] == [
        "search_tools",
        "describe_tool",
        "double",
    ] and bench.ran == ["double"]


def test_the_declared_list_is_the_same_bytes_through_a_conversation(bench: Bench) -> None:
    from vespe import Agent, AgentOptions

    turns = [
        {"tool_calls": [call("search_tools", {"query": "hello"})]},
        {"tool_calls": [through("greet")]},
        {"text": "done"},
    ]
    provider = Watched(*turns)
    Agent(provider, bench.project(), options=AgentOptions(approve="all", tools_mode="bridge")).run(
        "go"
    )
    assert len(provider.sent) == 3 and len(set(provider.sent)) == 1
    assert [one["function"]["name"] for one in json.loads(provider.sent[0])] == [
        "status",
        *OWN,
        "read_result",
    ]


@pytest.mark.parametrize(
    ("mode", "said", "declared"),
    [("all", TOO_MUCH, 3), ("auto", {}, 3), ("auto", TOO_MUCH, 4), ("bridge", {}, 4)],
)
def test_a_mode_says_what_is_declared(bench: Bench, mode: str, said: Any, declared: int) -> None:
    say(bench.root, said)
    match = {
        "match": {"tools": ["status", *OWN] if declared == 4 else ["double", "greet", "status"]},
        "text": "so",
    }
    assert run(bench, match, tools_mode=mode).text == "so"
    with ServedTools(
        open_workspace(bench.root), registry=bench.registry, selection=Selection(mode=mode)
    ) as tools:
        assert len(tools.names) == declared


def test_the_inner_call_is_approved_and_logged_under_its_own_name(bench: Bench) -> None:
    asked: list[str] = []

    def ask(question: Any) -> Any:
        from vespe import Answer

        asked.append(question.tool.name)
        return Answer(allowed=True)

    run(bench, [through("greet"), through("status")], "done", approve="ask", ask=ask)
    assert asked == ["greet"] and bench.ran == ["greet", "status"]
    assert {entry["tool"] for entry in read_log(str(bench.root))} == {"greet", "status"}


def test_what_a_rule_denies_is_denied_by_way_of_the_bridge(bench: Bench) -> None:
    user_config.set_value("approvals.deny", [{"tool": "double", "arguments": {"n": "7"}}])
    result = run(bench, [through("double", {"n": 7}), through("double", {"n": 8})], "done")
    assert [one.outcome.ok for one in result.calls] == [False, True] and bench.ran == ["double"]


def test_limits_count_the_inner_calls(bench: Bench) -> None:
    result = run(
        bench,
        [through("greet"), through("greet"), through("status")],
        "done",
        limits=Limits(max_calls_per_tool=1),
    )
    assert bench.ran == ["greet", "status"] and "limit of 1 call of 'greet'" in told(result)[1]


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (through("gone"), "no tool called 'gone'"),
        (through("doubel", {"n": 1}), "did you mean double"),
        (through("double", {"n": "x"}), "integer"),
        (call("call_tool", {"arguments": {}}), "`name` is missing"),
        (call("call_tool", {"name": "double", "arguments": "no"}), "object"),
        (call("search_tools", {}), "query"),
        (call("describe_tool", {"name": "gone"}), "gone"),
        (through("call_tool", {"name": "greet"}), "'call_tool'"),
    ],
)
def test_a_call_that_cannot_be_is_refused_in_words(bench: Bench, one: Any, why: str) -> None:
    assert why in told(run(bench, [one], "done"))[0] and bench.ran == []


def test_nulls_of_strict_mode_are_what_is_absent_for_the_bridge_too(bench: Bench) -> None:
    result = run(
        bench, [call("search_tools", {"query": "multiply", "limit": None})], "done", strict=True
    )
    assert [one["name"] for one in json.loads(told(result)[0])["tools"]] == ["double"]


def test_a_tool_that_was_found_may_be_called_by_its_name(bench: Bench) -> None:
    assert told(run(bench, [call("double", {"n": 2})], "done")) == ["4"]


def test_a_recording_of_it_is_replayed_without_running_anything(
    bench: Bench, tmp_path: Path
) -> None:
    from vespe import Agent, AgentOptions
    from vespe.features.agents.recordings import RecordingProvider, ReplayProvider

    options = AgentOptions(approve="all", tools_mode="bridge")
    inner = SimulatedProvider(
        {
            "turns": [
                {
                    "tool_calls": [
                        call("search_tools", {"query": "two"}),
                        through("double", {"n": 3}),
                    ]
                },
                {"text": "6"},
            ]
        }
    )
    recording = RecordingProvider(inner, tmp_path / "r.json")
    with Agent(
        recording,
        bench.project(),
        options=_with(
            options, on_result=lambda r: recording.record_outcome(r.call.call_id, r.outcome)
        ),
    ) as agent:
        agent.run("go")
    bench.ran.clear()
    replay = ReplayProvider(tmp_path / "r.json")
    known = _with(options, known=lambda one: replay.recorded_outcome(one.call_id))
    assert Agent(replay, bench.project(), options=known).run("go").text == "6" and bench.ran == []
    assert [
        one["outcome"]["tool"]
        for one in json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["outcomes"]
    ] == [
        "search_tools",
        "double",
    ]


def _with(options: Any, **more: Any) -> Any:
    from dataclasses import replace

    return replace(options, **more)


@pytest.fixture
def served(bench: Bench) -> Any:
    with ServedTools(
        open_workspace(bench.root), registry=bench.registry, selection=Selection(mode="bridge")
    ) as tools:
        yield tools


def serve(tools: ServedTools, name: str, arguments: Any) -> Any:
    return tools.call(name, arguments, cancel=None, progress=None)[0]


def test_a_client_of_the_server_does_the_same(served: ServedTools, bench: Bench) -> None:
    assert [one["name"] for one in served.page("2025-11-25", None)["tools"]] == sorted(
        ["status", "read_result", *OWN]
    )
    assert (
        serve(served, "search_tools", {"query": "multiply"}).result["tools"][0]["name"] == "double"
    )
    assert serve(served, "call_tool", {"name": "double", "arguments": {"n": 4}}).result == 8
    for name, arguments in (
        ("call_tool", {"name": "gone"}),
        ("call_tool", {}),
        ("call_tool", {"name": "double", "arguments": {"n": "x"}}),
    ):
        assert serve(served, name, arguments).error is not None
    assert {entry["tool"] for entry in read_log(str(bench.root))} == {"double"}


def test_what_is_denied_is_not_found_nor_called(bench: Bench) -> None:
    user_config.set_value("approvals.deny", ["double"])
    with ServedTools(
        open_workspace(bench.root), registry=bench.registry, selection=Selection(mode="bridge")
    ) as tools:
        assert serve(tools, "search_tools", {"query": "multiply"}).result["tools"] == []
        assert (
            serve(tools, "call_tool", {"name": "double", "arguments": {"n": 1}}).error is not None
        )


def test_the_list_stays_the_same_while_tools_come_and_the_new_ones_are_found(
    served: ServedTools, bench: Bench
) -> None:
    before = served.page("2025-11-25", None).text
    bench.tool("triple", lambda: 3, description="Multiply by three.")
    assert not served.refresh() and served.page("2025-11-25", None).text == before
    assert "triple" in str(serve(served, "search_tools", {"query": "three"}).result)
    assert serve(served, "call_tool", {"name": "triple"}).result == 3


def test_a_bridge_hides_a_tool_that_has_the_name_of_one_of_its_own(bench: Bench) -> None:
    tools = open_workspace(bench.root).shown().tools
    bridge = Bridge(
        {"search_tools": tools["greet"]} | dict(tools), frozenset(["search_tools", "status"])
    )
    assert (
        list(bridge.declared) == ["status", *OWN]
        and bridge.declared["search_tools"] is OWN["search_tools"]
    )
    assert (
        bridge.inner("call_tool", '{"name": "greet"}') == ("greet", {})
        and bridge.unknown("x").error is not None
    )


def test_a_bridge_costs_at_most_a_hundredth_of_the_tokens_of_a_thousand_tools() -> None:
    every, few = bridged(synthetic(1_000))
    assert few * 100 <= every
