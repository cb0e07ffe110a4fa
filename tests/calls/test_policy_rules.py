"""Rules on calls, as a configuration writes them."""

import json
from pathlib import Path
from typing import Any

import pytest

from vespe.calls.policy_rules import own_hosts_of, read_rules, tightening
from vespe.errors import InvalidDocument
from vespe.models import JsonObject, Tool
from vespe.projects import user_config

WRITE = Tool(uid="u", name="write_file", description="", input_schema={}, scope="files")


@pytest.mark.parametrize(
    ("entry", "inputs", "matches"),
    [
        ("write_file", {}, True),
        ("write_*", {}, True),
        ("files/*", {}, True),
        ("read_file", {}, False),
        ("Write_file", {}, False),
        ({"tool": "*", "arguments": {"path": "notes/*"}}, {"path": "notes/a/b"}, True),
        ({"tool": "*", "arguments": {"path": "notes/*"}}, {"path": "/etc/passwd"}, False),
        ({"tool": "*", "arguments": {"path": "*"}}, {}, False),
        ({"tool": "*", "arguments": {"force": "true"}}, {"force": True}, True),
        ({"tool": "*", "arguments": {"argv": '*"-rf"*'}}, {"argv": ["rm", "-rf"]}, True),
        ({"tool": "*", "arguments": {"path": "a", "mode": "w"}}, {"path": "a", "mode": "r"}, False),
        ({"tool": "*", "arguments": {"path": "app/[id]/*"}}, {"path": "app/[id]/page"}, True),
        ({"tool": "*", "arguments": {"path": "app/[id]/*"}}, {"path": "app/i/page"}, False),
        ({"tool": "*", "arguments": {"path": "keys/*"}}, {"path": "notes/.././keys//a"}, True),
    ],
)
def test_a_rule_matches_by_name_and_by_every_pattern_of_its_arguments(
    entry: Any, inputs: dict[str, Any], matches: bool
) -> None:
    (rule,) = read_rules({"deny": [entry]}, path="config.json")
    assert rule.matches(WRITE, inputs) is matches


@pytest.mark.parametrize("kind", ["deny", "ask", "allow"])
@pytest.mark.parametrize(
    ("pattern", "written", "matches"),
    [
        ("1", "1.0", True),
        ("1", "1e0", True),
        ("1", "10e-1", True),
        ("1.0", "1", True),
        ("1e0", "1.0", True),
        ("1", "true", False),
        ("1", "1.5", False),
        ("1.50", "1.5", True),
        ('{"a":1,"b":2}', '{"b":2,"a":1}', True),
        ('{"b": 2, "a": 1}', '{"a":1.0,"b":2}', True),
        ('{"a":1,"b":2}', '{"a":1,"b":2,"c":3}', False),
        ('{"x":{"a":1,"b":2}}', '{"x":{"b":2.0,"a":1}}', True),
        ("[1,2]", "[1.0,2]", True),
        ("[1,2]", "[2,1]", False),
        ('*"cmd":"rm"*', '{"z":1,"cmd":"rm"}', True),
    ],
)
def test_an_argument_is_compared_by_its_value_however_it_is_written(
    kind: str, pattern: str, written: str, matches: bool
) -> None:
    (rule,) = read_rules({kind: [{"tool": "*", "arguments": {"v": pattern}}]}, path="config.json")
    assert rule.matches(WRITE, {"v": json.loads(written)}) is matches


@pytest.mark.parametrize("order", ['{"cmd":"rm","a":1}', '{"a":1,"cmd":"rm"}'])
@pytest.mark.parametrize("pattern", ['{"cmd":"rm"*', '*"cmd":"rm"}'])
def test_a_member_that_is_denied_is_so_wherever_it_stands(order: str, pattern: str) -> None:
    (rule,) = read_rules({"deny": [{"tool": "*", "arguments": {"v": pattern}}]}, path="config.json")
    assert rule.matches(WRITE, {"v": json.loads(order)})


