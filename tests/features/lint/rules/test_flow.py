"""Tools that together can carry private data away; agentdojo's suites are the judge."""

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.features.agents.agents_on_disk import Bench, call
from tests.features.lint.judging import set_rules_of
from vespe.calls.policy_rules import read_rules
from vespe.features.lint.audit import Audit, flows
from vespe.features.lint.base import Bounds, Outline
from vespe.features.lint.rules import flow
from vespe.features.lint.rules.flow import Flow, drawn, flow_of
from vespe.features.lint.settings import Settings
from vespe.projects import project as projects
from vespe.projects import user_config
from vespe.projects.init import found_project

RULES = set_rules_of(flow)
ROOT = Path(__file__).resolve().parents[4]
SUITES = json.loads((ROOT / "tests/cases/agentdojo/suites.json").read_text(encoding="utf-8"))


def one(name: str, *effects: str, **more: Any) -> Outline:
    return Outline(
        name=name,
        description="",
        parameters=(),
        size=1,
        effects=dict.fromkeys(effects, "so"),
        **more,
    )


INBOX, PAGE, SEND = (
    one("read_inbox", "reads_private"),
    one("get_page", "reads_untrusted"),
    one("send", "sends_out", "writes"),
)
ALL = ("reads_private", "reads_untrusted", "sends_out")


def guarded(**said: Any) -> Bounds:
    return Bounds(guards=tuple(rule for rule in read_rules(said, path="") if not rule.arguments))


def found(*outlines: Outline, bounds: Bounds | None = None) -> Flow | None:
    return flow_of(outlines, bounds or Bounds())


def test_the_three_legs_together_are_found_with_the_cheapest_cut() -> None:
    flow = found(INBOX, PAGE, SEND, one("post", "sends_out", "writes"))
    assert flow and [tool.name for tool in flow.tools][:2] == ["read_inbox", "get_page"]
    assert [tool.name for tool in flow.cut] == ["send", "post"] and flow.leg == "sends_out"


@pytest.mark.parametrize("missing", [INBOX, PAGE, SEND])
def test_two_legs_carry_nothing_away(missing: Outline) -> None:
    assert found(*(tool for tool in (INBOX, PAGE, SEND) if tool is not missing)) is None


@pytest.mark.parametrize(
    "said", [{"ask": ["send"]}, {"deny": ["get_*"]}, {"ask": ["kit/read_inbox"]}]
)
def test_who_is_asked_or_denied_has_no_leg(said: Any) -> None:
    tools = (one("read_inbox", "reads_private", scope="kit"), PAGE, SEND)
    assert found(*tools) and found(*tools, bounds=guarded(**said)) is None


def test_a_rule_about_some_arguments_is_no_cut_and_one_that_allows_neither() -> None:
    assert found(
        INBOX, PAGE, SEND, bounds=guarded(ask=[{"tool": "send", "arguments": {"to": "*"}}])
    )
    assert found(INBOX, PAGE, SEND, bounds=Bounds(flow_guarded=True)) is None


def test_many_ways_out_are_cut_where_the_fewest_are() -> None:
    ways = [one(f"out{number}", "sends_out", "writes") for number in range(9)]
    flow = found(INBOX, PAGE, *ways)
    assert (
        flow and flow.leg == "reads_untrusted" and [tool.name for tool in flow.cut] == ["get_page"]
    )


def test_a_tool_that_models_do_not_see_has_no_leg() -> None:
    assert found(INBOX, PAGE, one("send", "sends_out", available=False)) is None


def test_what_is_needed_grows_with_the_tools_and_not_with_their_pairs() -> None:
    readers = [one(f"read_{n}", "reads_private", "reads_untrusted") for n in range(1000)]
    senders = [one(f"send_{n}", "sends_out") for n in range(1000)]
    tracemalloc.start()
    try:
        flow = found(*readers, *senders)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert flow is not None and len(flow.cut) == 1000
    assert peak < 8 * 1024 * 1024


