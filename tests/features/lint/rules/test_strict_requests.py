"""What strict modes refuse of the definitions that ask for them."""

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
from vespe.features.lint.base import Found
from vespe.features.lint.rules import strict_requests
from vespe.features.lint.rules.strict_requests import strict_api

RULES = rules_of(strict_requests)
CLOSED: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}


def strict(schema: Any, api: str = "openai") -> list[Found]:
    document = {"function": {"strict": True}} if api == "openai" else {"strict": True}
    return [
        found
        for _, found in found_by(RULES, subject(api=api, input_schema=schema, document=document))
    ]


def places(schema: Any, api: str = "openai") -> list[tuple[str | None, str]]:
    return [(found.severity, found.pointer) for found in strict(schema, api)]


def with_argument(argument: dict[str, Any]) -> dict[str, Any]:
    return {**CLOSED, "properties": {"a": argument}}


@pytest.mark.parametrize(
    ("api", "document", "expected"),
    [
        ("openai", {"function": {"strict": True}}, "openai"),
        ("openai-responses", {"strict": True}, "openai"),
        ("anthropic", {"strict": True}, "anthropic"),
        ("anthropic", {"strict": False}, None),
        ("openai", {"function": {}}, None),
        ("openai", {"function": 3}, None),
        ("mcp", {"strict": True}, None),
        ("anthropic", None, None),
    ],
)
def test_strict_mode_is_asked_for_in_the_apis_own_place(
    api: str, document: Any, expected: str | None
) -> None:
    assert strict_api(subject(api=api, document=document)) == expected


@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_a_closed_schema_with_all_required_is_fine(api: str) -> None:
    assert strict(CLOSED, api) == []
    assert strict({"type": "object", "properties": {}, "additionalProperties": False}, api) == []


@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_every_object_must_be_closed(api: str) -> None:
    inner = {"type": ["object", "null"], "properties": {}}
    assert ("error", "/properties/a") in places(with_argument(inner), api)
    assert ("error", "/properties/a/additionalProperties") in places(
        with_argument({**inner, "additionalProperties": True}), api
    )


def test_openai_wants_every_property_required_and_anthropic_does_not() -> None:
    optional = {**CLOSED, "required": []}
    assert places(optional) == [("error", "")]
    assert strict(optional, "anthropic") == []
    many = {**CLOSED, "properties": {f"p{n}": {"type": "string"} for n in range(7)}}
    assert '"p4" and 2 more are not' in strict(many)[0].message


@pytest.mark.parametrize(
    "keyword",
    ["allOf", "not", "if", "then", "dependentRequired", "oneOf", "uniqueItems", "minProperties"],
)
def test_openai_refuses_these_keywords(keyword: str) -> None:
    assert ("error", f"/properties/a/{keyword}") in places(
        with_argument({"type": "string", keyword: {}})
    )


@pytest.mark.parametrize("keyword", ["patternProperties", "contains", "prefixItems"])
def test_what_openais_guide_does_not_list_is_a_warning(keyword: str) -> None:
    assert ("warning", f"/properties/a/{keyword}") in places(
        with_argument({"type": "string", keyword: {}})
    )


@pytest.mark.parametrize("keyword", ["minimum", "multipleOf", "maxLength", "maxItems"])
def test_anthropic_refuses_bounds_and_openai_takes_them(keyword: str) -> None:
    schema = with_argument({"type": "string", keyword: 3})
    assert places(schema, "anthropic") == [("error", f"/properties/a/{keyword}")]
    assert strict(schema) == []


def test_anthropic_takes_minitems_of_none_and_one() -> None:
    found = [
        places(with_argument({"type": "array", "items": {}, "minItems": least}), "anthropic")
        for least in (0, 1, 2)
    ]
    assert found == [[], [], [("error", "/properties/a/minItems")]]


def test_a_format_that_is_not_listed_is_a_warning() -> None:
    assert places(with_argument({"type": "string", "format": "uri"})) == [
        ("warning", "/properties/a/format")
    ]
    assert strict(with_argument({"type": "string", "format": "uri"}), "anthropic") == []


def test_anyof_at_the_root_is_refused_by_openai() -> None:
    assert ("error", "/anyOf") in places(
        {**CLOSED, "anyOf": [{"type": "object", "additionalProperties": False}]}
    )


@pytest.mark.parametrize(
    ("schema", "at"),
    [
        ({**CLOSED, "properties": {"a": {"$ref": "#"}}}, "/properties/a/$ref"),
        (
            {
                **CLOSED,
                "$defs": {"n": {"anyOf": [{"$ref": "#/$defs/n"}]}},
                "properties": {"a": {"$ref": "#/$defs/n"}},
            },
            "/properties/a/$ref",
        ),
        (
            {**CLOSED, "$defs": {"x": {"$ref": "#/$defs/y"}, "y": {"$ref": "#/$defs/x"}}},
            "/$defs/x/$ref",
        ),
    ],
)
def test_a_schema_that_refers_to_itself_is_refused_by_anthropic_alone(schema: Any, at: str) -> None:
    assert ("error", at) in places(schema, "anthropic")
    assert strict(schema) == []


def test_references_that_fan_out_are_followed_once_each() -> None:
    definitions = {
        f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}, {"$ref": f"#/$defs/d{n + 1}"}]}
        for n in range(60)
    }
    schema = {
        **CLOSED,
        "$defs": {**definitions, "d60": {"type": "string"}},
        "properties": {"a": {"$ref": "#/$defs/d0"}},
    }
    assert [found for found in strict(schema, "anthropic") if found.severity == "error"] == []


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = with_argument(schema)
    return schema


def test_openais_sizes_are_counted() -> None:
    assert (strict(deep(10)), len(strict(deep(11)))) == ([], 1)
    values = [f"v{n}" for n in range(1001)]
    assert places(with_argument({"type": "string", "enum": values[:1000]})) == []
    assert places(with_argument({"type": "string", "enum": values})) == [("error", "")]
    assert places(
        with_argument({"type": "string", "enum": ["x" * 60 + str(n) for n in range(251)]})
    ) == [("error", "/properties/a/enum")]
    assert places(with_argument({"type": "string", "const": "x" * 120_000})) == [("error", "")]


def test_anthropics_counts_over_all_tools_are_a_warning_where_one_passes_them_alone() -> None:
    optional = {
        "type": "object",
        "properties": {f"p{n}": {"type": "string"} for n in range(25)},
        "additionalProperties": False,
    }
    assert places(optional, "anthropic") == [("warning", "")]
    unions = {f"p{n}": {"type": ["string", "null"]} for n in range(17)}
    assert places({**CLOSED, "properties": unions, "required": list(unions)}, "anthropic") == [
        ("warning", "")
    ]


@pytest.mark.parametrize(
    "schema",
    [None, True, [], {"properties": [], "required": 3, "enum": {}, "minItems": "x", "format": 1}],
)
def test_nonsense_raises_nothing(schema: object) -> None:
    assert isinstance(strict(schema, "anthropic"), list)


def test_the_strict_tools_that_real_requests_carried_are_all_fine(shared: Path) -> None:
    given = list(
        corpus_subjects(*sorted((shared / "corpus" / "tooldefs" / "recorded").glob("*.jsonl")))
    )
    asking = [one for one in given if strict_api(one)]
    assert len(asking) >= 90
    assert [found for one in asking for found in errors_in_own_shape(RULES, one)] == []
