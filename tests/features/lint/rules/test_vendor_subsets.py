"""The subsets of JSON Schema that Gemini and Ollama read."""

from typing import Any

import pytest

from tests.features.lint.judging import found_by, rules_of, subject
from vespe.features.lint.rules import vendor_subsets

RULES = rules_of(vendor_subsets)
PARAMETERS = {"": "", "input_schema": "/parameters"}
AS_JSON_SCHEMA = {"": "", "input_schema": "/parametersJsonSchema"}


def said(schema: dict[str, Any], **parts: Any) -> list[tuple[str, str | None, str | None, str]]:
    given = subject(input_schema={"type": "object", "properties": {"a": schema}}, **parts)
    return [
        (code.removeprefix("portability-"), f.target, f.severity, f.pointer)
        for code, f in found_by(RULES, given)
    ]


BROKEN = [
    ({"type": ["string", "null"]}, "type-list", "error", "/type"),
    ({"type": "integer", "enum": [1, 2]}, "values", "error", "/enum"),
    ({"type": "string", "format": "uri"}, "values", "warning", "/format"),
    ({"type": "string", "const": "x"}, "keyword", "error", "/const"),
    ({"type": "integer", "exclusiveMinimum": 1}, "keyword", "error", "/exclusiveMinimum"),
]


@pytest.mark.parametrize(("schema", "code", "severity", "at"), BROKEN)
def test_geminis_parameters_refuse_what_openapi_lacks(
    schema: dict[str, Any], code: str, severity: str, at: str
) -> None:
    assert (code, "gemini", severity, f"/properties/a{at}") in said(
        schema, api="gemini", pointers=PARAMETERS
    )


@pytest.mark.parametrize(("schema", "code", "severity", "at"), BROKEN)
def test_what_is_sent_to_gemini_as_json_schema_is_fine(
    schema: dict[str, Any], code: str, severity: str, at: str
) -> None:
    assert [
        row for row in said(schema, api="gemini", pointers=AS_JSON_SCHEMA) if row[1] == "gemini"
    ] == []


@pytest.mark.parametrize(("schema", "code", "severity", "at"), BROKEN)
def test_in_another_shape_it_is_a_remark(
    schema: dict[str, Any], code: str, severity: str, at: str
) -> None:
    assert (code, "gemini", "info", f"/properties/a{at}") in said(schema, api="mcp")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "enum": ["a"], "format": "enum"},
        {"type": "string", "format": "date-time", "nullable": True},
        {"type": "integer", "format": "int32", "minimum": 1},
        {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        {
            "type": "object",
            "properties": {"const": {"type": "string"}},
            "propertyOrdering": ["const"],
        },
    ],
)
def test_what_gemini_knows_is_left_alone(schema: dict[str, Any]) -> None:
    assert said(schema, api="gemini", pointers=PARAMETERS) == []


def test_what_vertex_alone_takes_is_a_warning_in_geminis_own_shape_only() -> None:
    schema = {"type": "object", "additionalProperties": False}
    assert said(schema, api="gemini", pointers=PARAMETERS) == [
        ("keyword", "gemini", "warning", "/properties/a/additionalProperties")
    ]
    assert said(schema, api="gemini", pointers=AS_JSON_SCHEMA) == said(schema) == []


@pytest.mark.parametrize("word", ["$schema", "$comment", "x-note", "optional"])
def test_every_word_that_gemini_does_not_know_is_refused_in_its_own_shape(word: str) -> None:
    assert said({"type": "string", word: "x"}, api="gemini", pointers=PARAMETERS) == [
        ("keyword", "gemini", "error", f"/properties/a/{word}")
    ]


def test_all_unknown_keywords_are_told_in_one_finding_at_the_first() -> None:
    given = subject(
        input_schema={"type": "object", "not": {}, "if": {}, "properties": {"a": {"const": 1}}}
    )
    (found,) = [f for _, f in found_by(RULES, given) if f.target == "gemini"]
    assert found.message.endswith("which has no const, if, not")
    assert found.pointer == "/if"


def test_ollama_takes_one_text_as_the_roots_type() -> None:
    found = [
        f
        for _, f in found_by(
            RULES, subject(api="ollama", input_schema={"type": ["object", "null"]})
        )
    ]
    assert [(f.target, f.severity, f.pointer) for f in found if f.target == "ollama"] == [
        ("ollama", "error", "/type")
    ]


def test_ollama_takes_no_boolean_as_an_arguments_schema() -> None:
    given = subject(api="ollama", input_schema={"type": "object", "properties": {"a/b": True}})
    assert [(f.target, f.severity, f.pointer) for _, f in found_by(RULES, given)] == [
        ("ollama", "error", "/properties/a~1b")
    ]


@pytest.mark.parametrize("keyword", ["$ref", "oneOf", "allOf", "const"])
def test_ollama_leaves_some_keywords_away_but_not_inside_items(keyword: str) -> None:
    inner = {keyword: "#/x" if keyword == "$ref" else [{"type": "string"}]}
    assert ("dropped-keyword", "ollama", "warning", f"/properties/a/{keyword}") in said(inner)
    assert [row for row in said({"type": "array", "items": inner}) if row[1] == "ollama"] == []
