import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.schemas.test_growth import BOMBS
from tests.support.ondisk import PATIENCE_S
from vespe.schemas import validator as schema_validator

DRAFTS = {
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
    "draft7": "http://json-schema.org/draft-07/schema#",
}
REMOTE = "localhost:1234/"
"""Where the official suite keeps the documents that a schema may fetch; Vespe's may not."""


def suite(shared: Path) -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Each group of the official suite as (place, group, schema with its draft), formats (which
    assert nothing) left out.
    """
    for draft, address in DRAFTS.items():
        for file in sorted((shared / "corpus/jsonschema-suite/tests" / draft).rglob("*.json")):
            if file.parent.name != "format":
                for group in json.loads(file.read_text(encoding="utf-8")):
                    schema = group["schema"]
                    named = {"$schema": address, **schema} if isinstance(schema, dict) else schema
                    yield f"{draft}/{file.stem}: {group['description']}", group, named


def test_p22_the_official_suite_holds_but_for_references_to_other_documents(shared: Path) -> None:
    seen, excluded, wrong = 0, [], []
    for place, group, schema in suite(shared):
        if problems := schema_validator.check_schema(schema, root_object=False):
            excluded.append(place)
            assert REMOTE in json.dumps([schema, [problem.message for problem in problems]]), (
                place,
                problems,
            )
            continue
        validator = schema_validator.compile_schema(schema, closed=False)
        for test in group["tests"]:
            seen += 1
            if validator.is_valid(test["data"]) != test["valid"]:
                wrong.append((place, test["description"]))
    assert wrong == []
    assert seen > 900
    assert len(excluded) == 7


def test_p22_what_is_said_agrees_with_the_verdict_on_the_whole_suite(shared: Path) -> None:
    for place, group, schema in suite(shared):
        if not schema_validator.check_schema(schema, root_object=False):
            validator = schema_validator.compile_schema(schema, closed=False)
            for test in group["tests"]:
                said = validator.violations(test["data"])
                assert bool(said) != test["valid"], (place, test["description"], said)
                assert all(len(one.message) <= 400 for one in said)


def test_p22_formats_assert_nothing(shared: Path) -> None:
    for file in sorted(
        (shared / "corpus/jsonschema-suite/tests/draft2020-12/optional/format").glob("*.json")
    ):
        for group in json.loads(file.read_text(encoding="utf-8")):
            validator = schema_validator.compile_schema({"format": file.stem}, closed=False)
            assert all(validator.is_valid(test["data"]) for test in group["tests"])


@pytest.mark.parametrize(("pattern", "text"), [("^a$", "a\n"), (r"^\d$", "\u0663"), (r"^\w$", "é")])
def test_p22_patterns_mean_the_same_everywhere(pattern: str, text: str) -> None:
    assert not schema_validator.compile_schema({"pattern": pattern}, closed=False).is_valid(text)


def test_every_real_tool_of_the_corpus_has_a_schema_that_vespe_takes(shared: Path) -> None:
    seen = 0
    for file in sorted((shared / "corpus/tooldefs/mcp").glob("*.json")):
        for name, schema in _input_schemas(json.loads(file.read_text(encoding="utf-8"))):
            seen += 1
            assert schema_validator.check_schema(schema) == [], name
            validator = schema_validator.compile_schema(schema, closed=True)
            assert validator.is_valid({"no such argument": 1}) <= bool(
                schema.get("additionalProperties", False)
            )
    assert seen > 50


def _input_schemas(value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(value, dict) and isinstance(value.get("inputSchema"), dict):
        yield str(value.get("name")), value["inputSchema"]
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _input_schemas(item)


# The same verdict as the reference implementation

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(-3, 3, allow_nan=False)
    | st.text("ab", max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=8,
)
TYPES = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])
SCHEMAS = st.recursive(
    st.booleans()
    | st.fixed_dictionaries(
        {},
        optional={
            "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
            "enum": st.lists(VALUES, min_size=1, max_size=3),
            "minimum": st.integers(-3, 3),
            "maxLength": st.integers(0, 2),
            "pattern": st.sampled_from(["a", "^b", "b$"]),
            "uniqueItems": st.booleans(),
            "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
        },
    ),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
            "additionalProperties": inner,
            "unevaluatedProperties": inner,
            "items": inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "contains": inner,
            "anyOf": st.lists(inner, min_size=1, max_size=3),
            "oneOf": st.lists(inner, min_size=1, max_size=3),
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
            "if": inner,
            "then": inner,
            "dependentRequired": st.just({"a": ["b"]}),
            "propertyNames": st.just({"maxLength": 1}),
        },
    ),
    max_leaves=6,
)


@settings(max_examples=200, deadline=None)
@given(schema=SCHEMAS, value=VALUES)
def test_the_verdict_is_that_of_the_reference_implementation(schema: Any, value: Any) -> None:
    assert schema_validator.check_schema(schema, root_object=False) == []
    validator = schema_validator.compile_schema(schema, closed=False)
    expected = jsonschema.Draft202012Validator(schema).is_valid(value)
    assert validator.is_valid(value) is expected
    assert (validator.violations(value) == []) is expected


TOOL = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 1},
        "mode": {"enum": ["r", "w"], "default": "r"},
        "lines": {"type": "array", "items": {"type": "integer", "minimum": 1}, "maxItems": 5},
        "options": {
            "type": "object",
            "properties": {"deep": {"type": "boolean", "default": False}},
            "additionalProperties": False,
        },
    },
    "required": ["path"],
}


@settings(max_examples=100, deadline=None)
@given(inputs=VALUES)
def test_p19_no_json_value_makes_a_validator_raise(inputs: Any) -> None:
    validator = schema_validator.compile_schema(TOOL, closed=True)
    assert validator.is_valid(inputs) is (validator.violations(inputs) == [])


# No I/O


@pytest.fixture
def listener() -> Iterator[tuple[str, list[str]]]:
    """A server on the loopback, and what connected to it."""
    server, connected = socket.create_server(("127.0.0.1", 0)), list[str]()

    def accept() -> None:
        while True:
            try:
                server.accept()[0].close()
            except OSError:
                return
            connected.append("someone")

    threading.Thread(target=accept, daemon=True).start()
    yield f"127.0.0.1:{server.getsockname()[1]}", connected
    server.shutdown(socket.SHUT_RDWR)
    server.close()


PLACES: dict[str, Any] = {
    "at the root": lambda r: {"type": "object", **r},
    "in a property": lambda r: {"type": "object", "properties": {"a": r}},
    "in an unused definition": lambda r: {"type": "object", "$defs": {"a": r}},
    "below a base of its own": lambda r: {
        "type": "object",
        "$id": "http://example.com/",
        "properties": {"a": r},
    },
    "in draft 7": lambda r: {"type": "object", "$schema": DRAFTS["draft7"], "properties": {"a": r}},
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef", "$schema"])
@pytest.mark.parametrize(
    "form",
    ["http://{}/s", "https://{}/s", "//{}/s", "file:///etc/passwd", "\\\\{}\\s", "http://{}/s#/a"],
)
def test_p20_a_schema_that_points_elsewhere_is_refused_without_a_connection(
    place: str, keyword: str, form: str, listener: tuple[str, list[str]]
) -> None:
    address, connected = listener
    schema = PLACES[place]({keyword: form.format(address)})
    if keyword == "$dynamicRef" and place == "in draft 7":
        # no keyword of that draft
        assert schema_validator.compile_schema(schema, closed=True).is_valid({"a": 1})
    else:
        assert schema_validator.check_schema(schema) != []
    assert connected == []


def test_p20_compiling_what_was_never_checked_fetches_nothing_either(
    listener: tuple[str, list[str]],
) -> None:
    address, connected = listener
    with pytest.raises(ValueError, match="fetches nothing"):
        schema_validator.compile_schema({"$ref": f"http://{address}/s"}, closed=False)
    assert connected == []


@pytest.mark.parametrize("base", ["http://{}/", "http://{}/a/b", "urn:x"])
def test_p20_a_reference_relative_to_an_address_of_its_own_is_refused_without_a_connection(
    base: str, listener: tuple[str, list[str]]
) -> None:
    address, connected = listener
    schema = {"type": "object", "$id": base.format(address), "properties": {"a": {"$ref": "other"}}}
    assert schema_validator.check_schema(schema)
    assert connected == []


# Bounds

CHILD = """
import json, resource, sys
from vespe.schemas import validator as schemas
schema, value = json.load(sys.stdin)
schemas.compile_schema({"type": "object"}, closed=True).violations(1)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
refused, told = schemas.check_schema(schema, root_object=False), []
if not refused:
    validator = schemas.compile_schema(schema, closed=False)
    told = validator.violations(value)
    assert validator.is_valid(value) is not bool(told)
