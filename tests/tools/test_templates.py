"""Templates: one whole value in one slot, secrets apart from inputs, and everything else as it was
written.
"""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vespe.errors import InvalidArguments, Refused
from vespe.tools import templates

NAMES = frozenset({"count", "path", "odd name", "a.b"})


def rendered(text: str, inputs: dict[str, Any], **options: Any) -> str | None:
    return templates.parse(text, NAMES).render(inputs, **options)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("", ""),
        ("{path}", "a b"),
        ("--count={count}", "--count=3"),
        ("{path}/{count}", "a b/3"),
        ("{count}{count}", "33"),
        ("{{path}}", "{a b}"),
        ("${path}", "$a b"),
        ('{"n":{count}}', '{"n":3}'),
        ("{odd name}", "yes"),
        ("{a.b}", "true"),
        ("{print $1}", "{print $1}"),
        ("{}", "{}"),
        ("{unknown}", "{unknown}"),
        ("{path", "{path"),
        ("path}", "path}"),
        ("{ path}", "{ path}"),
    ],
)
def test_a_slot_takes_a_whole_value_and_other_braces_stay(text: str, expected: str) -> None:
    assert rendered(text, {"path": "a b", "count": 3, "odd name": "yes", "a.b": True}) == expected


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a\n", "a\n"),
        (True, "true"),
        (None, "null"),
        (3, "3"),
        (-0.5, "-0.5"),
        (["a", 1, {"b": None}], '["a",1,{"b":null}]'),
        ({"é": "ü"}, '{"é":"ü"}'),
    ],
)
def test_a_value_that_is_no_string_is_written_as_compact_json(value: Any, text: str) -> None:
    assert templates.value_text(value) == text
    assert rendered("<{path}>", {"path": value}) == f"<{text}>"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}])
def test_a_value_that_json_cannot_say_is_refused(value: Any) -> None:
    with pytest.raises(InvalidArguments, match="cannot be written as JSON"):
        templates.value_text(value)


def test_an_absent_input_leaves_the_whole_text_out_and_null_does_not() -> None:
    assert rendered("--path={path} {count}", {"count": 1}) is None
    assert rendered("--path={path}", {"path": None}) == "--path=null"


def test_what_was_put_in_is_never_read_as_a_template() -> None:
    inputs = {"path": "{count}${env:TOKEN}", "count": 1}
    assert (
        rendered("{path}:${env:TOKEN}", inputs, secrets={"TOKEN": "{count}"})
        == "{count}${env:TOKEN}:{count}"
    )


def test_an_encoder_sees_values_and_neither_fixed_text_nor_secrets() -> None:
    seen: list[Any] = []

    def encode(value: Any) -> str:
        seen.append(value)
        return "E"

    assert (
        rendered(
            "a{path}b${env:S}{count}", {"path": [1], "count": 2}, encode=encode, secrets={"S": "s"}
        )
        == "aEbsE"
    )
    assert seen == [[1], 2]


def test_a_plan_keeps_secrets_by_name() -> None:
    assert rendered("Bearer ${env:TOKEN} {count}", {"count": 1}) == "Bearer ${env:TOKEN} 1"


def test_a_secret_that_is_not_declared_is_refused_and_never_empty() -> None:
    with pytest.raises(Refused, match=r"\$\{env:TOKEN\}") as caught:
        rendered("${env:TOKEN}", {}, secrets={"OTHER": "x"})
    assert '"secrets": ["TOKEN"]' in caught.value.hint
    with pytest.raises(Refused):
        templates.substitute_secrets({"a": ["${env:TOKEN}"]}, {})


