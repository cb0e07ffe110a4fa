"""An agent in a project."""

import threading
from pathlib import Path

import pytest

from tests.conversation.agents_on_disk import Bench, call
from vespe import Agent, AgentOptions, run_loop
from vespe.errors import InvalidDocument, NotTrusted
from vespe.providers.simulated import SimulatedProvider
from vespe.trust import untrust


class Silent(SimulatedProvider):
    """Notes that it was asked."""

    asked = 0

    def send(self, payload: dict[str, object], *, cancel: threading.Event | None = None):  # type: ignore[no-untyped-def]  # as inherited
        self.asked += 1
        return super().send(payload, cancel=cancel)


def test_p01_nothing_is_sent_from_a_project_that_is_not_trusted(bench: Bench) -> None:
    untrust(bench.root)
    provider = Silent({"turns": [{"text": "hello"}]})
    with pytest.raises(NotTrusted):
        run_loop(provider, "go", project=str(bench.root))
    assert provider.asked == 0


def test_p01_trust_that_is_taken_back_in_a_conversation_ends_it(bench: Bench) -> None:
    agent = bench.agent("hello", "again")
    assert agent.run("one").text == "hello"
    untrust(bench.root)
    with pytest.raises(NotTrusted):
        agent.run("two")


def test_a_conversation_goes_on_with_its_system_prompt_said_once(bench: Bench) -> None:
    agent = bench.agent("one", "two", system="Be brief.")
    agent.run("a")
    assert [message["role"] for message in agent.run("b").messages] == ["system", "user", "assistant", "user", "assistant"]


def test_the_model_is_shown_the_tools_that_were_chosen(bench: Bench) -> None:
    for name in ("a", "b"):
        bench.tool(name)
    match = {"match": {"tools": ["a", "b"]}, "text": "both"}
    assert bench.agent(match).run("go").text == "both"
    assert list(bench.agent("x", tools=["b"]).tools) == ["b"]


def test_p03_a_projects_configuration_denies_and_never_allows(bench: Bench) -> None:
    bench.tool("write")
    (bench.root / ".vespe/config.json").write_text('{"approvals": {"allow": ["*"]}}', encoding="utf-8")
    bench.agent([call("write")], "end", approve="ask").run("go")
    assert bench.ran == []
    (bench.root / ".vespe/config.json").write_text('{"approvals": {"deny": ["write"]}}', encoding="utf-8")
    bench.agent([call("write")], "end", approve="all").run("go")
    assert bench.ran == []


def test_a_rule_that_is_none_is_refused_before_anything_is_sent(bench: Bench) -> None:
    (bench.root / ".vespe/config.json").write_text('{"approvals": {"deny": [7]}}', encoding="utf-8")
    with pytest.raises(InvalidDocument, match=r"config\.json"):
        bench.agent("x")


def test_the_project_may_be_a_path_or_the_one_that_is_found_from_here(bench: Bench) -> None:
    for project in (str(bench.root), None):
        agent = Agent(SimulatedProvider({"turns": [{"text": "hi"}]}), project, options=AgentOptions(stream=False))
        assert agent.run("go").text == "hi" and Path(agent.path.workspace.root) == bench.root
