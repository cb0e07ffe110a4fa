"""A tool's inputs on one line, and as a command to copy."""

from pathlib import Path
from typing import Any

import pytest

from vespe.cli.signature import example, members, signature

ROOT = Path(__file__).resolve().parents[2]


def schema(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (schema(["b"], a={"type": "number"}, b={"type": "number"}), "b, a?"),
        (schema([], op={"enum": ["add", "mul"], "default": "mul"}), "op=mul|add"),
        (schema(["op"], op={"enum": ["add", "mul"]}), "op=(add|mul)"),
        (schema([], mode={"enum": ["cached"]}), "mode?=(cached)"),
        (schema([], sep={"type": "string", "default": ", "}), 'sep=", "'),
        (schema([], pair={"type": "string", "default": "a=b"}), 'pair="a=b"'),
        (
            schema(
                [],
                deep={"type": "boolean", "default": False},
                note={"type": "string", "default": ""},
            ),
            'deep=false, note=""',
        ),
        (schema(["one"], one={"enum": [f"word{i}" for i in range(9)]}), "one=(word0|…)"),
        (schema(["odd"], odd=True), "odd"),
        ({"type": "object"}, ""),
    ],
)
def test_inputs_are_named_with_what_a_caller_may_leave_out(
    given: dict[str, Any], said: str
) -> None:
    assert signature(given) == said


def test_the_example_has_every_required_input_in_a_type_that_fits() -> None:
    given = schema(
        ["a", "on", "q"],
        a={"type": "integer"},
        on={"type": "boolean"},
        q={"type": "string"},
        extra={"type": "string"},
    )
    assert example("calc", given) == "vespe tool run calc a=1 on=true q=TEXT"
    assert (
        example("mean", schema(["n"], n={"type": "array", "items": {"type": "number"}}))
        == "vespe tool run mean 'n=[1]'"
    )
    assert (
        example("buy", schema(["items"], items={"type": "array", "items": {"type": "string"}}))
        == """vespe tool run buy 'items=["TEXT"]'"""
    )
    assert (
        example("say", schema(["to"], to={"type": "string", "examples": ["the world"]}))
        == "vespe tool run say 'to=the world'"
    )


def test_the_example_of_an_object_has_its_required_members() -> None:
    item = schema(["name", "net"], name={"type": "string"}, net={"type": "number"}, note={})
    given = schema(["item"], item={"$ref": "#/$defs/item"}) | {"$defs": {"item": item}}
    assert example("price", given) == """vespe tool run price 'item={"name":"TEXT","net":1}'"""
    given = schema(["rows"], rows={"type": "array", "items": item})
    assert example("sum", given) == """vespe tool run sum 'rows=[{"name":"TEXT","net":1}]'"""
    given = schema(["x"], x={"type": "object"})
    assert example("any", given) == "vespe tool run any 'x={}'"


def test_an_example_ends_where_a_schema_leads_to_itself() -> None:
    node = schema(["next"], next={"$ref": "#/$defs/node"})
    given = schema(["node"], node={"$ref": "#/$defs/node"}) | {"$defs": {"node": node}}
    assert example("walk", given).startswith("""vespe tool run walk 'node={"next":{""")
    assert members({"$ref": "#"}, {"$ref": "#"}) is None


@pytest.mark.parametrize("page", ["README.md", "docs/guide.md"])
def test_the_docs_explain_each_mark_of_a_signature(page: str) -> None:
    marks = schema(
        ["path", "mode"],
        path={"type": "string"},
        mode={"enum": ["fast", "exact"]},
        line_count={"type": "integer"},
        limit={"default": 100},
        op={"enum": ["add", "mul"], "default": "add"},
    )
    text = (ROOT / page).read_text(encoding="utf-8").replace("\\|", "|")
    for mark in signature(marks).split(", "):
        assert f"`{mark}`" in text, mark