def test_a_template_says_what_it_takes() -> None:
    template = templates.parse(
        "{path} {path} {count} ${env:A} ${env:B}${env:A} {nope} {nope} {env:C} {print $1}", NAMES
    )
    assert template.slots == ("path", "count")
    assert template.secrets == ("A", "B")
    assert template.unknown == ("nope", "env:C")


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("{path}", "path"),
        ("{path} ", None),
        ("{path}{count}", None),
        ("path", None),
        ("", None),
        ("${env:path}", None),
        ("{nope}", None),
    ],
)
def test_a_text_of_exactly_one_slot_is_whole(text: str, whole: str | None) -> None:
    assert templates.parse(text, NAMES).whole == whole


@pytest.mark.parametrize(
    "text", ["${env:}", "${env:1A}", "${env:A-B}", "$ {env:A}", "${ENV:A}", "${env:A"]
)
def test_what_only_resembles_a_secret_stays(text: str) -> None:
    assert rendered(text, {}, secrets={"A": "x"}) == text
    assert templates.substitute_secrets(text, {"A": "x"}) == text


def test_secrets_of_fixed_arguments_are_filled_in_strings_at_any_depth_and_nowhere_else() -> None:
    args = {"${env:K}": ["${env:K}", {"b": "x${env:K}y{count}"}], "n": 3, "t": True, "z": None}
    filled = templates.substitute_secrets(args, {"K": "${env:K}"})
    assert filled == {
        "${env:K}": ["${env:K}", {"b": "x${env:K}y{count}"}],
        "n": 3,
        "t": True,
        "z": None,
    }
    assert templates.substitute_secrets(args, {"K": "v"})["${env:K}"] == ["v", {"b": "xvy{count}"}]
    assert args["n"] == 3 and templates.secret_names(args) == ("K",)


def test_secret_names_are_those_of_every_string_once() -> None:
    assert templates.secret_names(["${env:B}", {"k": "${env:A}${env:B}"}, 1, None]) == ("B", "A")


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "object", "properties": {"inner": {}}}},
    "$ref": "#/$defs/more",
    "allOf": [{"properties": {"b": {}}}, {"$ref": "#/$defs/loop"}],
    "anyOf": [{"properties": {"c": {}}}, True],
    "if": {"properties": {"d": {}}},
    "then": {"properties": {"e": {}}},
    "dependentSchemas": {"a": {"properties": {"f": {}}}},
    "$defs": {
        "more": {"properties": {"g": {}}},
        "loop": {"$ref": "#/$defs/loop", "properties": {"h": {}}},
        "unused": {"properties": {"no": {}}},
    },
}


def test_inputs_are_the_properties_that_any_part_of_the_schema_gives_the_object() -> None:
    assert templates.input_names(SCHEMA) == frozenset("abcdefgh")


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {},
        {"properties": 3},
        {"$ref": "#/nowhere"},
        {"$ref": "https://example.org/s"},
        {"allOf": 1},
    ],
)
def test_a_schema_without_properties_names_no_input(schema: Any) -> None:
    assert templates.input_names(schema) == frozenset()


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="{}$env:path count\\\"'A=-", max_size=60), st.text())
def test_rendering_changes_nothing_but_the_slots(text: str, value: str) -> None:
    template = templates.parse(text, NAMES)
    put = template.render(dict.fromkeys(NAMES, value), secrets=dict.fromkeys(template.secrets, "S"))
    back = "".join(
        p if isinstance(p, str) else "S" if isinstance(p, templates.Secret) else value
        for p in template.pieces
    )
    assert put == back
    assert template.render({name: f"{{{name}}}" for name in NAMES}) == text


def test_a_long_text_of_braces_is_read_in_one_pass() -> None:
    text = "{" * 200_000 + "path}" * 2 + "${env:" * 100_000
    assert rendered(text, {"path": "P"}) == text.replace("{path}", "P", 1)


def test_a_body_of_json_around_slots_stays_json() -> None:
    body = rendered('{"n": {count}, "deep": {"list": [{path}]}}', {"count": 2, "path": {"x": "}"}})
    assert json.loads(str(body)) == {"n": 2, "deep": {"list": [{"x": "}"}]}}
