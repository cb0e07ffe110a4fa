"""The shapes that rules are made of: frozen, and small enough to keep 10,000 of."""

import dataclasses

import pytest

from vespe.features.lint.base import (
    Bounds,
    Found,
    Node,
    Outline,
    Rule,
    SchemaProblem,
    SetRule,
    Subject,
    safety_warning,
)


@pytest.mark.parametrize("shape", [Bounds, Found, Outline, Rule, SetRule, Subject])
def test_a_shape_is_frozen_and_takes_keywords_alone(shape: type) -> None:
    assert dataclasses.is_dataclass(shape)
    assert all(field.kw_only for field in dataclasses.fields(shape))
    assert hasattr(shape, "__slots__")
    with pytest.raises(dataclasses.FrozenInstanceError):
        Bounds().tool_budget = 1  # type: ignore[misc]  # what is tested


def test_what_is_found_is_about_the_whole_unless_it_says_a_part() -> None:
    found = Found(message="m")
    assert (found.part, found.pointer, found.severity, found.file) == ("", "", None, None)


def test_nodes_and_problems_are_plain_rows() -> None:
    assert Node("input_schema", "/a", {}, 1, ("a",)).steps == ("a",)
    assert SchemaProblem("input_schema", "/a", "m")[1] == "/a"


def test_a_warning_of_the_safety_family_is_made_of_its_words_and_examples() -> None:
    rule = safety_warning(
        "safety-x", ("Title", "Why."), examples=("bad", "good"), check=lambda _: iter(())
    )
    assert (rule.family, rule.severity, rule.title, rule.rationale, rule.bad, rule.good) == (
        "safety",
        "warning",
        "Title",
        "Why.",
        "bad",
        "good",
    )
