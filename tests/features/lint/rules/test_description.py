"""What a model is told of a tool and its arguments."""

from pathlib import Path
from typing import Any

import pytest

from tests.features.lint.judging import corpus_subjects, found_by, rules_of, subject
from vespe.features.lint.rules import description

RULES = rules_of(description)


def said(**parts: Any) -> list[tuple[str, str]]:
    return [
        (code.removeprefix("description-"), f.pointer)
        for code, f in found_by(RULES, subject(**parts))
    ]


def message(**parts: Any) -> str:
    ((_, found),) = found_by(RULES, subject(**parts))
    return found.message


@pytest.mark.parametrize(
    ("description", "document", "why"),
    [
        (None, {}, "is missing"),
        ("", {"description": ""}, "is empty"),
        (" \n", {"description": " "}, "is empty"),
    ],
)
def test_a_tool_without_description_is_told_so(
    description: str | None, document: dict[str, str], why: str
) -> None:
    assert why in message(description=description, document=document)


def test_a_description_that_is_no_text_is_told_so_at_its_place() -> None:
    given = subject(description=None, pointers={"": "", "description": "/description"})
    ((_, found),) = found_by(RULES, given)
    assert (found.part, "must be a string" in found.message) == ("description", True)


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("get_weather", "Get the weather."),
        ("getWeather", "get weather"),
        ("update_project", "Update a project"),
        ("x", "TODO"),
        ("x", "..."),
        ("x", "No description"),
        ("x", "Weather"),
        ("x", "n/a"),
    ],
)
def test_a_description_that_adds_nothing_to_the_name_is_too_short(
    name: str, description: str
) -> None:
    assert said(name=name, description=description) == [("too-short", "")]


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("get_weather", "Get the weather of a city."),
        ("click", "Clicks on the provided element"),
        ("x", "天气预报"),
        ("get_weather", "Прогноз"),
        ("now", "Tell the time."),
        ("todo", "Todo list of the project, with dates."),
    ],
)
def test_a_short_description_that_says_something_is_fine(name: str, description: str) -> None:
    assert said(name=name, description=description) == []


def test_more_than_1024_characters_are_a_warning_about_openai() -> None:
    assert said(description="tell it " * 128) == []
    ((_, found),) = found_by(RULES, subject(description="tell it " * 129))
    assert (found.target, found.severity) == ("openai", "warning")


def test_arguments_without_descriptions_are_told_at_any_depth() -> None:
    inner = {
        "type": "object",
        "properties": {"a/b": {"type": "string", "description": " "}},
        "description": "Where.",
    }
    schema = {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "at": {"type": "array", "items": inner, "description": "All."},
        },
    }
    assert said(input_schema=schema) == [
        ("argument-missing", "/properties/city"),
        ("argument-missing", "/properties/at/items/properties/a~1b"),
    ]


@pytest.mark.parametrize(
    "argument",
    [
        {"description": "A city."},
        {"$ref": "#/$defs/city"},
        {"anyOf": [{"type": "null"}, {"type": "string", "description": "A city."}]},
        {"allOf": [{"description": "A city."}]},
        True,
    ],
)
def test_an_argument_is_described_by_what_it_refers_to_and_by_its_alternatives_too(
    argument: object,
) -> None:
    schema = {
        "type": "object",
        "properties": {"a": argument},
        "$defs": {"city": {"description": "A city."}},
    }
    assert said(input_schema=schema) == []


def test_the_output_is_for_people_to_describe() -> None:
    assert said(output_schema={"type": "object", "properties": {"a": {}}}) == []


@pytest.mark.parametrize(
    "schema",
    [
        None,
        [],
        {"properties": 3},
        {"properties": {"a": 1}},
        {"properties": {"a": {"$ref": 3, "anyOf": 1, "description": 2}}},
    ],
)
def test_nonsense_raises_nothing(schema: object) -> None:
    assert isinstance(said(input_schema=schema), list)


def test_every_missing_description_that_the_leaderboards_findings_name_is_found(
    shared: Path,
) -> None:
    files = sorted(
        path
        for path in (shared / "corpus" / "tooldefs" / "bfcl").glob("*.jsonl")
        if path.name != "FINDINGS.jsonl"
    )
    named = {
        one.name
        for one in corpus_subjects(*files)
        for code, _ in found_by(RULES, one)
        if code == "description-argument-missing"
    }
    assert named == {"find_card_in_deck", "get_calories_in_recipe"}
