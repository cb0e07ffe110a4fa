"""OpenAI's strict mode: what is rewritten, what is refused with its place, and the way back."""

from typing import Any

import pytest

from vespe.adapters.openai_strict import rewrite, without_nulls
from vespe.schemas import validator

TEXT = {"type": "string"}


def objects(properties: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **more}


def strict(properties: Any, **more: Any) -> Any:
    made, refused = rewrite(objects(properties, **more))
    assert refused == [] and validator.check_schema(made) == []
    return made


def test_every_property_is_required_and_what_was_optional_takes_null() -> None:
    made = strict(
        {"a": TEXT, "b": {"enum": ["x"]}, "c": {"type": ["integer", "null"]}, "d": TEXT},
        required=["d"],
    )
    assert made["required"] == ["a", "b", "c", "d"] and made["additionalProperties"] is False
    assert made["properties"]["a"]["type"] == ["string", "null"] and made["properties"]["b"][
        "enum"
    ] == ["x", None]
    assert (
        made["properties"]["c"]["type"] == ["integer", "null"] and made["properties"]["d"] == TEXT
    )


def test_objects_below_are_closed_too() -> None:
    rows = {
        "type": "array",
        "items": objects({"x": objects({"y": TEXT}, required=["y"])}, required=["x"]),
    }
    inner = strict({"rows": rows}, required=["rows"])["properties"]["rows"]["items"]
    assert (
        inner["additionalProperties"] is False
        and inner["properties"]["x"]["additionalProperties"] is False
    )


def test_references_stand_alone_and_their_definitions_are_rewritten() -> None:
    made = strict(
        {"a": {"$ref": "#/definitions/n", "description": "d"}, "b": {"$ref": "#/definitions/n"}},
        required=["b"],
        definitions={"n": objects({"m": {"$ref": "#/definitions/n"}})},
    )
    assert made["properties"]["a"] == {
        "anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}],
        "description": "d",
    }
    assert made["properties"]["b"] == {"$ref": "#/$defs/n"} and "definitions" not in made
    assert made["$defs"]["n"]["required"] == ["m"]


def test_what_another_keyword_says_is_said_by_it() -> None:
    made = strict(
        {
            "a": {"const": 1},
            "b": {"oneOf": [TEXT, {"type": "integer"}]},
            "c": {"allOf": [{"type": "string"}], "minLength": 1},
        },
        required=["a", "b", "c"],
    )
    assert made["properties"] == {
        "a": {"enum": [1]},
        "b": {"anyOf": [TEXT, {"type": "integer"}]},
        "c": {"type": "string", "minLength": 1},
    }


def test_what_only_narrows_or_describes_is_left_out() -> None:
    made = strict(
        {"a": {"type": "array", "items": TEXT, "uniqueItems": True, "default": [], "maxItems": 3}},
        required=["a"],
    )
    assert made["properties"]["a"] == {"type": "array", "items": TEXT, "maxItems": 3}
    assert "format" not in strict({"a": {"type": "string", "format": "color"}})["properties"]["a"]
    assert (
        strict({"a": {"type": "string", "format": "date"}})["properties"]["a"]["format"] == "date"
    )


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        (objects({"a": {}}), "/properties/a"),
        (objects({"a": {"description": "any"}}), "/properties/a"),
        (objects({"a": {"type": "array"}}), "/properties/a"),
        (objects({"a": {"type": "object"}}), "/properties/a"),
        (
            objects({"a": {"type": "object", "additionalProperties": TEXT}}),
            "/properties/a/additionalProperties",
        ),
        (objects({"a": {"type": "string", "not": {"const": "x"}}}), "/properties/a/not"),
        (objects({"a": TEXT}, patternProperties={"^x": TEXT}), "/patternProperties"),
        (objects({"a": {"minLength": 1}}), "/properties/a"),
        (objects({"a": {"$ref": "#/properties/b"}, "b": TEXT}), "/properties/a/$ref"),
        (
            objects({"a": {"allOf": [{"type": "string"}], "type": "integer"}}),
            "/properties/a/allOf/0",
        ),
        (objects({"a": {"anyOf": [TEXT], "oneOf": [TEXT]}}), "/properties/a/oneOf"),
        (objects({"a": TEXT}, anyOf=[{"required": ["a"]}]), ""),
        (objects({"a": TEXT}, required=["b"]), "/required"),
        (objects({}, additionalProperties=True), "/additionalProperties"),
        (objects({"a": {"type": "array", "items": {"type": "array"}}}), "/properties/a/items"),
    ],
)
def test_what_cannot_be_said_is_refused_with_its_place(schema: Any, pointer: str) -> None:
    refused = rewrite(schema)[1]
    assert pointer in [one.pointer for one in refused] and all(one.message for one in refused)


def test_schemas_past_the_limits_of_strict_mode_are_refused() -> None:
    deep: Any = objects({"x": TEXT})
    for _ in range(11):
        deep = objects({"x": deep})
    assert "12" in rewrite(deep)[1][0].message
    assert "5001" in rewrite(objects({f"p{number}": TEXT for number in range(5001)}))[1][0].message


def test_the_schema_that_is_given_is_not_changed() -> None:
    given = objects({"a": {"enum": ["x"]}, "b": {"anyOf": [TEXT]}})
    before = repr(given)
    rewrite(given)
    assert repr(given) == before


def test_a_null_that_stands_for_absence_is_taken_out_and_any_other_stays() -> None:
    schema = objects(
        {
            "a": TEXT,
            "b": {"type": ["string", "null"]},
            "c": {"$ref": "#/$defs/c"},
            "rows": {"type": "array", "items": objects({"x": TEXT})},
        },
        **{"$defs": {"c": {"anyOf": [TEXT, {"type": "null"}]}}},
    )
    sent = {"a": None, "b": None, "c": None, "rows": [{"x": None}, {"x": "y"}], "unknown": None}
    assert without_nulls(schema, sent) == {
        "b": None,
        "c": None,
        "rows": [{}, {"x": "y"}],
        "unknown": None,
    }
    assert sent["a"] is None


def test_required_properties_keep_their_nulls() -> None:
    assert without_nulls(objects({"a": TEXT}, required=["a"]), {"a": None}) == {"a": None}
    assert without_nulls(
        objects({"a": {}, "b": {"const": None}, "c": {"enum": ["x"]}}), dict.fromkeys("abc")
    ) == {"a": None, "b": None}