def test_one_tool_may_be_two_legs() -> None:
    flow = found(one("read_inbox", "reads_private", "reads_untrusted"), SEND)
    assert flow and "read_inbox" in drawn(flow) and '"approvals": {"ask": ["send"]}' in drawn(flow)


def test_one_host_may_hold_what_is_private_and_what_strangers_wrote() -> None:
    assert found(one("get_repo", *ALL, scope="kit"), one("get_issue", *ALL, scope="kit"))
    assert found(one("post", *ALL, "writes")) is None


def test_it_is_an_error_where_all_three_are_stated_and_a_warning_where_one_is_assumed() -> None:
    bounds = Bounds(has_project=True)
    guess = one("read_inbox", "reads_private", assumed=frozenset({"reads_private"}))
    ((_, assumed),) = RULES[0].check((guess, PAGE, SEND), bounds)
    assert assumed.severity == "warning" and "state `effects` in the config.json" in (
        assumed.fix or ""
    )
    ((_, stated),) = RULES[0].check((guess, INBOX, PAGE, SEND), bounds)
    assert stated.severity is None and "read_inbox" in stated.message


def test_the_rule_names_the_three() -> None:
    ((index, said),) = RULES[0].check((INBOX, PAGE, SEND), Bounds())
    assert (
        index == -1
        and all(name in said.message for name in ("read_inbox", "get_page", "send"))
        and said.fix
    )


@pytest.fixture
def bench(home: Path, tmp_path: Path) -> Bench:
    found_project(tmp_path)
    return Bench(tmp_path)


def fill(bench: Bench, suite: str) -> None:
    for tool in SUITES[suite]["tools"]:
        schema = {"type": "object", "properties": {name: {} for name in tool["arguments"]}}
        bench.tool(tool["name"], lambda **_: "done", schema=schema, description=tool["description"])


def judged(root: Path) -> list[str]:
    return [one.message for one in Audit(Settings(select=("flow",))).findings([str(root)])]


def graves(root: Path) -> list[str]:
    return [one.severity for one in Audit(Settings(select=("flow",))).findings([str(root)])]


@pytest.mark.parametrize("suite", SUITES)
def test_a_suite_is_flagged_and_with_the_cut_the_injected_call_is_asked_for(
    bench: Bench, suite: str
) -> None:
    fill(bench, suite)
    # nobody states what these tools do: it is assumed of their names
    assert graves(bench.root) == ["warning"]
    (flow,) = flows([str(bench.root)])
    cut = [tool.name for tool in flow.cut]
    projects.update_config(
        bench.root, lambda document: document.update({"approvals": {"ask": cut}})
    )
    assert judged(bench.root) == [] and SUITES[suite]["exfiltrations"]
    for task in SUITES[suite]["exfiltrations"]:
        bench.ran.clear()
        calls = [call(one["name"], one["arguments"]) for one in task["calls"]]
        result = bench.agent(calls, "done").run(task["goal"])
        asked = [one.call.name for one in result.calls if not one.outcome.ok]
        assert asked and set(asked) <= set(cut) and not set(asked) & set(bench.ran), task["task"]


@pytest.mark.parametrize("suite", SUITES)
def test_a_suite_is_safe_where_what_strangers_wrote_makes_calls_be_asked_for(
    bench: Bench, suite: str
) -> None:
    fill(bench, suite)
    projects.update_config(
        bench.root, lambda document: document.update({"approvals": {"flow": "ask"}})
    )
    assert judged(bench.root) == []
    for task in SUITES[suite]["exfiltrations"]:
        bench.ran.clear()
        reading = next(
            tool["name"]
            for tool in SUITES[suite]["tools"]
            if tool["name"].startswith(("get_unread", "get_rating", "read_", "get_web"))
        )
        calls = [call(one["name"], one["arguments"]) for one in task["calls"]]
        result = bench.agent([call(reading)], calls, "done").run(task["goal"])
        assert any(
            "strangers" in str(one.outcome.error) or "approval" in str(one.outcome.error)
            for one in result.calls
        ), task["task"]


