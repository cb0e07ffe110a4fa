from typing import Any

import pytest

from vespe.schemas.growth import peak

LIMIT = 500


def doubling(levels: int, wrap: str = "allOf") -> dict[str, Any]:
    def step(i: int) -> dict[str, Any]:
        below = {"$ref": f"#/$defs/d{i + 1}"}
        return (
            {"allOf": [below, dict(below)]}
            if wrap == "allOf"
            else {"allOf": [{wrap: {"a": below}}, {wrap: {"a": dict(below)}}]}
        )

    return {
        "$ref": "#/$defs/d0",
        "$defs": {f"d{i}": step(i) for i in range(levels)} | {f"d{levels}": {"type": "integer"}},
    }


TWICE = {"properties": {"a": {"$ref": "#"}}}
BOMBS = {
    "doubling in place": doubling(25),
    "doubling by name": doubling(25, "properties"),
    "doubling by pattern": doubling(25, "patternProperties"),
    "recursion twice": {"allOf": [TWICE, dict(TWICE)]},
    "recursion twice by items": {"allOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}]},
    "recursion twice by prefix": {
        "allOf": [
            {"prefixItems": [{"$ref": "#"}]},
            {"items": {"$ref": "#"}, "prefixItems": [{"$ref": "#"}]},
        ]
    },
    "recursion twice by keys": {
        "allOf": [{"additionalProperties": {"$ref": "#"}}, {"unevaluatedProperties": {"$ref": "#"}}]
    },
    "recursion twice by an anchor": {
        "$anchor": "r",
        "allOf": [{"contains": {"$ref": "#r"}}, {"items": {"$ref": "#r"}}],
    },
    "recursion twice, dynamic": {
        "$dynamicAnchor": "r",
        "allOf": [{"contains": {"$dynamicRef": "#r"}}, {"items": {"$dynamicRef": "#r"}}],
    },
    "itself": {"$ref": "#"},
    "each other": {
        "$ref": "#/$defs/a",
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
    },
    "by an id": {
        "$ref": "d0",
        "$defs": {
            f"d{i}": {"$id": f"d{i}", "allOf": [{"$ref": f"d{i + 1}"}] * 2} for i in range(25)
        }
        | {"d25": {"$id": "d25"}},
    },
}


@pytest.mark.parametrize("name", BOMBS)
def test_p21_a_schema_whose_references_multiply_is_over_the_limit(name: str) -> None:
    assert peak(BOMBS[name], limit=LIMIT) == LIMIT + 1


TREE = {
    "type": "object",
    "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}, "all": {"items": {"$ref": "#"}}},
}


@pytest.mark.parametrize(
    ("schema", "judgements"),
    [
        (True, 1),
        ({}, 1),
        (TREE, 2),
        ({"required": ["a", "b"]}, 3),
        ({"allOf": [{}, {}], "not": {}}, 4),
        ({"propertyNames": {"allOf": [{}, {}]}}, 3),
        ({"$ref": "https://json-schema.org/draft/2020-12/schema"}, 51),
        ({"prefixItems": [{"allOf": [{}, {}, {}]}], "items": {"not": {}}}, 4),
    ],
)
def test_the_judgements_at_the_busiest_place_are_counted(schema: Any, judgements: int) -> None:
    assert peak(schema, limit=LIMIT) == judgements


def test_a_list_of_nodes_that_share_definitions_is_no_bomb() -> None:
    shared = {f"f{i}": {"$ref": "#/$defs/meta"} for i in range(40)}
    assert (
        peak(
            {
                "properties": shared,
                "$defs": {
                    "meta": {"properties": {"n": {"$ref": "#/$defs/s"}}, "required": ["n"]},
                    "s": {},
                },
            },
            limit=LIMIT,
        )
        < 10
    )


def test_a_dynamic_reference_is_one_place_not_all_of_its_name() -> None:
    extended = {"$id": "extended", "$dynamicAnchor": "m", "properties": {"bar": {"$ref": "bar"}}}
    bar = {"$id": "bar", "properties": {"baz": {"$dynamicRef": "extended#m"}}}
    schema = {
        "$id": "http://t/typical",
        "$dynamicAnchor": "m",
        "$ref": "extended",
        "$defs": {"e": extended, "b": bar},
    }
    assert peak(schema, limit=LIMIT) < 10
