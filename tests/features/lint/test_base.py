"""The shapes that rules are made of: frozen, and small enough to keep 10,000 of."""

import dataclasses
import subprocess
import sys
from collections.abc import Iterator

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
    rule,
    set_rule,
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


TEXTS = """A title.

    Why it matters,
    in two lines.

    Bad: {"a":
    1}
    Good: {}
    """


def nothing(_: Subject) -> Iterator[Found]:
    return iter(())


def test_a_rule_is_its_function_with_the_texts_of_the_docstring() -> None:
    nothing.__doc__ = TEXTS
    made = rule("safety-x", "warning", targets=frozenset(("mcp",)))(nothing)
    assert (made.code, made.family, made.severity) == ("safety-x", "safety", "warning")
    assert (made.title, made.rationale) == ("A title", "Why it matters, in two lines.")
    assert (made.bad, made.good) == ('{"a": 1}', "{}")
    assert (made.check, made.targets) == (nothing, frozenset(("mcp",)))


def test_a_rule_over_sets_is_made_alike() -> None:
    def check(_: object, __: Bounds) -> Iterator[tuple[int, Found]]:
        return iter(())

    check.__doc__ = TEXTS
    made = set_rule("sets-x", "error")(check)
    assert (made.family, made.severity, made.title, made.check) == (
        "sets",
        "error",
        "A title",
        check,
    )


@pytest.mark.parametrize(
    "docstring",
    [
        "",
        "A title.",
        "A title.\n\nWhy.\n\nBad: a",
        "A title.\n\nBad: a\nGood: b",
        "A title\n\nWhy.\n\nBad: a\nGood: b",
        "A title.\n\nWhy.\n\nGood: b\nBad: a",
    ],
)
def test_a_docstring_without_one_of_its_parts_is_refused_by_the_rules_name(docstring: str) -> None:
    nothing.__doc__ = docstring
    with pytest.raises(ValueError, match="the docstring of the rule safety-x must be a title"):
        rule("safety-x", "warning")(nothing)


def test_a_code_that_begins_with_no_family_is_refused() -> None:
    nothing.__doc__ = TEXTS
    with pytest.raises(ValueError, match="the code of the rule odd-x begins with none of layout"):
        rule("odd-x", "warning")(nothing)


def test_without_docstrings_a_rule_is_known_by_its_code() -> None:
    done = subprocess.run(
        [sys.executable, "-OO", "-c", "from vespe.features.lint import RULES; print(*RULES)"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    assert "schema-root" in done.stdout.split()