def test_the_kits_that_ship_are_not_flagged_alone_nor_together(bench: Bench) -> None:
    kits = sorted(path.name for path in (ROOT / "kits").iterdir() if path.is_dir())
    projects.set_active(bench.root, kits)
    assert (
        judged(bench.root) == []
        and [one for kit in kits for one in judged(ROOT / "kits" / kit)] == []
    )


def test_explain_draws_the_tools_of_the_project_here(
    command: Callable[..., Any], project: Path
) -> None:
    assert "no three tools do this" in command("lint", "--explain", "flow-exfiltration").out
    made = Bench(project)
    for name in ("read_inbox", "get_webpage", "send_email"):
        made.tool(name)
    text = command("lint", "--explain", "flow-exfiltration").out
    assert (
        "──▶ the model ──▶ send_email" in text and "get_webpage" in text and "Cheapest cut" in text
    )
    told = command("lint", "--select", "flow")
    assert told.code == 0 and '"ask": ["send_email"]' in told.out and "warning" in told.out


def test_a_kit_alone_is_warned_of_what_a_project_must_answer() -> None:
    outlines = (one("read_inbox", "reads_private"), PAGE, SEND)
    ((_, alone),) = RULES[0].check(outlines, Bounds())
    ((_, within),) = RULES[0].check(outlines, Bounds(has_project=True))
    assert (alone.severity, within.severity) == ("warning", None)


def test_a_kit_that_lies_in_a_project_is_warned_as_one_that_lies_elsewhere(bench: Bench) -> None:
    fill(bench, sorted(SUITES)[0])
    kit = bench.root / "made"
    (bench.root / ".vespe/tools").rename(kit)
    (kit / "kit_config.json").write_text(
        '{"kit_id": "made", "name": "Made", "description": "D."}', encoding="utf-8"
    )
    assert [one.severity for one in Audit(Settings(select=("flow",))).findings([str(kit)])] == [
        "warning"
    ]


SETS = json.loads((ROOT / "tests/cases/flows/sets.json").read_text(encoding="utf-8"))
KEPT = ("annotations", "permissions", "secrets", "effects")


def made_of(root: Path, tools: list[dict[str, Any]]) -> None:
    for tool in tools:
        directory = root / ".vespe/tools" / f"tool-{tool['name'].lower()}"
        directory.mkdir(parents=True)
        properties = {name: {"type": "string"} for name in tool["arguments"]}
        details = (
            {"type": "http_request", "path": tool["url"], "entrypoint": tool["method"]}
            if tool["type"] == "http_request"
            else {"type": "python_script", "path": "main.py", "entrypoint": "main"}
        )
        config = {
            "uid": directory.name,
            "name": tool["name"],
            "description": f"Do {tool['name']}.",
            "schema": {"input": {"type": "object", "properties": properties}},
            "implementation_details": details,
        } | {key: tool[key] for key in KEPT if key in tool}
        (directory / "config.json").write_text(json.dumps(config), encoding="utf-8")
        (directory / "main.py").write_text("def main(**given):\n    return 1\n", encoding="utf-8")


@pytest.mark.parametrize("name", SETS["flagged"])
def test_a_set_that_could_leak_is_flagged(bench: Bench, name: str) -> None:
    given = SETS["flagged"][name]
    made_of(bench.root, given["tools"])
    assert graves(bench.root) == [given.get("severity", "warning")]


@pytest.mark.parametrize("name", SETS["benign"])
def test_a_benign_set_makes_no_error(bench: Bench, name: str) -> None:
    given = SETS["benign"][name]
    made_of(bench.root, given["tools"])
    if "own_hosts" in given:
        assert graves(bench.root) == ["warning"]
        user_config.set_value("approvals.own_hosts", given["own_hosts"])
    assert graves(bench.root) in ([[]] if given.get("silent") else [[], ["warning"]])
