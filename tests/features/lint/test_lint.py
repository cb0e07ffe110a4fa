"""The table of families: codes, texts, and rules that never raise."""

import importlib
import json
import pkgutil
import re
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import render_lint
from vespe.features.lint import FAMILIES, RULES, foreign, rules, subjects
from vespe.features.lint.base import AnyRule, Bounds, Rule, SetRule, rules_in

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from(["", "object", "string", "#/a", "dict", "a.b", "https://x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "name",
                    "description",
                    "inputSchema",
                    "type",
                    "properties",
                    "required",
                    "items",
                    "enum",
                    "default",
                    "const",
                    "anyOf",
                    "allOf",
                    "oneOf",
                    "$ref",
                    "$defs",
                    "pattern",
                    "minimum",
                    "maximum",
                    "additionalProperties",
                    "examples",
                    "annotations",
                    "if",
                    "then",
                    "not",
                    "patternProperties",
                    "$schema",
                    "format",
                    "title",
                    "a",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.code)
def test_a_rule_is_told_by_its_code_and_texts(rule: AnyRule) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", rule.code)
    assert rule.severity in ("error", "warning", "info")
    assert rule.title and rule.rationale and rule.bad and rule.good and rule.bad != rule.good
    assert "\n" not in rule.title and not rule.title.endswith(".")
    assert rule.family in FAMILIES


def test_every_module_of_rules_is_in_the_table_and_no_two_rules_have_one_code() -> None:
    names = [info.name for info in pkgutil.iter_modules(rules.__path__)]
    modules = [importlib.import_module(f"{rules.__name__}.{name}") for name in names]
    assert sorted(rule.code for module in modules for rule in rules_in(module)) == sorted(RULES)
    assert [rule for family in FAMILIES.values() for rule in family] == list(RULES.values())


@settings(max_examples=200, deadline=None)
@given(JSON, st.sampled_from(["tools", "definition"]))
def test_no_rule_raises_whatever_a_definition_holds(value: Any, how: str) -> None:
    document = (
        {"tools": [value]}
        if how == "tools"
        else [{"name": "a", "description": "d", "inputSchema": value}]
    )
    data = json.dumps(document).encode()
    file = foreign.parse(data, data.decode(), path="p", kind="json")
    made = [subjects.of_definition(definition) for definition in file.definitions]
    for subject in made:
        for rule in RULES.values():
            for found in rule.check(subject) if isinstance(rule, Rule) else ():
                assert found.message
    outlines = [
        subjects.outline(subject, scope="p", linted=True, available=True)
        for subject in made
        if subject.name is not None
    ]
    for rule in RULES.values():
        if isinstance(rule, SetRule):
            assert all(
                -1 <= index < len(outlines)
                for index, _ in rule.check(outlines, Bounds(tool_budget=1))
            )


def test_the_page_of_rules_is_what_the_rules_say() -> None:
    assert render_lint.PAGE.read_text(encoding="utf-8") == render_lint.render(), "run `./dev docs`"


def test_every_rule_is_explained_by_the_command() -> None:
    for code, rule in RULES.items():
        if code in ("schema-root", "naming-characters"):
            done = subprocess.run(
                [sys.executable, "-m", "vespe", "lint", "--explain", code],
                capture_output=True,
                text=True,
                encoding="utf-8",
                check=True,
            )
            assert rule.title in done.stdout and rule.bad in done.stdout
