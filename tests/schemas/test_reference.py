"""JSON Schema's reference validator as Vespe's second engine."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from vespe.schemas import reference, validator
from vespe.schemas.explain import Explainer

DRAFTS = ("draft2020-12", "draft7")
ADDRESS = {
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
}


def suite(shared: Path, draft: str) -> Iterator[tuple[str, Any, list[Any]]]:
    for file in sorted((shared / "corpus/jsonschema-suite/tests" / draft).glob("*.json")):
        for group in json.loads(file.read_text(encoding="utf-8")):
            schema, address = (
                group["schema"],
                ADDRESS.get(
                    draft, f"http://json-schema.org/{draft.replace('draft', 'draft-0')}/schema#"
                ),
            )
            if isinstance(schema, dict) and "$schema" not in schema:
                schema = {"$schema": address, **schema}
            yield f"{file.stem}: {group['description']}", schema, group["tests"]


@pytest.mark.parametrize("draft", DRAFTS)
def test_both_engines_say_what_the_drafts_suites_say(shared: Path, draft: str) -> None:
    judged, wrong = 0, []
    for place, schema, tests in suite(shared, draft):
        if validator.check_schema(schema, root_object=False):
            continue
        try:
            engines = (
                validator.compile_schema(schema, closed=False),
                reference.validator_for(schema),
            )
            for test in tests:
                judged += 1
                wrong += [(place, test["description"])] * (
                    [one.is_valid(test["data"]) for one in engines] != [test["valid"]] * 2
                )
        except ValueError as error:
            # Python's patterns have no such class
            wrong += [(place, str(error))] * ("bad escape \\p" not in str(error))
    assert wrong == [] and judged > 400


OBJECT = {
    "type": "object",
    "properties": {
        "n": {"type": "integer", "minimum": 3},
        "c": {"enum": ["red", "blue"]},
        "w": {"pattern": "^a+$"},
        "k": {"const": 1},
        "x": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]},
        "l": {"minItems": 2, "uniqueItems": True},
    },
    "required": ["n"],
    "dependentRequired": {"c": ["k"]},
    "propertyNames": {"maxLength": 1},
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"n": 1},
        {"n": "3"},
        {"n": 3, "c": "rod", "k": 1},
        {"n": 3, "w": "b"},
        {"n": 3, "z": 1},
        {"n": 3, "k": 2},
        {"c": "red", "n": 3},
        {"n": 3, "x": 1},
        {"n": 3, "x": [1, "a"]},
        {"n": 3, "l": [1]},
        {"n": 3, "l": [1, 1]},
        3,
        None,
        [],
    ],
    ids=str,
)
def test_both_engines_use_the_same_words(value: Any) -> None:
    native = validator.compile_schema(OBJECT, closed=True).violations(value)
    ours = Explainer(OBJECT, value).violations(reference.validator_for(OBJECT).iter_errors(value))
    assert {(one.code, one.pointer, one.message) for one in ours} == {
        (one.code, one.pointer, one.message) for one in native
    }


@pytest.mark.parametrize(("pattern", "text"), [("^a$", "a\n"), (r"^\d$", "\u0663"), (r"^\w$", "é")])
def test_patterns_mean_the_same_in_both_engines(pattern: str, text: str) -> None:
    assert not reference.validator_for({"pattern": pattern}).is_valid(text)
    assert reference.validator_for({"pattern": pattern}).is_valid(
        "a" if "w" in pattern or "a" in pattern else "3"
    )


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a*)*", "([a-z]+){5,}", r"\p{L}", "("])
def test_a_pattern_that_could_run_for_ever_or_that_python_does_not_know_is_refused(
    pattern: str,
) -> None:
    with pytest.raises(ValueError, match=r"."):
        reference.python_pattern(pattern)


def test_nothing_is_fetched() -> None:
    with pytest.raises(ValueError, match="cannot be checked"):
        reference.validator_for({"$ref": "http://127.0.0.1:9/schema"}).is_valid(1)


WITHOUT = """
import sys
sys.modules["jsonschema_rs"] = None
from vespe.schemas import validator
schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
assert validator.check_schema(schema) == [] and validator.check_schema({"type": "object", "required": "n"})[0].pointer == "/required"
judge = validator.compile_schema(schema, closed=True)
assert judge.is_valid({"n": 1}) and not judge.is_valid({"n": 1, "m": 2})
print(judge.violations({"n": "x", "m": 2}))
"""


def test_where_the_fast_engine_has_no_wheel_the_reference_judges() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert (
        done.returncode == 0
        and "must be an integer" in done.stdout
        and "`m` is not allowed" in done.stdout
    ), done.stderr


def test_the_reference_is_not_loaded_where_the_fast_engine_is_there() -> None:
    code = (
        "import sys; from vespe.schemas import validator as v; v.compile_schema({'type': "
        "'object'}, closed=True).is_valid({})"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; print('jsonschema' in sys.modules)"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout == "False\n"


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        (r"\p{L}", "cannot be read"),
        (r"(?<year>[0-9]+)", "cannot be read"),
        (r"^\d+$", "also takes"),
        (r"^\w+$", "also takes"),
        (r"^[0-9]+$", None),
        ("^a+$", None),
        ("", None),
        ("[", "cannot be read"),
    ],
)
def test_it_is_said_how_python_reads_a_pattern_otherwise(pattern: str, says: str | None) -> None:
    found = reference.differs_in_python(pattern)
    assert (says or "") in (found or "") and (found is None) is (says is None)
