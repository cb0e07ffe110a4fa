import pytest

from vespe.schemas import subschemas

SCHEMA = {
    "properties": {"a": {"items": {"not": True}}, "b": {"items": [{}, {}]}},
    "allOf": [{"if": {}, "then": {}}],
    "$defs": {"x": {"$anchor": "here"}},
    "dependencies": {"a": ["b"], "c": {}},
    "enum": [{"properties": {"no": {}}}],
    "default": {"not": {}},
}


def test_every_subschema_is_walked_with_its_place_and_its_depth() -> None:
    seen = {steps: depth for steps, _, depth, _ in subschemas.walk(SCHEMA, most=100)}
    assert seen == {
        (): 1,
        ("allOf", 0): 2,
        ("allOf", 0, "if"): 3,
        ("allOf", 0, "then"): 3,
        ("dependencies", "c"): 2,
        ("properties", "a"): 2,
        ("properties", "a", "items"): 3,
        ("properties", "a", "items", "not"): 4,
        ("properties", "b"): 2,
        ("properties", "b", "items", 0): 3,
        ("properties", "b", "items", 1): 3,
        ("$defs", "x"): 2,
    }


def test_a_walk_ends_at_its_bound_and_on_nonsense() -> None:
    assert len(list(subschemas.walk(SCHEMA, most=5))) == 5
    assert [
        steps
        for steps, *_ in subschemas.walk(
            {"properties": 3, "allOf": {}, "not": [], "items": 1}, most=9
        )
    ] == [()]
    assert len(list(subschemas.walk(True, most=9))) == 1


def test_an_id_begins_a_resource_of_its_own() -> None:
    inner = {"$id": "inner", "not": {}}
    owners = [resource for *_, resource in subschemas.walk({"not": inner}, most=9)]
    assert owners[1] is inner
    assert owners[2] is inner
    assert not subschemas.is_resource({"$id": "#name"})


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("#", SCHEMA),
        ("", SCHEMA),
        ("#/$defs/x", SCHEMA["$defs"]["x"]),  # type: ignore[index]  # a literal of mixed values
        ("#here", SCHEMA["$defs"]["x"]),  # type: ignore[index]  # a literal of mixed values
        ("#/properties/b/items/1", {}),
        ("#/%24defs/x", SCHEMA["$defs"]["x"]),  # type: ignore[index]  # a literal of mixed values
        ("#/properties/a/items/not", True),
        ("#there", None),
        ("#/nope", None),
        ("#/dependencies/a/0", None),
        ("#/properties/b/items/2", None),
        ("other.json", None),
        (5, None),
    ],
)
def test_a_local_reference_finds_its_subschema_or_nothing(
    reference: object, expected: object
) -> None:
    assert subschemas.References(SCHEMA).target(reference) == expected


def test_a_draft_7_anchor_in_an_id_is_found() -> None:
    assert subschemas.References({"definitions": {"a": {"$id": "#a", "type": "null"}}}).target(
        "#a"
    ) == {"$id": "#a", "type": "null"}


def test_a_schema_alone_keeps_its_own_keywords_and_opens_those_below() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "strin"}},
        "allOf": [{"x": 1}],
        "not": False,
        "required": ["a"],
    }
    alone = subschemas.without_children(schema)
    assert alone == {
        "type": "object",
        "properties": {"a": {}},
        "allOf": [{}],
        "not": {},
        "required": ["a"],
    }
    assert schema["properties"] == {"a": {"type": "strin"}}
    assert subschemas.without_children(True) is True
