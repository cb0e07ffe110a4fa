"""What each API refuses of a definition that is right in itself."""

from pathlib import Path
from typing import Any

import pytest

from tests.features.lint.judging import (
    corpus_subjects,
    errors_in_own_shape,
    found_by,
    rules_of,
    subject,
)
from vespe.features.lint.rules import portability

RULES = rules_of(portability)
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "additionalProperties": False}


def said(**parts: Any) -> list[tuple[str, str | None, str | None, str]]:
    return [
        (code.removeprefix("portability-"), f.target, f.severity, f.pointer)
        for code, f in found_by(RULES, subject(**parts))
    ]


@pytest.mark.parametrize(
    ("name", "refusers"),
    [
        ("get_weather", set()),
        ("get-weather2", set()),
        ("weather.get", {"openai", "anthropic"}),
        ("weather:get", {"openai", "anthropic", "mcp"}),
        ("get weather", {"openai", "anthropic", "gemini", "mcp"}),
        ("wetter_für", {"openai", "anthropic", "gemini", "mcp"}),
        ("2fast", {"gemini"}),
        ("-x", {"gemini"}),
        ("name\n", {"openai", "anthropic", "gemini", "mcp"}),
    ],
)
def test_a_name_is_refused_by_the_apis_whose_alphabet_it_leaves(
    name: str, refusers: set[str]
) -> None:
    assert {
        target for code, target, _, _ in said(api="ollama", name=name) if code == "name"
    } == refusers


def test_mcp_asks_for_its_alphabet_and_refuses_nothing() -> None:
    assert ("name", "mcp", "warning", "") in said(api="ollama", name="a b")


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (64, {}),
        (65, {"openai": "error", "anthropic": "error", "gemini": "error"}),
        (129, {"openai": "error", "anthropic": "error", "gemini": "error", "mcp": "warning"}),
    ],
)
def test_a_name_is_too_long_for_each_api_from_its_own_length_on(
    length: int, expected: dict[str, str]
) -> None:
    assert {
        target: severity for _, target, severity, _ in said(api="ollama", name="a" * length)
    } == expected


def test_what_the_rules_on_names_say_is_not_said_again() -> None:
    assert said(api="vespe", name="a b" * 30) == []
    assert said(api="bare", name="2 b" * 30) == [("name", "gemini", "error", "")]
    assert {target for _, target, _, _ in said(api="mcp", name="a b")} == {
        "openai",
        "anthropic",
        "gemini",
    }


def test_a_rename_that_fits_every_api_is_proposed() -> None:
    fixes = {f.fix for _, f in found_by(RULES, subject(api="ollama", name="2.wetter für"))}
    assert fixes == {"rename it, for instance _2_wetter_f_r"}
    assert {f.fix for _, f in found_by(RULES, subject(api="ollama", name="天气"))} == {
        "give it a name of letters, digits and _"
    }


@pytest.mark.parametrize("keyword", ["oneOf", "anyOf", "allOf"])
def test_alternatives_at_the_root_are_refused_by_openai_and_anthropic(keyword: str) -> None:
    schema = {**CITY, keyword: [{"required": ["city"]}]}
    found = said(input_schema=schema)
    assert found == [
        ("root-keyword", api, "error", f"/{keyword}") for api in ("openai", "anthropic")
    ]
    assert said(input_schema={**CITY, "properties": {"at": {keyword: [{"type": "string"}]}}}) == []


def test_enum_and_not_at_the_root_are_refused_by_openai_alone() -> None:
    found = said(input_schema={**CITY, "not": {"required": ["x"]}, "enum": [{}]})
    assert found == [
        ("root-keyword", "openai", "error", "/enum"),
        ("root-keyword", "openai", "error", "/not"),
    ]


def test_an_object_without_properties_is_a_warning_since_no_page_says_so() -> None:
    assert said(input_schema={"type": "object"}) == [("root-properties", "openai", "warning", "")]
    assert said(api="vespe", input_schema={"type": "object"}) == []