unit = 1 if sys.platform == "darwin" else 1024
grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * unit
print(json.dumps({"grown": grown, "told": len(told), "refused": bool(refused)}))
"""


def nested(levels: int) -> Any:
    value: Any = {}
    for _ in range(levels):
        value = {"a": value}
    return value


def deep_properties(levels: int) -> Any:
    schema: Any = {"type": "object"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


HARD: dict[str, tuple[Any, Any]] = {
    **{f"growth, {name}": (schema, nested(30)) for name, schema in BOMBS.items()},
    "unique objects": ({"uniqueItems": True}, [{"a": i, "b": [i]} for i in range(3000)]),
    "backtracking": ({"pattern": "^(a+)+$"}, "a" * 50_000 + "b"),
    "deep properties": (deep_properties(300), nested(30)),
    "multiple of": ({"multipleOf": 0.01}, 10**400),
    "a huge pattern": ({"pattern": "(a{1000}){1000}"}, "a"),
    "many large patterns": (
        {"properties": {f"p{i}": {"pattern": rf"^\S{{1,90}}{i}$"} for i in range(200)}},
        {},
    ),
    "a large enum": ({"items": {"enum": [{"a": i} for i in range(9000)]}}, [{"a": 9999}] * 3000),
    "many wrong items": ({"items": {"type": "string"}}, list(range(150_000))),
    "many wrong items within": (
        {"properties": {"a": {"items": {"type": "string"}}}},
        {"a": list(range(150_000))},
    ),
    "much missing in a large value": (
        {"required": [f"r{i}" for i in range(900)]},
        {"c": "x" * 900_000},
    ),
    "alternatives of large arrays": (
        {"anyOf": [{"items": {"type": "string"}}, {"items": {"type": "null"}}]},
        list(range(150_000)),
    ),
    "many unknown names beside known ones": (
        {"properties": {f"p{i}": {} for i in range(300)}, "additionalProperties": False},
        {f"k{i}": i for i in range(5000)},
    ),
    "many unknown arguments": (
        {"additionalProperties": False},
        {f"k{i}": i for i in range(50_000)},
    ),
}


@pytest.mark.parametrize("name", HARD)
def test_p21_no_schema_makes_judging_or_explaining_run_away(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        input=json.dumps(HARD[name]),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr[-500:]
    seen = json.loads(done.stdout)
    assert seen["grown"] < 50 * 2**20
    assert seen["told"] <= 21
    assert seen["refused"] or not name.startswith("growth")


def test_p21_a_large_value_is_explained_at_its_first_wrong_part() -> None:
    schema = {
        "type": "object",
        "properties": {"rows": {"type": "array", "items": {"$ref": "#/$defs/row"}}},
        "$defs": {
            "row": {
                "type": "object",
                "properties": {"x": {"type": "integer"}},
                "additionalProperties": False,
            }
        },
    }
    validator = schema_validator.compile_schema(schema, closed=True)
    (said,) = validator.violations({"rows": [{"x": 1}] * 50_000 + [{"x": "no"}]})
    assert said.to_json() == {
        "pointer": "/rows/50000/x",
        "message": '`rows[50000].x` must be an integer, not the string "no"',
    }
    (said,) = validator.violations({"rows": [{"x": 1}] * 50_000 + [{"y": 1}]})
    assert said.pointer == "/rows/50000/y"


def test_p21_names_missing_and_unknown_beside_a_large_value_are_told() -> None:
    schema = {
        "type": "object",
        "properties": {"rows": {"type": "array"}, "colour": {}},
        "required": ["rows", "title"],
        "maxProperties": 2,
    }
    said = schema_validator.compile_schema(schema, closed=True).violations(
        {"rows": [1] * 50_000, "color": 1, "z": 2}
    )
    assert {(one.pointer, one.message.partition(";")[0]) for one in said} == {
        ("/title", "`title` is missing"),
        ("", "the arguments object must have at most 2 keys, not 3"),
        ("/color", "`color` is not allowed"),
        ("/z", "`z` is not allowed"),
    }


@pytest.mark.parametrize(
    "schema",
    [
        {"uniqueItems": True},
        {"not": {"type": "array"}},
        {"$ref": "#/$defs/x", "$defs": {"x": {"maxItems": 9}}},
    ],
)
def test_p21_a_large_value_that_is_wrong_as_a_whole_is_told_shortly(schema: dict[str, Any]) -> None:
    whole = {"type": "object", "properties": {"a": schema}, "$defs": schema.get("$defs", {})}
    (said,) = schema_validator.compile_schema(whole, closed=True).violations({"a": [1] * 50_000})
    assert said.to_json() == {
        "pointer": "/a",
        "message": "`a` does not match its schema; it is an array of 50000 items",
    }


@pytest.mark.parametrize(
    "value",
    [2**64, -(2**70), 10**400, 1e308, 0.1, "\ud800", {"\ud800": 1}, (1, 2), 10**5000],
    ids=range(9),
)
def test_p19_odd_values_are_judged_not_raised(value: Any) -> None:
    for schema in (
        {"type": "string", "maxLength": 1},
        {"type": "number", "multipleOf": 3, "maximum": 2},
        {"type": "object", "maxProperties": 0},
    ):
        validator = schema_validator.compile_schema(schema, closed=False)
        assert validator.is_valid(value) is (validator.violations(value) == [])


def test_p19_values_that_are_no_json_or_nested_too_deep_are_refused_in_words() -> None:
    validator = schema_validator.compile_schema({"type": "object"}, closed=False)
    loop: dict[str, Any] = {}
    loop["loop"] = loop
    for value in ({1: 2}, nested(65), nested(100_000), loop):
        assert not validator.is_valid(value)
        assert len(validator.violations(value)) == 1
    assert validator.is_valid(nested(63))


def test_at_most_twenty_violations_are_told_and_the_rest_counted() -> None:
    validator = schema_validator.compile_schema(
        {"required": [f"r{i}" for i in range(57)]}, closed=False
    )
    said = validator.violations({})
    assert len(said) == 21
    assert said[-1].to_json() == {"pointer": "", "message": "and 37 more"}


def test_the_whole_value_is_called_what_the_caller_calls_it() -> None:
    (said,) = schema_validator.compile_schema({"type": "string"}, closed=False).violations(
        3, subject="the result"
    )
    assert said.to_json() == {
        "pointer": "",
        "message": "the result must be a string, not the number 3",
    }


# Checking


@pytest.mark.parametrize(
    ("schema", "pointer", "says"),
    [
        ([], "", "a JSON Schema, an object, not an empty array"),
        (None, "", "not null"),
        (True, "", "not true"),
        ({}, "", '"type": "object"'),
        ({"type": ["object"]}, "", '"type": "object"'),
        ({"type": "object", "properties": []}, "/properties", "must be an object"),
        (
            {"type": "object", "properties": {"a": 3}},
            "/properties/a",
            "must be a boolean (true or false) or an object",
        ),
        (
            {"type": "object", "properties": {"a": {"minLength": -1}}},
            "/properties/a/minLength",
            "at least 0",
        ),
        ({"type": "object", "required": ["a", "a"]}, "/required", "twice"),
        (
            {"type": "object", "properties": {"a": {"pattern": "("}}},
            "/properties/a/pattern",
            "not a pattern for a linear-time engine",
        ),
        (
            {"type": "object", "properties": {"a": {"pattern": r"(a)\1"}}},
            "/properties/a/pattern",
            "not a pattern",
        ),
        (
            {"type": "object", "properties": {"a": {"pattern": "a" * 513}}},
            "/properties/a/pattern",
            "513 characters",
        ),
        (
            {"type": "object", "$defs": {"a": {"patternProperties": {"(?<!a)b": {}}}}},
            "/$defs/a/patternProperties/(?<!a)b",
            "not a pattern",
        ),
        (
            {
                "type": "object",
                "properties": {f"p{i}": {"pattern": r"^(?:\S{1,300}|a)$"} for i in range(9)},
            },
            "/properties/p8/pattern",
            "9th large",
        ),
        (
            {"type": "object", "$schema": "http://json-schema.org/draft-03/schema#"},
            "/$schema",
            "not a draft that Vespe supports",
        ),
        ({"type": "object", "$id": "::::"}, "", "cannot be used"),
    ],
)
def test_what_is_wrong_with_a_schema_is_told_at_its_place(
    schema: Any, pointer: str, says: str
) -> None:
    problems = schema_validator.check_schema(schema)
    assert any(problem.pointer == pointer and says in problem.message for problem in problems), (
        problems
    )


def test_every_wrong_subschema_is_told_at_once() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "strin"},
            "b": {"items": 3},
            "c": {"$ref": "http://h/"},
            "d": {"type": "null"},
        },
    }
    assert [problem.pointer for problem in schema_validator.check_schema(schema)] == [
        "/properties/a/type",
        "/properties/b/items",
        "/properties/c/$ref",
    ]


def test_a_plain_schema_is_judged_by_its_meta_schema_alone() -> None:
    assert schema_validator.check_schema(TOOL, plain=True) == []
    assert (
        schema_validator.check_schema({"type": "object", "required": "a"}, plain=True)[0].pointer
        == "/required"
    )


def test_an_output_schema_may_be_of_any_type_and_a_boolean() -> None:
    assert schema_validator.check_schema(True, root_object=False) == []
    assert schema_validator.check_schema({"type": "string"}, root_object=False) == []


# Closing


@pytest.mark.parametrize(
    ("schema", "keyword"),
    [
        ({"type": "object"}, "additionalProperties"),
        (TOOL, "additionalProperties"),
        (
            {
                "type": "object",
                "properties": {"a": {}},
                "anyOf": [{"required": ["a"]}, {"properties": {"a": {}}}],
            },
            "additionalProperties",
        ),
        (
            {"type": "object", "$ref": "#/$defs/x", "$defs": {"x": {"properties": {"a": {}}}}},
            "unevaluatedProperties",
        ),
        ({"type": "object", "allOf": [{"properties": {"a": {}}}]}, "unevaluatedProperties"),
    ],
)
def test_an_open_root_is_closed_with_the_keyword_that_sees_all_its_names(
    schema: dict[str, Any], keyword: str
) -> None:
    before = json.dumps(schema)
    assert schema_validator.closed_schema(schema) == {**schema, keyword: False}
    assert json.dumps(schema) == before
    assert schema_validator.compile_schema(schema, closed=True).is_valid({"b": 1}) is False
    assert schema_validator.compile_schema(schema, closed=False).is_valid(
        {"a": 1, "b": 1, "path": "x"}
    )
    if '"a"' in before:
        assert schema_validator.compile_schema(schema, closed=True).is_valid({"a": 1})


@pytest.mark.parametrize("keyword", ["additionalProperties", "unevaluatedProperties"])
@pytest.mark.parametrize("value", [True, {"type": "string"}, False])
def test_a_root_that_says_what_is_allowed_stays_as_it_is(keyword: str, value: Any) -> None:
    schema = {"type": "object", keyword: value}
    assert schema_validator.closed_schema(schema) is schema


@pytest.mark.parametrize(
    "part", [{"$ref": "#/definitions/x"}, {"allOf": [{"$ref": "#/definitions/x"}]}]
)
def test_a_draft_that_has_no_unevaluated_properties_is_closed_by_names(
    part: dict[str, Any],
) -> None:
    x = {"properties": {"a": {"type": "integer"}}, "required": ["a"]}
    schema = {"$schema": DRAFTS["draft7"], "type": "object", "definitions": {"x": x}, **part}
    validator = schema_validator.compile_schema(schema, closed=True)
    assert validator.is_valid({"a": 1})
    assert not validator.is_valid({"a": 1, "b": 1})
    assert not validator.is_valid({"a": "x"})


def test_a_boolean_schema_is_closed_as_it_is() -> None:
    assert schema_validator.closed_schema(True) is True


def test_one_validator_serves_every_call_with_the_same_schema() -> None:
    schema = {"type": "object"}
    assert schema_validator.compile_schema(schema, closed=True) is schema_validator.compile_schema(
        schema, closed=True
    )
    assert schema_validator.compile_schema(
        schema, closed=True
    ) is not schema_validator.compile_schema(schema, closed=False)
    assert schema_validator.compile_schema(
        dict(schema), closed=True
    ) is not schema_validator.compile_schema(schema, closed=True)


def test_the_kept_validators_are_bounded() -> None:
    kept = [{"type": "object", "title": str(i)} for i in range(2000)]
    for schema in kept:
        schema_validator.compile_schema(schema, closed=True)
    assert schema_validator.compile_schema(kept[0], closed=True).violations({"x": 1})


# Defaults

FILLED = {
    "type": "object",
    "properties": {
        "a": {"default": [1]},
        "b": {"properties": {"c": {"default": None}}},
        "d": {"$ref": "#/$defs/d"},
        "e": {"items": {"$ref": "#/$defs/d"}},
        "f": {"$ref": "#f"},
    },
    "allOf": [{"properties": {"g": {"default": "g"}}}],
    "$defs": {
        "d": {"properties": {"x": {"default": 1}}, "default": {}},
        "f": {"$anchor": "f", "default": 0},
    },
}


@pytest.mark.parametrize(
    ("given_", "filled"),
    [
        ({}, {"a": [1], "d": {}, "f": 0, "g": "g"}),
        ({"a": None, "f": False, "g": 1}, {"a": None, "f": False, "g": 1, "d": {}}),
        (
            {"b": {}, "d": {"y": 2}},
            {"b": {"c": None}, "d": {"y": 2, "x": 1}, "a": [1], "f": 0, "g": "g"},
        ),
        (
            {"e": [{}, {"x": 2}, 3]},
            {"e": [{"x": 1}, {"x": 2}, 3], "a": [1], "d": {}, "f": 0, "g": "g"},
        ),
        ({"b": 3, "z": [1]}, {"b": 3, "z": [1], "a": [1], "d": {}, "f": 0, "g": "g"}),
    ],
)
def test_absent_arguments_take_their_defaults(
    given_: dict[str, Any], filled: dict[str, Any]
) -> None:
    before = json.dumps(given_)
    assert schema_validator.fill_defaults(FILLED, given_) == filled
    assert json.dumps(given_) == before


def test_a_default_is_copied_and_never_filled_into() -> None:
    made = schema_validator.fill_defaults(FILLED, {})
    made["a"].append(2)
    assert schema_validator.fill_defaults(FILLED, {})["a"] == [1]
    endless = {"properties": {"a": {"$ref": "#", "default": {}}}}
    assert schema_validator.fill_defaults(endless, {}) == {"a": {}}


def test_defaults_end_on_schemas_that_refer_to_themselves_and_on_nonsense() -> None:
    assert schema_validator.fill_defaults(
        {"$ref": "#", "properties": {"a": {"default": 1}}}, {"a": {"a": 2}}
    ) == {"a": {"a": 2}}
    assert schema_validator.fill_defaults({"properties": 3, "allOf": [True]}, {"a": 1}) == {"a": 1}


def test_importing_the_module_loads_no_validator() -> None:
    code = (
        "import sys, vespe.schemas.validator; assert not {'jsonschema', 'jsonschema_rs', "
        "'referencing', 'difflib'} & set(sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        (3, "root"),
        ({"type": "array"}, "root"),
        ({"type": "object", "required": "a"}, "malformed"),
        ({"type": "object", "$ref": "#/nowhere"}, "reference"),
        ({"type": "object", "$schema": "urn:x"}, "draft"),
        ({"type": "object", "properties": {"a": {"pattern": "(?=a)"}}}, "pattern"),
        ({"type": "object", "required": [f"{i}" for i in range(1001)]}, "bound"),
        ({"type": "object", "const": float("nan")}, "not_json"),
        ({"type": "object", "$ref": "#"}, "unusable"),
    ],
)
def test_each_problem_of_a_schema_has_a_code(schema: Any, code: str) -> None:
    assert code in [problem.code for problem in schema_validator.check_schema(schema)]


def test_the_code_of_a_violation_is_the_keyword_that_refuses() -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 3}},
        "required": ["n"],
        "additionalProperties": False,
    }
    judge = schema_validator.compile_schema(schema, closed=True)
    assert [
        judge.violations(value)[0].code for value in ({}, {"n": 1}, {"n": "x"}, {"n": 3, "b": 1})
    ] == [
        "required",
        "minimum",
        "type",
        "additionalProperties",
    ]
