"""Verdicts on the next version of a tool: breaking is shown, compatible holds for every value, all
else is unknown.
"""

import random
from functools import cache
from typing import Any

import jsonschema
import pytest

from tests.support.schema_pairs import pair, value
from vespe.schemas import validator
from vespe.schemas.comparison.contracts import Change, Contract, changes, verdict_of

TEXT = {"type": "string"}
CLOSED = {"type": "object", "properties": {"a": TEXT, "b": TEXT}, "required": ["a"]}


def contract(schema: Any = CLOSED, output: Any = None, **more: Any) -> Contract:
    return Contract(
        **{
            "name": "t",
            "description": "d",
            "input_schema": schema,
            "output_schema": output,
            "command": None,
            **more,
        }
    )


def with_property(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**CLOSED["properties"], **properties},  # type: ignore[dict-item]  # literal
        "required": ["a"],
    }


def told(old: Contract, new: Contract) -> list[tuple[str, str, str]]:
    return [(change.part, change.verdict, change.pointer) for change in changes(old, new)]


@cache
def pairs() -> list[tuple[int, Any, Any]]:
    """Give (seed, old, new) of 200 pairs whose both sides are schemas."""
    made = [(seed, *pair(seed)) for seed in range(260)]
    return [
        (seed, old, new)
        for seed, old, new in made
        if not validator.check_schema(old) and not validator.check_schema(new)
    ][:200]


@cache
def input_changes(seed: int) -> list[Change]:
    old, new = pair(seed)
    return changes(contract(old), contract(new))


def refused(seed: int, giver: Any, taker: Any) -> bool:
    """Whether one of many values that one schema takes is refused by the other."""
    source = random.Random(seed)
    gives, takes = (validator.compile_schema(schema, closed=False) for schema in (giver, taker))
    return any(
        gives.is_valid(one) and not takes.is_valid(one)
        for one in (value(source, giver) for _ in range(60))
    )


def test_inputs_are_never_compatible_where_the_new_schema_refuses_an_old_value() -> None:
    shown = [
        seed
        for seed, old, new in pairs()
        if refused(seed, validator.closed_schema(old), validator.closed_schema(new))
    ]
    assert [
        seed for seed in shown if verdict_of(input_changes(seed)) == "compatible"
    ] == [] and len(shown) > 50


def test_outputs_are_never_compatible_where_the_new_schema_gives_another_value() -> None:
    shown = [(seed, old, new) for seed, old, new in pairs() if refused(seed, new, old)]
    found = [
        seed
        for seed, old, new in shown
        if verdict_of(changes(contract(output=old), contract(output=new))) == "compatible"
    ]
    assert found == [] and len(shown) > 50


def test_a_breaking_change_is_shown_by_a_value_that_the_reference_judges_the_same() -> None:
    for seed, old, new in pairs():
        before, after = (
            jsonschema.Draft202012Validator(validator.closed_schema(schema))
            for schema in (old, new)
        )
        for change in input_changes(seed):
            if change.verdict == "breaking":
                assert (
                    change.has_example
                    and before.is_valid(change.example)
                    and not after.is_valid(change.example)
                ), seed


def test_a_schema_is_compatible_with_itself_and_with_one_that_differs_in_words_alone() -> None:
    for seed, old, _ in pairs():
        assert changes(contract(old), contract(old)) == [], seed
        assert (
            verdict_of(changes(contract(old), contract({**old, "title": "T", "$comment": "c"})))
            == "compatible"
        ), seed


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (with_property(c=TEXT), [("input", "compatible", "/schema/input/properties/c")]),
        ({**CLOSED, "required": ["a", "b"]}, [("input", "breaking", "/schema/input/required")]),
        ({**CLOSED, "required": []}, [("input", "compatible", "/schema/input/required")]),
        (
            {"type": "object", "properties": {"a": TEXT}, "required": ["a"]},
            [("input", "breaking", "/schema/input/properties/b")],
        ),
        (
            with_property(b={"type": "integer"}),
            [("input", "breaking", "/schema/input/properties/b/type")],
        ),
        (
            with_property(b={"type": ["string", "null"]}),
            [("input", "compatible", "/schema/input/properties/b/type")],
        ),
        (
            with_property(b={"enum": ["x"]}),
            [("input", "breaking", "/schema/input/properties/b/enum")],
        ),
        (
            with_property(b={**TEXT, "maxLength": 3}),
            [("input", "breaking", "/schema/input/properties/b/maxLength")],
        ),
        (
            with_property(b={**TEXT, "default": "x"}),
            [("input", "unknown", "/schema/input/properties/b/default")],
        ),
        (
            {**CLOSED, "additionalProperties": True},
            [("input", "compatible", "/schema/input/additionalProperties")],
        ),
    ],
)
def test_each_change_of_an_input_has_its_verdict_and_its_place(
    new: Any, expected: list[tuple[str, str, str]]
) -> None:
    found = told(contract(), contract(new))
    assert [
        change for change in found if change[1] != "compatible" or expected[0][1] == "compatible"
    ] == expected


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ({"type": "integer"}, {"type": "number"}, "breaking"),
        ({"type": "number"}, {"type": "integer"}, "compatible"),
        (None, TEXT, "compatible"),
        (TEXT, None, "breaking"),
        ({"enum": ["x"]}, {"enum": ["x", "y"]}, "breaking"),
        ({"type": "object", "required": ["a"]}, {"type": "object"}, "breaking"),
        (
            {"type": "string", "pattern": "^(?:(?:ab)*c)$"},
            {"type": "string", "pattern": "^zzzzzzz$"},
            "unknown",
        ),
    ],
)
def test_an_output_may_be_narrowed_and_never_widened(old: Any, new: Any, verdict: str) -> None:
    assert verdict_of(changes(contract(output=old), contract(output=new))) == verdict


