"""Rules on names."""

from typing import Any

import pytest

from tests.features.lint.judging import rules_of
from vespe.features.lint import foreign, subjects
from vespe.features.lint.rules import naming

RULES = rules_of(naming)
BY_CODE = {rule.code: rule for rule in RULES}


def codes(name: str | None = "read_file", *, api: str = "bare", **properties: Any) -> list[str]:
    document = {} if name is None else {"name": name}
    made = foreign.Definition(
        api=api,
        document=document,
        pointers={"": ""},
        name=name,
        description="d",
        input_schema={"type": "object", "properties": properties},
    )
    return [rule.code for rule in RULES for _ in rule.check(subjects.of_definition(made))]


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("a" * 64, False),
        ("a" * 65, True),
        ("a.b", True),
        ("a b", True),
        ("é", True),
        ("a-b_C", False),
        ("9a", False),
        ("a\n", True),
    ],
)
def test_a_name_of_no_one_shape_is_judged_by_what_all_apis_take(name: str, wrong: bool) -> None:
    assert ("naming-characters" in codes(name)) is wrong


def test_an_apis_own_shape_is_left_to_its_own_rules() -> None:
    assert codes("a.b", api="openai") == codes("a.b", api="gemini") == codes("a.b", api="mcp") == []
    assert codes("a b", api="mcp") == ["naming-characters"]


@pytest.mark.parametrize("name", [None, "", "  "])
def test_a_name_that_is_missing_or_empty_is_told_once(name: str | None) -> None:
    assert codes(name) == ["naming-missing"]


def test_a_vague_name_is_told() -> None:
    assert codes("Execute") == ["naming-vague"]
    assert codes("execute_query") == []


def test_inputs_that_are_odd_alike_or_mixed_are_told() -> None:
    odd: dict[str, Any] = {"a b": {}}
    assert codes(**odd) == ["naming-input"]
    assert codes(user_id={}, userId={}) == ["naming-clash", "naming-mixed"]
    assert codes(user_id={}, page={}, x={}) == codes() == []
