"""Rules on what a schema is."""

from typing import Any

import pytest

from tests.features.lint.judging import rules_of
from vespe.features.lint import foreign, subjects
from vespe.features.lint.base import Found, Rule, Subject
from vespe.features.lint.rules import schema
from vespe.features.lint.rules.schema import meant

RULES = rules_of(schema)
BY_CODE = {rule.code: rule for rule in RULES}


def definition(schema: Any, *, api: str = "mcp") -> Subject:
    made = foreign.Definition(
        api=api,
        document={},
        pointers={"": "", "input_schema": "/inputSchema"},
        name="a",
        description="d",
        input_schema=schema,
    )
    return subjects.of_definition(made)


def found(code: str, schema: Any, *, api: str = "mcp") -> list[Found]:
    rule: Rule = BY_CODE[code]
    return list(rule.check(definition(schema, api=api)))


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("dict", "object"),
        ("Float", "number"),
        ("HashMap<String, Integer>", "object"),
        ("List[int]", "array"),
        ("long", "integer"),
        ("any", ""),
        ("string", "string"),
        ("String", "string"),
        ("NoneType", "null"),
        ("widget", None),
        ("", None),
        (" tuple ", "array"),
    ],
)
def test_a_type_of_another_language_has_one_of_json_schemas(name: str, right: str | None) -> None:
    assert meant(name) == right


@pytest.mark.parametrize("kind", ["dict", "", 3, None, {}, ["string", "dict"], [[]]])
def test_a_type_that_is_none_is_found(kind: Any) -> None:
    assert (
        len(found("schema-unknown-type", {"type": "object", "properties": {"a": {"type": kind}}}))
        == 1
    )


def test_geminis_upper_case_types_are_its_own() -> None:
    schema = {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}
    assert (
        found("schema-unknown-type", schema, api="gemini")
        == found("schema-root", schema, api="gemini")
        == []
    )
    assert len(found("schema-unknown-type", schema)) == 2


@pytest.mark.parametrize(
    "schema", ["text", 3, [], True, {"type": "array"}, {"properties": {}}, {"type": ["object"]}]
)
def test_a_root_that_is_no_object_is_an_error(schema: Any) -> None:
    [one] = found("schema-root", schema)
    assert one.severity is None


@pytest.mark.parametrize("schema", [{}, None])
def test_an_empty_schema_is_a_warning_where_the_api_takes_it(schema: Any) -> None:
    assert [one.severity for one in found("schema-root", schema, api="openai")] == ["warning"]
    assert [one.severity for one in found("schema-root", schema, api="anthropic")] == [None]


def test_a_type_that_no_draft_knows_is_told_once() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "dict", "minLength": "x"}}}
    assert [one.pointer for one in found("schema-invalid", schema)] == []
    assert [one.pointer for one in found("schema-unknown-type", schema)] == ["/properties/a/type"]


def test_a_schema_is_judged_by_the_draft_that_it_names() -> None:
    schema = {"type": "object", "properties": {"a": {"items": [{"type": "string"}]}}}
    assert (
        found("schema-invalid", {**schema, "$schema": "http://json-schema.org/draft-07/schema#"})
        == []
    )
    assert len(found("schema-invalid", schema)) == 1


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}},
        {"type": "object", "properties": {"a": {"$ref": "https://example.com/a.json"}}},
        {"type": "object", "$ref": "#"},
    ],
)
def test_a_reference_that_leads_nowhere_is_an_error(schema: Any) -> None:
    assert [one.severity for one in found("schema-reference", schema)] == [None]


def test_every_kind_of_problem_belongs_to_one_rule_alone() -> None:
    schema = {
        "type": "object",
        "required": "a",
        "properties": {"a": {"pattern": "(?=a)"}, "b": {"$ref": "#/none"}, "c": {"type": "dict"}},
    }
    subject = definition(schema)
    told = [
        one
        for rule in RULES
        if rule.code not in ("schema-open", "schema-required-unknown")
        for one in rule.check(subject)
    ]
    assert len({(one.pointer, one.message) for one in told}) == len(told)
    assert {one.pointer for one in told} == {
        "/required",
        "/properties/a/pattern",
        "/properties/b/$ref",
        "/properties/c/type",
    }


