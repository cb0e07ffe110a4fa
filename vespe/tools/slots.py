"""Braces in a tool's `implementation_details` that contain no input's name, so that a call sends
them unchanged.
"""

from collections.abc import Iterator
from typing import Any

from vespe.lazy import difflib
from vespe.models import JsonObject
from vespe.tool_types import type_in
from vespe.tools import templates


def unknown(
    details: JsonObject, schema: JsonObject
) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
    """Yield each such name with its place in `details` and the input that it is most like, "" where
    it is like none.
    """
    kind = type_in(details)
    names = templates.input_names(schema)
    places = [((key,), details.get(key)) for key in (kind.slots if kind is not None else ())]
    for steps, text in (found for at, value in places for found in _texts(value, at)):
        for name in templates.parse(text, names).unknown if "{" in text else ():
            close = difflib.get_close_matches(name, names, n=1)
            yield steps, name, close[0] if close else ""


def _texts(value: Any, steps: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if isinstance(value, str):
        yield steps, value
    elif isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _texts(item, (*steps, key))
