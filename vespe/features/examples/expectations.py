"""What an example expects of its call: an output, exactly, by JSON Schema or by a pattern, or the
code of an error; pure.
"""

from typing import Any

from vespe.documents import strict_json
from vespe.documents.pointers import pointer_to
from vespe.errors import InvalidDocument
from vespe.models import JsonObject, JsonValue, Outcome
from vespe.schemas import validator
from vespe.schemas.explain import messages_of

Steps = tuple[str | int, ...]


def difference(example: JsonObject, outcome: Outcome) -> tuple[str, str | None]:
    """Say how an outcome differs from what its example expects: a pointer below the example and a
    sentence, `("", None)` where not.

    `output` is compared as JSON compares; `output_schema` judges the result; `output_pattern` is
    searched by the linear engine in a result that is a string, or in the compact JSON of any other.
    All that an example names must hold.
    """
    if "error" in example:
        problem = _error_mismatch(str(example["error"]), outcome)
        return ("/error", problem) if problem else ("", None)
    if outcome.error is not None:
        return "", f"failed with {outcome.error.code}: {outcome.error.message}"
    if (
        "output" in example
        and (steps := first_difference(outcome.result, example["output"])) is not None
    ):
        return f"/output{pointer_to(steps)}", _unlike(outcome.result, example["output"], steps)
    if "output_schema" in example and (
        problem := _breaks_schema(example["output_schema"], outcome.result)
    ):
        return "/output_schema", problem
    if "output_pattern" in example and (
        problem := _breaks_pattern(str(example["output_pattern"]), outcome.result)
    ):
        return "/output_pattern", problem
    return "", None


def _error_mismatch(code: str, outcome: Outcome) -> str | None:
    if outcome.error is None:
        return f"succeeded with {_short(outcome.result)}, expected the error {code}"
    if outcome.error.code != code:
        return f"failed with {outcome.error.code} ({outcome.error.message}), expected {code}"
    return None


def _unlike(result: JsonValue, expected: JsonValue, steps: Steps) -> str:
    if not steps:
        return f"gave {_short(result)}, expected {_short(expected)}"
    left, right = _at(result, steps), _at(expected, steps)
    return f"gave {left} at {pointer_to(steps)}, expected {right}"


def _at(value: JsonValue, steps: Steps) -> str:
    for step in steps:
        if (isinstance(value, dict) and step not in value) or (
            isinstance(value, list) and int(step) >= len(value)
        ):
            return "nothing"
        value = value[step]
    return _short(value)


def _breaks_schema(schema: JsonValue, result: JsonValue) -> str | None:
    if problems := validator.check_schema(schema, root_object=False):
        return f"`output_schema`{problems[0].pointer} {problems[0].message}"
    violations = validator.compile_schema(schema, closed=False).violations(
        result, subject="the result"
    )
    return messages_of(violations) or None


def _breaks_pattern(pattern: str, result: JsonValue) -> str | None:
    text = result if isinstance(result, str) else strict_json.compact_json(result)
    try:
        found = validator.Validator({"pattern": pattern}).is_valid(text)
    except InvalidDocument:
        return f"`output_pattern` is not a pattern for a linear-time engine: {_short(pattern)}"
    return (
        None
        if found
        else f"gave {_short(result)}, in which the pattern {_short(pattern)} is not found"
    )


def first_difference(left: JsonValue, right: JsonValue) -> Steps | None:
    """Return the steps to the first place where two values differ, as JSON compares: 1 and 1.0 are
    the same, true and 1 are not.
    """
    if isinstance(left, dict) and isinstance(right, dict):
        for key in (*right, *(key for key in left if key not in right)):
            if key not in left or key not in right:
                return (key,)
            if (steps := first_difference(left[key], right[key])) is not None:
                return (key, *steps)
        return None
    if isinstance(left, list) and isinstance(right, list):
        for index, (one, other) in enumerate(zip(left, right, strict=False)):
            if (steps := first_difference(one, other)) is not None:
                return (index, *steps)
        return None if len(left) == len(right) else (min(len(left), len(right)),)
    return None if _same_scalar(left, right) else ()


def _same_scalar(left: Any, right: Any) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return bool(left == right)


def _short(value: JsonValue) -> str:
    text = strict_json.compact_json(value)
    return text if len(text) <= 200 else f"{text[:200]}… ({len(text)} characters)"
