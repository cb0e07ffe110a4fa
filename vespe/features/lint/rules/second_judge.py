"""Rules on what a schema means to JSON Schema's reference validator in Python, where that differs
from what it means here.
"""

from collections.abc import Iterator
from typing import Any, Final

from vespe.documents.pointers import pointer_to
from vespe.features.lint.base import Found, Node, Subject, rule
from vespe.schemas import reference, validator
from vespe.schemas.comparison import samples
from vespe.schemas.explain import short
from vespe.schemas.reference import differs_in_python
from vespe.schemas.subschemas import REFERENCES, References

_ASKED: Final = {
    "multipleOf": "fractions are not exact in binary: use whole numbers, such as cents, or "
    "remove it",
    "dependencies": "write `dependentRequired` or `dependentSchemas`, which every validator "
    "of draft 2020-12 supports",
    "$recursiveRef": "write `$dynamicRef`, the form of draft 2020-12",
    "contains": "state `minContains` and `maxContains` if they matter",
    "unevaluatedProperties": "write `additionalProperties` in the schema that has the properties",
    "unevaluatedItems": "write `items` in the schema that has the other items",
    "dependentSchemas": "write `if` and `then`",
    "uniqueItems": "remove it if the items have several types",
}
"""Keywords that two judges have read differently, and what to write in their place."""
_MULTIPLES: Final = 40


@rule("schema-pattern-dialect", "warning")
def _pattern_dialect(subject: Subject) -> Iterator[Found]:
    r"""Python's reference validator reads a pattern differently.

    Many MCP servers, SDKs and editors use Python's jsonschema, which uses Python's regular
    expressions: it crashes at \p{L} and (?<name>…), and its \d, \w and \s match the digits, letters
    and spaces of every script.

    Bad: {"pattern": "^\\p{L}+$"}
    Good: {"pattern": "^[A-Za-z]+$"}
    """
    broken = {problem.pointer for problem in subject.schema_problems if problem.code == "pattern"}
    for node in subject.nodes:
        named = node.schema.get("patternProperties")
        places = [("/pattern", node.schema.get("pattern"))]
        places += [
            (f"/patternProperties{pointer_to((key,))}", key)
            for key in (named if isinstance(named, dict) else ())
        ]
        for below, pattern in places:
            pointer = node.pointer + below
            if (
                isinstance(pattern, str)
                and pointer not in broken
                and (how := differs_in_python(pattern))
            ):
                yield Found(
                    part=node.part,
                    pointer=pointer,
                    severity=None if how.startswith("cannot") else "info",
                    message=f"in Python's jsonschema the pattern {short(pattern)} {how}",
                    fix="write the characters out, such as [0-9] for \\d and [A-Za-z] for \\p{L}",
                )


@rule("schema-second-judge", "warning")
def _disagreement(subject: Subject) -> Iterator[Found]:
    """Python's reference validator disagrees about a value.

    If one program accepts a value that another refuses, users get errors that are hard to explain.
    Lint tests values at the limits of the schema with both validators if the schema has keywords
    that they are known to read differently: fractions in `multipleOf`, and keywords of earlier
    drafts.

    Bad: {"type": "number", "multipleOf": 0.01}
    Good: {"type": "integer", "description": "The price in cents."}
    """
    if any(problem.code != "bounds" for problem in subject.schema_problems):
        return  # what is not a schema means nothing to anybody
    for node in subject.nodes:
        keyword = next((one for one in _ASKED if one in node.schema), None)
        if (
            keyword is None
            or (keyword == "multipleOf" and isinstance(node.schema[keyword], int))
            or REFERENCES & node.schema.keys()
        ):
            continue
        if (value := _judged_otherwise(node, keyword)) is not None:
            yield Found(
                part=node.part,
                pointer=f"{node.pointer}/{keyword}",
                message=f"for {short(value[0])}, Python's jsonschema does not follow JSON "
                f"Schema in this `{keyword}`",
                fix=_ASKED[keyword],
            )


def _judged_otherwise(node: Node, keyword: str) -> tuple[Any] | None:
    """Return a value of which the two judges say different things, or None."""
    schema = node.schema
    candidates = samples.samples([(schema, References(schema))], [], fits=lambda *_: True)
    if keyword == "multipleOf":
        candidates = [round(number * schema[keyword], 12) for number in range(1, _MULTIPLES)]
    elif keyword == "dependencies" and isinstance(schema[keyword], dict):
        candidates = [*candidates, *({name: ""} for name in schema[keyword])]
    try:
        judge = validator.compile_schema(schema, closed=False)
        return next(
            (
                (value,)
                for value in candidates
                if judge.is_valid(value) != reference.is_valid_in_python(schema, value)
            ),
            None,
        )
    except ValueError:
        return None  # a pattern or a reference that only one of them knows has a rule of its own
