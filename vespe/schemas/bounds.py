"""What a schema may cost and where it may point: sizes, depths, patterns, and references that never
leave the document.
"""

import json
from collections.abc import Iterator
from typing import Any, Final

from vespe import defaults
from vespe.documents.nesting import deeper_than
from vespe.documents.pointers import pointer_to
from vespe.schemas.explain import Violation
from vespe.schemas.subschemas import REFERENCES, References, Steps, is_resource, walk

BUNDLED: Final = frozenset(
    (
        "https://json-schema.org/draft/2020-12/schema",
        "https://json-schema.org/draft/2019-09/schema",
        "http://json-schema.org/draft-07/schema",
        "http://json-schema.org/draft-06/schema",
        "http://json-schema.org/draft-04/schema",
    )
)
"""The addresses of the drafts that validators carry with them, without a trailing `#`: naming one
is no reference.
"""
MAX_PATTERNS: Final = 256
MAX_LIST: Final = 1000
"""Entries of `required`, `type` and the like: each can become a violation that holds the whole
value.
"""
_FEW: Final = 2000
"""A text of fewer bytes has too few commas, braces and booleans to come near MAX_LIST or
MAX_SUBSCHEMAS.
"""
MAX_ENUM_COMPOUND: Final = 100
"""Arrays and objects in one `enum`: they are compared one by one with each value."""


def is_plain(schemas: dict[str, Any], source: bytes, *, beside: int = 0) -> bool:
    """Whether JSON text shows by counting that the schemas in it are far from every bound and refer
    nowhere.

    `schemas` are those that were read from it, by name. A \\u escape could hide a keyword, so a
    text with one is never plain. `beside` counts the keys outside the schemas that begin with `$`.
    One byte is looked for first: that is much quicker.
    """
    braces = source.count(b"{")
    return (
        (
            b"$" not in source
            or source.count(b'"$') == beside + sum(map(_names_bundled_draft, schemas.values()))
        )
        and (b"\\" not in source or b"\\u" not in source)
        and b"attern" not in source
        and len(source) <= defaults.MAX_SCHEMA_BYTES
        and (
            len(source) < _FEW
            or (
                source.count(b",") < MAX_LIST
                and braces + source.count(b"true") + source.count(b"false") < MAX_LIST
            )
        )
        and (
            braces <= defaults.MAX_SCHEMA_DEPTH
            or not deeper_than(schemas, defaults.MAX_SCHEMA_DEPTH)
        )
    )


def _names_bundled_draft(schema: Any) -> bool:
    return (
        isinstance(schema, dict)
        and isinstance(draft := schema.get("$schema"), str)
        and is_bundled(draft)
    )


def written(schema: Any) -> str | Violation:
    """Return the JSON text of a schema, or what keeps it from having one."""
    if deeper_than(schema, defaults.MAX_JSON_DEPTH):
        return _problem("bound", (), f"is nested deeper than {defaults.MAX_JSON_DEPTH} levels")
    try:
        text = json.dumps(schema, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        text.encode("utf-8")
    except (TypeError, ValueError) as error:
        return _problem("not_json", (), f"is not JSON: {error}")
    return text


def size_problems(schema: Any, text: str) -> list[Violation]:
    """Say which bound of depth, length or number a schema breaks; where none, it may be walked and
    judged.
    """
    length = len(text.encode("utf-8"))
    if length > defaults.MAX_SCHEMA_BYTES:
        return [
            _problem(
                "bound",
                (),
                f"is {length} bytes long; a schema may have {defaults.MAX_SCHEMA_BYTES}",
            )
        ]
    count = 0
    for steps, sub, depth, _ in walk(schema, most=defaults.MAX_SUBSCHEMAS + 1):
        count += 1
        if depth > defaults.MAX_SCHEMA_DEPTH:
            return [
                _problem(
                    "bound", steps, f"is nested deeper than {defaults.MAX_SCHEMA_DEPTH} subschemas"
                )
            ]
        if too_long := next(_long_lists(sub), None):
            return [_problem("bound", (*steps, too_long[0]), too_long[1])]
    if count > defaults.MAX_SUBSCHEMAS:
        return [_problem("bound", (), f"has more than {defaults.MAX_SUBSCHEMAS} subschemas")]
    patterns = sum(1 for _ in pattern_places(schema)) if "attern" in text else 0
    return (
        [_problem("bound", (), f"has {patterns} patterns; a schema may have {MAX_PATTERNS}")]
        if patterns > MAX_PATTERNS
        else []
    )


def _long_lists(schema: Any) -> Iterator[tuple[str, str]]:
    for keyword, value in schema.items() if isinstance(schema, dict) else ():
        if not isinstance(value, list) or keyword in ("examples", "const", "default"):
            continue
        most = defaults.MAX_ENUM if keyword == "enum" else MAX_LIST
        if len(value) > most:
            yield keyword, f"has {len(value)} entries; it may have {most}"
        if (
            keyword == "enum"
            and sum(isinstance(v, (dict, list)) for v in value) > MAX_ENUM_COMPOUND
        ):
            yield keyword, f"has more than {MAX_ENUM_COMPOUND} entries that are arrays or objects"


def pattern_places(schema: Any) -> Iterator[tuple[Steps, str]]:
    """Return every regular expression of a schema with the steps to it."""
    for steps, sub, _, _ in walk(schema, most=defaults.MAX_SUBSCHEMAS):
        if not isinstance(sub, dict):
            continue
        if isinstance(pattern := sub.get("pattern"), str):
            yield (*steps, "pattern"), pattern
        if isinstance(named := sub.get("patternProperties"), dict):
            yield from (((*steps, "patternProperties", key), key) for key in named)


def reference_problems(schema: Any) -> list[Violation]:
    """Say which references leave the document, or name a place that it does not have.

    A reference that is neither `#…` nor a bundled draft is left to the validator's own registry
    where the schema has resources of its own (`$id`): only it knows what they resolve to, and it
    can fetch nothing.
    """
    subs = list(walk(schema, most=defaults.MAX_SUBSCHEMAS))
    references = References(schema, most=defaults.MAX_SUBSCHEMAS)
    has_resources = any(isinstance(sub, dict) and is_resource(sub) for _, sub, _, _ in subs)
    problems = []
    for steps, sub, _, resource in subs:
        if not isinstance(sub, dict):
            continue
        if isinstance(draft := sub.get("$schema"), str) and not is_bundled(draft):
            problems.append(
                _problem(
                    "draft",
                    (*steps, "$schema"),
                    f"names {_quoted(draft)}, which is not a draft that Vespe supports",
                )
            )
        for keyword in REFERENCES:
            reference = sub.get(keyword)
            if not isinstance(reference, str) or is_bundled(reference):
                continue
            if reference.startswith("#") or not reference:
                if references.target(reference, resource=resource) is None:
                    problems.append(
                        _problem(
                            "reference",
                            (*steps, keyword),
                            f"refers to {_quoted(reference)}, which the schema does not have",
                        )
                    )
            elif not has_resources:
                problems.append(
                    _problem(
                        "reference",
                        (*steps, keyword),
                        f"refers to {_quoted(reference)}, outside this document",
                    )
                )
    return problems


def is_bundled(address: str) -> bool:
    """Whether an address names one of the drafts that validators carry with them."""
    return address.removesuffix("#") in BUNDLED


def _problem(code: str, steps: Steps, message: str) -> Violation:
    return Violation(code, pointer_to(steps), message)


def _quoted(text: str) -> str:
    return json.dumps(text if len(text) <= 80 else text[:79] + "…", ensure_ascii=False)
