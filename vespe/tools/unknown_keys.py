"""What an author has put into a tool's config.json that Vespe does not know, which a writer that
makes the file anew has to keep.
"""

from typing import Final

from vespe.documents.fields import others
from vespe.models import JsonObject
from vespe.tool_types import type_in
from vespe.tools.fields import FIELDS
from vespe.tools.implementations import SHARED


def kept(made: JsonObject, former: JsonObject) -> JsonObject:
    """Return a config.json that was made anew, with the unknown keys that the former one had: its
    own, those of `implementation_details` where the type is the same, and those of `schema`.
    """
    document = {**made, **others(former, (*FIELDS, *made))}
    for key, known in (("implementation_details", _details(made)), ("schema", _SCHEMA)):
        now, before = made.get(key), former.get(key)
        if isinstance(now, dict) and isinstance(before, dict) and _type(now) == _type(before):
            document[key] = {**now, **others(before, (*known, *now))}
    return document


_SCHEMA: Final = ("input", "output")


def _details(document: JsonObject) -> tuple[str, ...]:
    details = document.get("implementation_details")
    kind = type_in(details) if isinstance(details, dict) else None
    return ("type", *SHARED, *(() if kind is None else kind.form().keys))


def _type(value: JsonObject) -> object:
    return value.get("type")
