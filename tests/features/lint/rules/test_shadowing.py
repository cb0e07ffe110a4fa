"""Whether a tool that takes another's name keeps its contract."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.features.lint.judging import set_rules_of
from vespe.features.lint.base import Bounds, Found, Outline
from vespe.features.lint.rules import shadowing

RULES = set_rules_of(shadowing)
TEXT = {"type": "string"}


def outline(
    directory: Path, inputs: dict[str, Any], *, required: tuple[str, ...] = (), **more: Any
) -> Outline:
    schema = {
        "type": "object",
        "properties": inputs,
        "required": list(required),
        "additionalProperties": False,
    }
    path = directory / f"tool-{more['scope']}"
    path.mkdir()
    config = {
        "uid": path.name,
        "name": "search",
        "description": "Search.",
        "schema": {"input": schema},
    }
    (path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    given: dict[str, Any] = {"name": "search"} | more
    return Outline(description="", parameters=(), size=1, directory=str(path), **given)


def said(*outlines: Outline) -> list[tuple[int, Found]]:
    return [row for rule in RULES for row in rule.check(outlines, Bounds())]


def test_a_new_required_input_breaks_the_contract_at_its_place_in_the_winner(
    tmp_path: Path,
) -> None:
    winner = outline(
        tmp_path, {"query": TEXT, "where": TEXT}, required=("query", "where"), scope="project_tools"
    )
    shadowed = outline(
        tmp_path, {"query": TEXT}, required=("query",), scope="web", linted=False, available=False
    )
    ((index, found),) = said(winner, shadowed)
    assert (index, found.severity, found.pointer.startswith("/schema/input")) == (
        0,
        "warning",
        True,
    )
    assert (
        "search of project_tools shadows that of web and is not compatible with it" in found.message
    )


def test_a_wider_input_keeps_it(tmp_path: Path) -> None:
    winner = outline(tmp_path, {"query": TEXT, "limit": {"type": "integer"}}, scope="project_tools")
    shadowed = outline(tmp_path, {"query": TEXT}, scope="web", available=False)
    assert said(winner, shadowed) == []


def test_between_two_kits_it_is_about_the_project(tmp_path: Path) -> None:
    winner = outline(tmp_path, {"a": TEXT}, scope="one", linted=False)
    shadowed = outline(tmp_path, {"b": TEXT}, scope="two", linted=False, available=False)
    assert [(index, found.pointer) for index, found in said(winner, shadowed)] == [(-1, "")]


def test_where_only_the_shadowed_tool_is_linted_it_is_told_there(tmp_path: Path) -> None:
    winner = outline(tmp_path, {"a": TEXT}, scope="one", linted=False)
    shadowed = outline(tmp_path, {"b": TEXT}, scope="project_tools", available=False)
    assert [index for index, _ in said(winner, shadowed)] == [1]


def test_another_default_is_told_as_undecided(tmp_path: Path) -> None:
    winner = outline(tmp_path, {"a": {**TEXT, "default": "x"}}, scope="one")
    shadowed = outline(tmp_path, {"a": {**TEXT, "default": "y"}}, scope="two", available=False)
    ((_, found),) = said(winner, shadowed)
    assert (found.severity, "cannot be decided" in found.message) == ("info", True)


@pytest.mark.parametrize("wrong", ["{", '{"name": "search"}'])
def test_a_broken_tool_is_for_other_rules(tmp_path: Path, wrong: str) -> None:
    winner = outline(tmp_path, {"a": TEXT}, scope="one")
    shadowed = outline(tmp_path, {"b": TEXT}, scope="two", available=False)
    Path(str(winner.directory), "config.json").write_text(wrong, encoding="utf-8")
    assert said(winner, shadowed) == []


def test_nothing_is_compared_where_nothing_is_shadowed(tmp_path: Path) -> None:
    one, other = (
        outline(tmp_path, {"a": TEXT}, scope="one"),
        outline(tmp_path, {"b": TEXT}, scope="two", name="find"),
    )
    assert said(one, other) == []
    assert said(outline(tmp_path, {"a": TEXT}, scope="three", available=False, api="mcp")) == []
