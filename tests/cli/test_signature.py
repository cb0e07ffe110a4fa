"""A tool's inputs on one line, and as a command to copy."""

from typing import Any

import pytest

from vespe.cli.signature import example, signature


def schema(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (schema(["b"], a={"type": "number"}, b={"type": "number"}), "b, a?"),
        (schema([], op={"enum": ["add", "mul"], "default": "mul"}), "op=mul|add"),
        (schema(["op"], op={"enum": ["add", "mul"]}), "op=add|mul"),
        (
            schema(
                [],
                deep={"type": "boolean", "default": False},
                note={"type": "string", "default": ""},
            ),
            'deep=false, note=""',
        ),
        (schema(["one"], one={"enum": [f"word{i}" for i in range(9)]}), "one=word0|…"),
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