@pytest.mark.parametrize(
    ("schema", "severities"),
    [
        ({"properties": {"a": {}}, "required": ["b"]}, [None]),
        ({"properties": {"a": {}}, "required": ["b"], "additionalProperties": False}, ["error"]),
        ({"required": ["b"]}, [None]),
        ({"properties": {"a": {}}, "required": ["a"], "anyOf": [{"required": ["z"]}]}, []),
        ({"allOf": [{"properties": {"b": {}}}], "required": ["b"]}, []),
        ({"patternProperties": {"^b": {}}, "required": ["b"]}, []),
        ({"properties": {"required": {"type": "array"}}}, []),
        ({"properties": [], "required": ["b"]}, []),
    ],
)
def test_a_required_name_that_nothing_describes(schema: Any, severities: list[str | None]) -> None:
    assert [
        one.severity for one in found("schema-required-unknown", {"type": "object", **schema})
    ] == severities


def test_a_property_may_be_called_like_a_keyword() -> None:
    schema = {
        "type": "object",
        "properties": {
            "options": {"type": "string"},
            "desc": {"type": "string"},
            "type": {"type": "string"},
        },
    }
    assert [
        one
        for rule in RULES
        if rule.code != "schema-open"
        for one in rule.check(definition(schema))
    ] == []


def test_an_output_that_is_no_schema_and_mcps_that_is_no_object() -> None:
    def judged(schema: Any, api: str) -> list[str | None]:
        made = foreign.Definition(
            api=api,
            document={},
            pointers={"": "", "output_schema": "/o"},
            name="a",
            description="d",
            output_schema=schema,
        )
        return [
            one.severity for one in BY_CODE["schema-output"].check(subjects.of_definition(made))
        ]

    assert judged("string", "vespe") == [None]
    assert judged({"type": "array"}, "mcp") == ["warning"]
    assert (
        judged({"type": "object"}, "mcp")
        == judged(True, "vespe")
        == judged({"type": "array"}, "vespe")
        == []
    )


def test_a_schema_that_takes_every_name_is_told_where_it_says_so() -> None:
    assert [
        one.pointer for one in found("schema-open", {"type": "object", "additionalProperties": {}})
    ] == ["/additionalProperties"]
    assert [one.pointer for one in found("schema-open", {"type": "object"})] == [""]
    assert (
        found("schema-open", {"type": "object", "unevaluatedProperties": False})
        == found("schema-open", {"type": "string"})
        == []
    )
    assert found("schema-open", {"type": "object"}, api="vespe") == []


@pytest.mark.parametrize(
    ("pattern", "severity"),
    [
        ("[a-", None),
        ("(", None),
        ("a{2,1}", None),
        ("(?=a)", "warning"),
        (r"(a)\1", "warning"),
        (r"(?<x>a)\k<x>", "warning"),
    ],
)
def test_a_malformed_pattern_is_an_error_and_one_that_looks_around_a_warning(
    pattern: str, severity: str | None
) -> None:
    schema = {"type": "object", "properties": {"a": {"pattern": pattern}}}
    assert [one.severity for one in found("schema-pattern", schema)] == [severity]
    assert [
        one.severity
        for one in found("schema-pattern", {"type": "object", "patternProperties": {pattern: {}}})
    ] == [severity]


@pytest.mark.parametrize(
    "pattern", [r"^\p{L}+$", r"^[\w.-]+@[\w-]+$", r"^\d{3}$", r"^\/a$", r"(?<year>\d{4})"]
)
def test_a_pattern_of_every_day_is_fine(pattern: str) -> None:
    assert (
        found("schema-pattern", {"type": "object", "properties": {"a": {"pattern": pattern}}}) == []
    )


@pytest.mark.parametrize(
    ("schema", "fix"),
    [
        ({"properties": {"a": {"minimum": "3"}}}, "write 3 without quotes"),
        ({"properties": {"a": {"maxLength": "many"}}}, "write a number there"),
        (
            {"properties": {"a": "string"}},
            'write a schema there: an object such as {"type": "string"}',
        ),
        (
            {"properties": {"a": {"items": "string"}}},
            'write a schema there: an object such as {"type": "string"}',
        ),
        ({"properties": {"a": {"description": 3}}}, None),
    ],
)
def test_the_fix_of_what_is_malformed_is_for_its_place(schema: Any, fix: str | None) -> None:
    assert [one.fix for one in found("schema-invalid", {"type": "object", **schema})] == [fix]