@pytest.mark.parametrize(
    ("path", "matches"),
    [
        ("notes/a", True),
        ("notes/b/../a", True),
        ("notes/../a", False),
        ("./notes/a", False),
        ("notes/a..b", True),
    ],
)
def test_what_is_allowed_is_so_wherever_a_path_leads(path: str, matches: bool) -> None:
    (rule,) = read_rules(
        {"allow": [{"tool": "*", "arguments": {"path": "notes/*"}}]}, path="config.json"
    )
    assert rule.matches(WRITE, {"path": path}) is matches


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ([], "/approvals"),
        ({"forbid": []}, "/approvals/forbid"),
        ({"deny": "x"}, "/approvals/deny"),
        ({"ask": [1]}, "/approvals/ask/0"),
        ({"allow": [{"tool": "x", "when": "y"}]}, "/approvals/allow/0"),
        ({"allow": ["x", {"tool": "x", "arguments": {"a": 1}}]}, "/approvals/allow/1/arguments"),
    ],
)
def test_what_is_no_rule_is_refused_at_its_place(document: Any, pointer: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        read_rules(document, path="config.json")
    assert caught.value.pointer == pointer


def test_p3_a_project_may_deny_and_ask_and_allow_nothing() -> None:
    rules = read_rules({"deny": ["a"], "ask": ["b"], "allow": ["*"]}, path="")
    assert [rule.kind for rule in tightening(rules)] == ["deny", "ask"]


@pytest.mark.parametrize(
    ("kind", "pattern", "of_a_kit", "of_the_project"),
    [
        ("allow", "write_file", True, False),
        ("allow", "*", True, False),
        ("allow", "project_tools/write_file", False, True),
        ("allow", "*/write_file", True, True),
        ("allow", "files/*", True, False),
        ("ask", "write_file", True, True),
        ("deny", "write_*", True, True),
    ],
)
def test_what_is_allowed_without_a_scope_is_a_kits_tool_and_never_the_projects_own(
    kind: str, pattern: str, of_a_kit: bool, of_the_project: bool
) -> None:
    (rule,) = read_rules({kind: [pattern]}, path="")
    tools = [
        Tool(uid="t", name="write_file", description="", input_schema={}, scope=scope)
        for scope in ("files", "project_tools")
    ]
    assert [rule.matches(tool, {}) for tool in tools] == [of_a_kit, of_the_project]


def test_the_user_says_which_hosts_are_theirs_and_a_project_does_not() -> None:
    given = {"own_hosts": ["api.example.org", "[fd00::1]:443"]}
    assert read_rules(given, path="") == ()
    assert own_hosts_of(given) == ("api.example.org", "[fd00::1]:443")
    with pytest.raises(InvalidDocument, match="only allowed in your own configuration") as refused:
        read_rules(given, path="", of_user=False)
    assert refused.value.pointer == "/approvals/own_hosts"
    for wrong in ("api.example.org", [1], ["https://x.org/"], ["*.example.org"]):
        with pytest.raises(InvalidDocument, match="a list of hosts"):
            read_rules({"own_hosts": wrong}, path="")
    assert own_hosts_of({"own_hosts": "x"}) == ()


@pytest.mark.parametrize(
    ("rules", "hint"),
    [
        ({"ask": 3}, "`vespe config set approvals.ask VALUE` corrects it"),
        ({"deny": ["a", {}]}, "`vespe config set approvals.deny --unset` removes it"),
        ({"own_hosts": "a"}, "`vespe config set approvals.own_hosts VALUE` corrects it"),
        ({"asks": ["a"]}, "`vespe config set approvals.asks --unset` removes it"),
        ({"a.b": []}, ""),
    ],
)
def test_rules_of_the_user_that_are_wrong_come_with_the_command_that_repairs_them(
    rules: JsonObject, hint: str, home: Path
) -> None:
    with pytest.raises(InvalidDocument) as caught:
        read_rules(rules, path="/config.json")
    assert hint in caught.value.hint
    assert bool(caught.value.hint) is bool(hint)
    with pytest.raises(InvalidDocument) as of_project:
        read_rules(rules, path="/config.json", of_user=False)
    assert of_project.value.hint == ""
    file = Path(user_config.config_path())
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"approvals": rules}), encoding="utf-8")
    for key in rules:
        if "." not in key:
            user_config.unset_value(f"approvals.{key}")
            assert user_config.load_user_config().approvals == {}