def test_an_argument_name_is_an_error_for_anthropic_at_the_root_and_a_warning_below() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a[b]": {"type": "string"},
            "in": {"type": "object", "properties": {"c d": {}}},
        },
    }
    found = {
        (target, severity, pointer) for _, target, severity, pointer in said(input_schema=schema)
    }
    assert ("anthropic", "error", "/properties/a[b]") in found
    assert ("anthropic", "warning", "/properties/in/properties/c d") in found
    assert {severity for target, severity, _ in found if target == "gemini"} == {"warning"}


def test_dots_and_dashes_in_argument_names_are_fine_with_anthropic() -> None:
    schema = {
        "type": "object",
        "properties": {"filter.id": {}, "a-b": {}, "x" * 64: {}, "x" * 65: {}},
    }
    assert [
        pointer for _, target, _, pointer in said(input_schema=schema) if target == "anthropic"
    ] == ["/properties/" + "x" * 65]


def test_an_array_that_says_nothing_of_its_items_is_refused_at_any_depth() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "array", "items": {"type": ["array", "null"]}},
            "b": {"type": "array", "prefixItems": []},
        },
    }
    found = said(input_schema=schema)
    assert found == [
        ("array-items", "openai", "error", "/properties/a/items"),
        ("array-items", "gemini", "info", "/properties/a/items"),
    ]


def test_a_schema_of_an_older_draft_is_judged_by_the_current_one_for_anthropic() -> None:
    draft = "http://json-schema.org/draft-07/schema#"
    tuple_items = {
        "$schema": draft,
        "type": "object",
        "properties": {"a": {"type": "array", "items": [{"type": "string"}]}},
    }
    assert said(input_schema=tuple_items) == [
        ("older-draft", "anthropic", "error", "/properties/a/items")
    ]
    assert said(input_schema={**CITY, "$schema": draft}) == []
    wrong = {**tuple_items, "properties": {"a": {"type": "dict"}}}
    assert said(input_schema=wrong) == [], (
        "what is wrong in its own draft is said by the rules on schemas"
    )


@pytest.mark.parametrize(
    ("header", "kind", "why"),
    [
        ("my region", "string", "names of HTTP headers"),
        ("", "string", "names of HTTP headers"),
        (3, "string", "names of HTTP headers"),
        ("Region", "number", "strings, integers and booleans"),
        ("Region", ["string", "object"], "strings, integers and booleans"),
    ],
)
def test_a_header_that_mcps_clients_must_reject_is_an_error(
    header: object, kind: object, why: str
) -> None:
    schema = {"type": "object", "properties": {"a": {"type": kind, "x-mcp-header": header}}}
    ((_, found),) = found_by(RULES, subject(input_schema=schema))
    assert (found.target, found.severity, found.pointer) == (
        "mcp",
        "error",
        "/properties/a/x-mcp-header",
    )
    assert why in found.message


def test_headers_are_told_apart_whatever_their_case() -> None:
    named = {"a": "Region", "b": "region", "c": "Zone"}
    schema = {
        "type": "object",
        "properties": {
            name: {"type": "string", "x-mcp-header": header} for name, header in named.items()
        },
    }
    assert said(input_schema=schema) == [("header", "mcp", "error", "/properties/b/x-mcp-header")]


@pytest.mark.parametrize(
    "schema",
    [
        None,
        True,
        [],
        "text",
        {"type": "object", "properties": []},
        {"properties": {"a": 3}},
        {"type": {}},
    ],
)
def test_nonsense_is_not_the_business_of_portability(schema: object) -> None:
    assert [code for code, _, _, _ in said(api="anthropic", input_schema=schema)] == []


@pytest.mark.parametrize("folder", ["mcp", "recorded", "docker-mcp-registry", "utcp"])
def test_no_definition_that_an_api_took_is_called_refused_by_it(shared: Path, folder: str) -> None:
    files = sorted((shared / "corpus" / "tooldefs" / folder).glob("*.json*"))
    wrong = [
        (one.name, found)
        for one in corpus_subjects(*files)
        for found in errors_in_own_shape(RULES, one)
    ]
    assert files
    assert wrong == []
