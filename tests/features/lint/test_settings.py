"""Which rules are asked and how grave they are."""

from typing import Any

import pytest

from vespe.features.lint import FAMILIES, RULES
from vespe.features.lint import settings as lint_settings
from vespe.features.lint.base import Found, Rule
from vespe.features.lint.settings import Settings

ROOT = RULES["schema-root"]


def portability(target: str) -> Rule:
    return Rule(
        code="portability-test",
        family="portability",
        severity="error",
        title="t",
        rationale="r",
        bad="b",
        good="g",
        check=lambda subject: iter(()),
        targets=frozenset({target}),
    )


def asked(**settings: Any) -> set[str]:
    return {rule.code for rule in Settings(**settings).rules()}


def test_every_rule_is_asked_unless_some_are_selected_or_left_out() -> None:
    assert asked() == set(RULES)
    assert asked(select=("naming",)) == {rule.code for rule in FAMILIES["naming"]}
    assert asked(select=("schema-required",)) == {"schema-required-unknown"}
    assert asked(select=("naming",), ignore=("naming-vague",)) == {
        rule.code for rule in FAMILIES["naming"]
    } - {"naming-vague"}


def test_a_beginning_of_a_code_ends_at_a_hyphen() -> None:
    assert lint_settings.unknown(["schema-req", "schema", "schema-root", "nonsense", ""]) == [
        "schema-req",
        "nonsense",
        "",
    ]


def test_targets_keep_their_own_rules_and_those_of_every_api() -> None:
    codes = asked(targets=("mcp",))
    assert "schema-root" in codes
    assert all(
        not rule.targets or "mcp" in rule.targets for code, rule in RULES.items() if code in codes
    )


@pytest.mark.parametrize(
    ("api", "targets", "expected"),
    [
        ("openai", (), "error"),
        ("openai-responses", (), "error"),
        ("mcp", (), "warning"),
        ("mcp", ("openai",), "error"),
        ("openai", ("mcp",), None),
    ],
)
def test_what_an_api_refuses_is_an_error_for_its_own_shape_and_where_it_is_a_target(
    api: str, targets: Any, expected: str | None
) -> None:
    assert (
        Settings(targets=targets).severity(portability("openai"), Found(message="m"), api=api)
        == expected
    )


def test_the_least_severity_leaves_out_what_is_less_grave() -> None:
    found = Found(message="m", severity="warning")
    assert Settings(least="warning").severity(ROOT, found, api="mcp") == "warning"
    assert Settings(least="error").severity(ROOT, found, api="mcp") is None


def test_a_configured_severity_counts_over_all_others() -> None:
    settings = Settings(severities={"schema-root": "info"})
    assert settings.severity(ROOT, Found(message="m", severity="error"), api="mcp") == "info"


@pytest.mark.parametrize(
    ("lint", "pointers"),
    [
        ({"ignore": {"a": ""}}, ["/lint/ignore/a"]),
        ({"ignore": {"a/b": 3}}, ["/lint/ignore/a~1b"]),
        ({"ignore": []}, ["/lint/ignore"]),
        ([], ["/lint"]),
        ({"ignore": {"a": "why"}}, []),
        ({}, []),
    ],
)
def test_an_ignore_needs_its_reason(lint: Any, pointers: list[str]) -> None:
    reasons, wrong = lint_settings.ignores({"lint": lint})
    assert [pointer for pointer, _ in wrong] == pointers
    assert reasons == ({"a": "why"} if lint == {"ignore": {"a": "why"}} else {})


def test_the_command_line_wins_over_a_project() -> None:
    document = {"lint": {"select": ["naming"], "targets": ["mcp"]}, "tool_budget": 5}
    settings, wrong = lint_settings.of_project(document, Settings(select=("schema",)))
    assert (settings.select, settings.targets, settings.tool_budget, wrong) == (
        ("schema",),
        ("mcp",),
        5,
        [],
    )


@pytest.mark.parametrize(
    "document",
    [
        {"lint": {"select": "naming"}},
        {"lint": {"select": ["no"]}},
        {"lint": {"targets": [3]}},
        {"lint": {"severity": []}},
        {"lint": {"severity": {"schema-root": "fatal"}}},
        {"lint": {"severity": {"no": "error"}}},
        {"lint": {"colour": 1}},
        {"lint": 3},
        {"tool_budget": True},
        {"tool_budget": 0},
        {"tool_budget": "5"},
    ],
)
def test_what_a_project_cannot_say_is_told_and_passed_over(document: Any) -> None:
    settings, wrong = lint_settings.of_project(document, Settings())
    assert len(wrong) == 1
    assert settings == Settings(has_project=True)


@pytest.mark.parametrize(
    ("target", "judge"),
    [
        ("openai-responses", "openai"),
        ("openresponses", "openai"),
        ("gemini-interactions", "gemini"),
    ],
)
def test_an_api_without_limits_of_its_own_is_judged_by_those_of_its_vendor(
    target: str, judge: str
) -> None:
    settings = Settings(targets=(target,))
    found = Found(message="m")
    assert settings.severity(portability(judge), found, api="mcp") == "error"
    assert settings.severity(portability("anthropic"), found, api="mcp") is None
    assert {rule.code for rule in settings.rules()} == {
        rule.code for rule in Settings(targets=(judge,)).rules()
    }


def test_what_only_geminis_older_api_leaves_out_is_nothing_to_its_interactions() -> None:
    found = Found(message="m", severity="info")
    for targets, told in (
        (("gemini-interactions",), None),
        (("gemini-interactions", "gemini"), "info"),
        (("gemini",), "info"),
    ):
        assert Settings(targets=targets).severity(portability("gemini"), found, api="mcp") == told
