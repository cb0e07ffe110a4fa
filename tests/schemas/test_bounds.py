import json
from typing import Any

import pytest

from vespe.schemas import bounds
from vespe.schemas.explain import Violation


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels - 1):
        schema = {"not": schema}
    return schema


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        (nested(33), "deeper than 32 subschemas"),
        ({"properties": {f"p{i}": True for i in range(1000)}}, "more than 1000 subschemas"),
        ({"description": "x" * (256 * 1024)}, "bytes long"),
        ({"enum": list(range(10_001))}, "10001 entries"),
        ({"enum": [[i] for i in range(101)]}, "arrays or objects"),
        ({"required": ["a"] * 1001}, "1001 entries"),
        ({"properties": {f"p{i}": {"pattern": "a"} for i in range(257)}}, "257 patterns"),
    ],
)
def test_p21_a_schema_past_a_bound_is_told_so(schema: Any, says: str) -> None:
    (problem,) = bounds.size_problems(schema, str(bounds.written(schema)))
    assert says in problem.message


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ({"const": json.loads("[" * 70 + "]" * 70)}, "deeper than 64 levels"),
        ({"const": float("nan")}, "not JSON"),
        ({"const": {1, 2}}, "not JSON"),
        ({"const": "\ud800"}, "not JSON"),
    ],
)
def test_p21_what_cannot_be_written_as_json_is_no_schema(schema: Any, says: str) -> None:
    problem = bounds.written(schema)
    assert isinstance(problem, Violation) and says in problem.message


@pytest.mark.parametrize(
    "schema",
    [
        nested(32),
        {"properties": {f"p{i}": True for i in range(999)}},
        {"enum": list(range(10_000))},
        {"enum": [[i] for i in range(100)]},
        {"examples": [0] * 5000},
        True,
    ],
)
def test_p21_a_schema_at_a_bound_passes(schema: Any) -> None:
    assert bounds.size_problems(schema, str(bounds.written(schema))) == []


@pytest.mark.parametrize(
    "text",
    ['{"$ref": "#"}', '{"pattern": "a"}', '{"patternProperties": {}}', '{"\\u0024ref": "#"}'],
)
def test_a_text_that_may_refer_or_match_is_not_plain(text: str) -> None:
    assert not bounds.is_plain({"input": json.loads(text)}, text.encode())


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ({"type": "object", "description": "5 $ a line\n"}, True),
        (nested(30), True),
        (nested(60), False),
        ({"properties": {f"p{i}": {} for i in range(100)}}, True),
        ({"properties": {f"p{i}": True for i in range(1100)}}, False),
        ({"enum": list(range(2000))}, False),
        ({"description": "x" * 300_000}, False),
    ],
)
def test_a_text_far_from_every_bound_is_plain(value: Any, plain: bool) -> None:
    assert bounds.is_plain({"input": value}, json.dumps(value, indent=1).encode()) is plain


@pytest.mark.parametrize(
    ("schema", "plain"),
    [
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, True),
        ({"$schema": "http://h/s"}, False),
        (
            {
                "$schema": "http://json-schema.org/draft-07/schema#",
                "not": {"$schema": "http://h/s"},
            },
            False,
        ),
        ({"$schema": 3}, False),
    ],
)
def test_a_bundled_draft_named_at_the_root_leaves_a_text_plain(schema: Any, plain: bool) -> None:
    assert (
        bounds.is_plain(
            {"input": schema, "output": True}, json.dumps({"schema": {"input": schema}}).encode()
        )
        is plain
    )


def test_patterns_are_found_in_both_places() -> None:
    schema = {
        "properties": {"a": {"pattern": "x"}},
        "patternProperties": {"y": {"pattern": "z"}},
        "const": {"pattern": "no"},
    }
    assert set(bounds.pattern_places(schema)) == {
        (("properties", "a", "pattern"), "x"),
        (("patternProperties", "y"), "y"),
        (("patternProperties", "y", "pattern"), "z"),
    }


ELSEWHERE = [
    "http://h/s",
    "https://h/s",
    "file:///etc/passwd",
    "//h/s",
    "\\\\h\\s",
    "s.json",
    "/s",
    "urn:x:y",
    "ftp://h/s",
]


@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef", "$recursiveRef"])
@pytest.mark.parametrize("address", ELSEWHERE)
def test_p20_a_reference_out_of_the_document_is_told_with_its_place(
    keyword: str, address: str
) -> None:
    (problem,) = bounds.reference_problems({"properties": {"a": {keyword: address}}})
    assert problem.pointer == f"/properties/a/{keyword}"
    assert "outside this document" in problem.message


@pytest.mark.parametrize("address", [*ELSEWHERE, "https://json-schema.org/draft/2030-01/schema"])
def test_p20_a_meta_schema_that_is_not_bundled_is_told(address: str) -> None:
    (problem,) = bounds.reference_problems({"$schema": address})
    assert problem.pointer == "/$schema"


@pytest.mark.parametrize("draft", sorted(bounds.BUNDLED))
def test_p20_naming_a_bundled_draft_is_no_reference(draft: str) -> None:
    assert bounds.reference_problems({"$schema": f"{draft}#", "not": {"$ref": draft}}) == []


@pytest.mark.parametrize("reference", ["#/$defs/gone", "#gone", "#/type"])
def test_a_reference_to_a_place_that_is_not_there_is_told(reference: str) -> None:
    (problem,) = bounds.reference_problems({"type": "object", "not": {"$ref": reference}})
    assert "does not have" in problem.message


def test_a_reference_is_looked_up_in_its_own_resource() -> None:
    schema = {"$defs": {"a": {"$id": "a", "$ref": "#/$defs/b", "$defs": {"b": {}}}}}
    assert bounds.reference_problems(schema) == []


def test_p20_data_that_looks_like_a_reference_is_none() -> None:
    schema = {
        "const": {"$ref": "http://h/s"},
        "enum": [{"$ref": "http://h/s"}],
        "properties": {"$ref": {"type": "string"}},
    }
    assert bounds.reference_problems(schema) == []
