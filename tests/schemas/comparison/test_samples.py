"""Candidates for counterexamples: near the bounds, through references, and never without end."""

from typing import Any

from vespe.schemas.comparison.samples import samples
from vespe.schemas.subschemas import References


def made(schema: Any, about: Any = True) -> list[Any]:
    return samples(
        [(schema, References(schema))], [(about, References(about))], fits=lambda *_: True
    )


def test_bounds_of_both_schemas_are_tried_and_passed_by_one() -> None:
    found = made({"type": "integer", "minimum": 3}, {"maximum": 9})
    assert {3, 2, 9, 10} <= {value for value in found if isinstance(value, int)}


def test_texts_have_the_lengths_that_the_schemas_speak_of() -> None:
    assert {4, 5} <= {len(value) for value in made({"type": "string"}, {"maxLength": 4})}


def test_only_kinds_that_the_schema_allows_are_made_but_for_what_the_other_lists() -> None:
    assert {type(value) for value in made({"type": "boolean"}, {"enum": ["x"]})} == {bool, str}


def test_objects_have_what_is_required_and_one_name_that_nobody_knows() -> None:
    found = made({"type": "object", "properties": {"a": {"const": 5}}, "required": ["a"]})
    assert {"a": 5} in found and {"a": 5, "x_other": 0} in found


def test_a_schema_that_refers_to_itself_ends() -> None:
    node = {
        "type": "object",
        "properties": {"next": {"$ref": "#"}, "all": {"type": "array", "items": {"$ref": "#"}}},
        "required": ["next"],
    }
    assert 0 < len(made(node)) <= 120
