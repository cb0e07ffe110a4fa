"""What stands beside a type in `Annotated[…]` or `Field(…)` (bounds, lengths, patterns, words) as
JSON Schema keywords.
"""

import ast
import contextlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from vespe.models import JsonObject, JsonValue
from vespe.tools.python.names import Names, spelling

_BOUNDS: Mapping[str, str] = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}
_LENGTHS: Mapping[str, Mapping[str, str]] = {
    "min_length": {"string": "minLength", "array": "minItems", "object": "minProperties"},
    "max_length": {"string": "maxLength", "array": "maxItems", "object": "maxProperties"},
    "min_items": {"array": "minItems"},
    "max_items": {"array": "maxItems"},
}
_WORDS: Mapping[str, str] = {
    "pattern": "pattern",
    "regex": "pattern",
    "description": "description",
    "title": "title",
    "examples": "examples",
    "documentation": "description",
}
_POSITIONAL: Mapping[str, tuple[str, ...]] = {
    "Ge": ("ge",),
    "Gt": ("gt",),
    "Le": ("le",),
    "Lt": ("lt",),
    "Interval": ("gt", "ge", "lt", "le"),
    "MultipleOf": ("multiple_of",),
    "MinLen": ("min_length",),
    "MaxLen": ("max_length",),
    "Len": ("min_length", "max_length"),
    "Doc": ("documentation",),
    "Field": (),
    "StringConstraints": (),
    "Meta": (),
    "Body": (),
    "Query": (),
    "Param": (),
}
"""The calls that are understood, by their last name, with the meaning of what they are given by
position.
"""
_NUMBERS = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf")


def keywords(node: ast.expr, names: Names, types: Collection[str]) -> JsonObject:
    """The keywords that one piece of metadata adds to a schema of these JSON types; {} for metadata
    of others.

    A text is a description. `Ge(0)`, `Len(1, 9)`, `Doc("…")` (annotated-types, typing) and the
    arguments of `Field(ge=0, description="…")` and its like are known by their names alone. No
    types given means any.
    """
    try:
        alone = names.literal(node)
    except ValueError:
        alone = None
    if isinstance(alone, str):
        return {"description": alone}
    settings = []
    for setting, value in _settings(node):
        with contextlib.suppress(ValueError):
            settings.append((setting, names.literal(value)))
    return _said(settings, types)


def live_keywords(piece: Any, types: Collection[str]) -> JsonObject:
    """The keywords of metadata in a running program: what `keywords` reads, from objects that have
    those attributes.
    """
    if isinstance(piece, str):
        return {"description": piece}
    found: JsonObject = {}
    for inner in getattr(piece, "metadata", None) or ():
        found |= live_keywords(inner, types)
    settings = (
        {name: getattr(piece, name, None) for name in (*_BOUNDS, *_LENGTHS, *_WORDS)}
        if not isinstance(piece, type)
        else {}
    )
    return found | _said(
        [
            (name, getattr(value, "pattern", value))
            for name, value in settings.items()
            if value is not None
        ],
        types,
    )


def _said(settings: Iterable[tuple[str, JsonValue]], types: Collection[str]) -> JsonObject:
    return {
        keyword: value
        for setting, value in settings
        for keyword in _keyword(setting, types)
        if _fits(keyword, value)
    }


def _settings(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    positional = (
        _POSITIONAL.get(spelling(node).rpartition(".")[2]) if isinstance(node, ast.Call) else None
    )
    if positional is not None and isinstance(node, ast.Call):
        yield from zip(positional, node.args, strict=False)
        yield from ((keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg)


def _keyword(setting: str, types: Collection[str]) -> list[str]:
    if setting in _LENGTHS:
        return [
            keyword for kind, keyword in _LENGTHS[setting].items() if kind in types or not types
        ]
    return [keyword for keyword in (_BOUNDS.get(setting) or _WORDS.get(setting),) if keyword]


def _fits(keyword: str, value: object) -> bool:
    if keyword in _NUMBERS:
        return (
            isinstance(value, (int, float))
            and not isinstance(value, bool)
            and (keyword != "multipleOf" or value > 0)
        )
    if keyword == "examples":
        return isinstance(value, list)
    if keyword in _WORDS.values():
        return isinstance(value, str)
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
