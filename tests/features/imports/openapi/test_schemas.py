"""Schemas of every version as what a call sends."""

import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.descriptions import body_of, described, imported, tool_of
from vespe.schemas.validator import Validator


def test_recursion_stays_a_reference(tmp_path: Path) -> None:
    node = {
        "type": "object",
        "properties": {
            "children": {"type": "array", "items": {"$ref": "#/components/schemas/Node"}}
        },
    }
    made = body_of(
        {"$ref": "#/components/schemas/Node"}, tmp_path, components={"schemas": {"Node": node}}
    )
    assert made["$ref"] == "#/$defs/Node"
    assert made["$defs"]["Node"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Node"}


def test_what_only_a_server_sets_is_not_asked_for(tmp_path: Path) -> None:
    base = {
        "type": "object",
        "required": ["id", "name"],
        "properties": {"id": {"type": "string", "readOnly": True}, "name": {"type": "string"}},
    }
    made = body_of(base, tmp_path)
    assert (made["required"], list(made["properties"])) == (["name"], ["name"])
    split = {"allOf": [{"$ref": "#/components/schemas/Base"}, {"required": ["id", "name"]}]}
    assert body_of(split, tmp_path, components={"schemas": {"Base": base}})["allOf"][1][
        "required"
    ] == ["name"]


def test_what_only_a_caller_sets_stays(tmp_path: Path) -> None:
    assert (
        "secret"
        in body_of(
            {"type": "object", "properties": {"secret": {"type": "string", "writeOnly": True}}},
            tmp_path,
        )["properties"]
    )


PETS = {
    "Cat": {"type": "object", "properties": {"lives": {"type": "integer"}}},
    "Dog": {"type": "object", "properties": {"bark": {"type": "string"}}},
}


def test_a_discriminator_says_of_each_variant_which_value_is_its_own(tmp_path: Path) -> None:
    refs = [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}]
    said = {
        "oneOf": refs,
        "discriminator": {"propertyName": "kind", "mapping": {"kitty": "#/components/schemas/Cat"}},
    }
    made = body_of(said, tmp_path, components={"schemas": PETS})
    judge = Validator(made)
    assert judge.is_valid({"kind": "kitty", "lives": 9})
    assert judge.is_valid({"kind": "Dog", "bark": "wuff"})
    assert not judge.is_valid({"lives": 9})


def test_a_discriminator_deep_in_a_body_is_kept(tmp_path: Path) -> None:
    said = {
        "oneOf": [{"$ref": "#/components/schemas/Cat"}],
        "discriminator": {"propertyName": "kind"},
    }
    made = body_of(
        {"type": "object", "properties": {"pet": {"type": "array", "items": said}}},
        tmp_path,
        components={"schemas": PETS},
    )
    assert not Validator(made).is_valid({"pet": [{"lives": 1}]})
    assert Validator(made).is_valid({"pet": [{"lives": 1, "kind": "Cat"}]})


@pytest.mark.parametrize("version", ["2.0", "3.0.3"])
def test_variants_that_extend_a_schema_are_found(tmp_path: Path, version: str) -> None:
    place = "definitions" if version == "2.0" else "components"
    where = "#/definitions" if version == "2.0" else "#/components/schemas"
    told: Any = "kind" if version == "2.0" else {"propertyName": "kind"}
    pet = {
        "type": "object",
        "discriminator": told,
        "required": ["kind"],
        "properties": {"kind": {"type": "string"}},
    }
    cat = {
        "allOf": [
            {"$ref": f"{where}/Pet"},
            {"type": "object", "required": ["lives"], "properties": {"lives": {"type": "integer"}}},
        ]
    }
    schemas = {"Pet": pet, "Cat": cat}
    body = (
        {"parameters": [{"in": "body", "name": "b", "schema": {"$ref": f"{where}/Pet"}}]}
        if version == "2.0"
        else {
            "requestBody": {"content": {"application/json": {"schema": {"$ref": f"{where}/Pet"}}}}
        }
    )
    more: Any = {place: schemas} if version == "2.0" else {place: {"schemas": schemas}}
    whole = tool_of(body, tmp_path, version=version, **more).document["schema"]["input"]
    assert Validator(whole).is_valid({"body": {"kind": "Cat", "lives": 9}})
    assert not Validator(whole).is_valid({"body": {"kind": "Cat"}})


def test_a_schema_too_large_for_a_tool_is_left_open_where_it_must_and_said(tmp_path: Path) -> None:
    texts = {f"p{number}": {"type": "string"} for number in range(50)}
    after = [{"$ref": f"#/components/schemas/S{number + 1}"} for number in range(40)]
    schemas = {
        f"S{number}": {"type": "object", "properties": {**texts, "next": after[number]}}
        for number in range(40)
    }
    schemas["S40"] = {}
    made = tool_of(
        {
            "requestBody": {
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}
            }
        },
        tmp_path,
        components={"schemas": schemas},
    )
    assert any("too large" in note for note in made.notes)
    assert "p0" in made.document["schema"]["input"]["$defs"]["S0"]["properties"]


def test_a_hostile_schema_ends_soon(tmp_path: Path) -> None:
    doubling = {
        f"S{n}": {"allOf": [{"$ref": f"#/components/schemas/S{n + 1}"}] * 2} for n in range(60)
    } | {"S60": {"type": "object"}}
    circle = {"A": {"$ref": "#/components/schemas/B"}, "B": {"$ref": "#/components/schemas/A"}}
    wide = {"W": {"oneOf": [{"$ref": "#/components/schemas/W"}] * 500}}
    deep: Any = {"type": "string"}
    for _ in range(60):
        deep = {"type": "object", "properties": {"x": deep}}
    schemas = {**doubling, **circle, **wide, "Deep": deep}
    paths = {
        f"/{name}": {
            "post": {
                "requestBody": {
                    "content": {
                        "application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}
                    }
                }
            }
        }
        for name in ("S0", "A", "W", "Deep")
    }
    began = time.process_time()
    made = imported(described(paths, components={"schemas": schemas}), tmp_path)
    assert len(made.tools) + len(made.left_out) == len(paths)
    assert time.process_time() - began < 2