def test_names_break_commands_are_unknown_and_descriptions_keep_the_contract() -> None:
    found = told(contract(), contract(name="u", description="e", command={"type": "python_script"}))
    assert found == [
        ("name", "breaking", "/name"),
        ("command", "unknown", "/implementation_details"),
        ("description", "compatible", "/description"),
    ]


def test_what_is_gone_is_pointed_at_in_the_old_version() -> None:
    (change,) = changes(
        contract(), contract({"type": "object", "properties": {"a": TEXT}, "required": ["a"]})
    )
    assert (change.side, change.pointer) == ("old", "/schema/input/properties/b")
    assert change.message.startswith("b is no longer known; ")


def test_a_message_says_which_side_does_not_know_a_property_and_that_a_default_is_one() -> None:
    closed = {"type": "object", "additionalProperties": False}
    (change,) = changes(
        contract(output=closed), contract(output={**closed, "properties": {"a": TEXT}})
    )
    assert change.message.startswith("a was not known; callers may now get ")
    told = {
        changes(contract({"properties": {"a": old}}), contract({"properties": {"a": new}}))[
            0
        ].message
        for old, new in (
            ({"default": 0}, {}),
            ({}, {"default": 0}),
            ({"default": 0}, {"default": 1}),
        )
    }
    assert told == {
        "the default 0 is gone",
        "the default 0 is new",
        "the default was 0, is 1",
    }


def test_definitions_that_recur_are_compared_and_their_place_is_the_definition() -> None:
    def tree(least: int, name: str) -> dict[str, Any]:
        node = {
            "type": "object",
            "properties": {
                "next": {"$ref": f"#/$defs/{name}"},
                "value": {"type": "integer", "minimum": least},
            },
        }
        return {
            "type": "object",
            "properties": {"tree": {"$ref": f"#/$defs/{name}"}},
            "$defs": {name: node},
        }

    assert verdict_of(changes(contract(tree(0, "a")), contract(tree(0, "b")))) == "compatible"
    breaking = [
        change
        for change in changes(contract(tree(0, "a")), contract(tree(1, "b")))
        if change.verdict == "breaking"
    ]
    assert [change.pointer for change in breaking] == [
        "/schema/input/$defs/b/properties/value/minimum"
    ]


@pytest.mark.parametrize(
    "new",
    [
        {"$schema": "http://json-schema.org/draft-04/schema#", **CLOSED, "required": ["b"]},
        {**CLOSED, "properties": {"a": {"$anchor": "x", "type": "integer"}}},
        {**CLOSED, "properties": {"a": {"not": {"pattern": "^(?:qqqq)+$"}}, "b": TEXT}},
    ],
    ids=["draft", "anchor", "not"],
)
def test_what_cannot_be_decided_is_unknown(new: Any) -> None:
    assert verdict_of(changes(contract(), contract(new))) == "unknown"


def test_a_change_in_json_has_an_example_only_where_there_is_one() -> None:
    assert "example" not in Change(part="name", verdict="breaking", message="m").to_json()
    assert (
        Change(part="input", verdict="breaking", message="m", has_example=True).to_json()["example"]
        is None
    )


def test_the_same_reference_to_another_definition_is_no_proof() -> None:
    def given(inner: Any) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {"a": {"not": {"$ref": "#/$defs/a"}}},
            "$defs": {"a": inner},
        }

    assert (
        verdict_of(changes(contract(given(TEXT)), contract(given({"type": "integer"}))))
        != "compatible"
    )
