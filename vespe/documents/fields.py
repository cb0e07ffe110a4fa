"""Typed fields of a document that Vespe has read: the value, or the JSON Pointer of what has the
wrong type.
"""

import json
from collections.abc import Iterable
from typing import Final

from vespe.errors import InvalidDocument
from vespe.models import JsonObject, JsonValue

FORMAT_VERSION: Final = 1
"""The only `version` that the configuration files of a project and a user may name; without one
they are of this version.
"""


def string(document: JsonObject, key: str, *, path: str, default: str | None = None) -> str | None:
    """Return the string under `key`, or `default` where the key is absent; raises InvalidDocument
    for another type.
    """
    value = document.get(key, default)
    if value is not default and not isinstance(value, str):
        raise wrong_type("a string", value, path=path, pointer=f"/{key}")
    return value


def strings(
    document: JsonObject, key: str, *, path: str, default: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Return the array of strings under `key`; raises InvalidDocument for another type, with the
    pointer of the first wrong element.
    """
    if key not in document:
        return default
    value = document[key]
    if not isinstance(value, list):
        raise wrong_type("an array of strings", value, path=path, pointer=f"/{key}")
    for index, element in enumerate(value):
        if not isinstance(element, str):
            raise wrong_type("a string", element, path=path, pointer=f"/{key}/{index}")
    return tuple(value)


def mapping(document: JsonObject, key: str, *, path: str) -> JsonObject:
    """Return the object under `key`, or an empty one; raises InvalidDocument for another type."""
    value = document.get(key, {})
    if not isinstance(value, dict):
        # An object may hold secrets, so what stands in its place may be one: it is not quoted.
        raise InvalidDocument("must be an object", path=path, pointer=f"/{key}")
    return value


def others(document: JsonValue, known: Iterable[str]) -> JsonObject:
    """Return the keys of an object that Vespe does not know, which a write keeps; none of anything
    else.
    """
    names = frozenset(known)
    items = document.items() if isinstance(document, dict) else ()
    return {key: value for key, value in items if key not in names}


def refuse_newer(document: JsonObject, *, path: str, newest: int = FORMAT_VERSION) -> None:
    """Raise InvalidDocument where the document names a `version` of its format that this Vespe does
    not know: it reads all up to `newest`.
    """
    version = document.get("version", FORMAT_VERSION)
    if isinstance(version, bool) or version not in range(FORMAT_VERSION, newest + 1):
        known = "version 1" if newest == FORMAT_VERSION else f"versions up to {newest}"
        raise InvalidDocument(
            f"has version {_shown(version)}, but this version of Vespe only reads {known}",
            path=path,
            pointer="/version",
            hint="use a newer version of Vespe; the file was not changed",
        )


def wrong_type(wanted: str, value: JsonValue, *, path: str, pointer: str) -> InvalidDocument:
    """Return the error of a value that is not what it must be, quoting its beginning."""
    return InvalidDocument(f"must be {wanted}, not {_shown(value)}", path=path, pointer=pointer)


def _shown(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= 40 else text[:37] + "..."
