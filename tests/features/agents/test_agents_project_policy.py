"""The policy that a project's configuration and the user's make."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.features.agents.agents_on_disk import Bench, call, turn_of
from tests.support.ondisk import python_tool
from vespe import Agent, AgentOptions, EventSystem, SimulatedProvider, tool
from vespe.calls.policy import policy_for, policy_of
from vespe.errors import InvalidDocument, UsageError
from vespe.projects import project as projects
from vespe.projects import user_config


def deny_in_project(bench: Bench, rule: object) -> None:
    file = Path(projects.config_path(str(bench.root)))
    said = json.loads(file.read_bytes()) if file.exists() else {}
    file.write_text(json.dumps(said | {"approvals": {"deny": [rule]}}), encoding="utf-8")


def test_p40c_what_either_configuration_denies_is_denied_whatever_the_policy_allows(
    bench: Bench,
) -> None:
    for name in ("a", "b", "c"):
        bench.tool(name)
    user_config.set_value("approvals.deny", ["a"])
    deny_in_project(bench, "b")
    path = bench.project().call_path()
    policy = policy_of(path, policy="all")
    assert [bool(policy.why_not(path.tool(name), {})) for name in ("a", "b", "c")] == [
        True,
        True,
        False,
    ]


def test_what_runs_calls_in_a_project_says_the_policy_and_nobody_is_asked(bench: Bench) -> None:
    bench.tool("a", annotations={"readOnlyHint": True})
    bench.tool("b")
    path = bench.project().call_path()
    for runner in (path, EventSystem(path), EventSystem().bound(path)):
        policy = policy_for(runner)
        assert policy.why_not(
            path.tool("a"), {}
        ) == "" and "there is no one to ask" in policy.why_not(path.tool("b"), {})


@pytest.mark.parametrize("runner", [EventSystem(), object()])
def test_what_has_no_project_needs_a_policy(runner: object) -> None:
    with pytest.raises(UsageError, match="no policy decides"):
        policy_for(runner)


def test_a_rule_that_is_none_is_told_with_its_place(bench: Bench) -> None:
    deny_in_project(bench, 1)
    with pytest.raises(InvalidDocument, match="/approvals/deny/0"):
        policy_for(bench.project().call_path())


def test_a_conversation_that_goes_on_remembers_what_strangers_wrote(bench: Bench) -> None:
    bench.tool("fetch", annotations={"readOnlyHint": True, "openWorldHint": True})
    bench.tool("send", permissions={"network": ["x.org"]})
    projects.update_config(
        str(bench.root), lambda document: document.update({"approvals": {"flow": "deny"}})
    )
    first = bench.agent([call("fetch")], "read")
    first.run("go")
    second = bench.agent([call("send")], "done", transcript=first.transcript)
    assert [one.outcome.ok for one in second.run("on").calls] == [False] and bench.ran == ["fetch"]
    assert [one.outcome.ok for one in bench.agent([call("send")], "done").run("go").calls] == [True]


def test_what_strangers_wrote_counts_from_the_next_call_on(bench: Bench) -> None:
    bench.tool("fetch", annotations={"readOnlyHint": True, "openWorldHint": True})
    bench.tool("send", permissions={"network": ["x.org"]})
    projects.update_config(
        str(bench.root), lambda document: document.update({"approvals": {"flow": "deny"}})
    )
    result = bench.agent([call("fetch")], [call("send")], "done").run("go")
    assert [one.outcome.ok for one in result.calls] == [True, False]


def test_an_agent_of_a_project_has_the_functions_that_the_program_registered_and_runs_them_unasked(
    bench: Bench,
) -> None:
    python_tool(bench.root / ".vespe/tools/tool-count", "count", "print('the one on disk')")
    project = bench.project()
    project.register(tool(name="next")(lambda n: n + 1))
    project.register(tool(name="count")(lambda: "the program's"))
    agent = Agent(
        SimulatedProvider(
            {"turns": [turn_of([call("next", {"n": 1}), call("count")]), turn_of("done")]}
        ),
        project,
    )
    assert list(agent.tools) == ["count", "next"]
    assert [one.outcome.result for one in agent.run("go").calls] == [2, "the program's"]
    options = AgentOptions(tools=["next"])
    assert list(Agent(SimulatedProvider({"turns": []}), project, options=options).tools) == ["next"]
    assert list(
        Agent(SimulatedProvider({"turns": []}), project, options=AgentOptions(kit="program")).tools
    ) == ["count", "next"]


def test_a_rule_denies_a_function_of_the_program_as_any_other_tool(bench: Bench) -> None:
    deny_in_project(bench, "next")
    project = bench.project()
    project.register(tool(name="next")(lambda n: n + 1))
    assert not Agent(SimulatedProvider({"turns": []}), project).tools


def test_a_tool_on_disk_does_not_pass_for_a_function_of_the_program(bench: Bench) -> None:
    bench.tool("b")
    path = bench.project().call_path()
    assert "there is no one to ask" in policy_for(path).why_not(
        replace(path.tool("b"), scope="program"), {}
    )
