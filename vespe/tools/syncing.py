"""A created tool's schema derived again from its function, with what its author added to it by hand
kept.
"""

import os
from typing import Any, Final

from vespe.errors import UsageError
from vespe.files import atomic
from vespe.models import JsonObject, Tool
from vespe.tool_types import type_of
from vespe.tools.drafts import without_fixed
from vespe.tools.python.signatures import derive

_BY_HAND: Final = (
    "description",
    "title",
    "examples",
    "pattern",
    "format",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "uniqueItems",
    "deprecated",
)
"""What a signature seldom says of an input, so that a person adds it: kept while the input's type
stays.
"""


def derived_config(tool: Tool) -> JsonObject:
    """Return the tool's config.json with the schema that its function has now; nothing else of it
    changes.

    Raises UsageError for a tool that is not a Python script, InvalidDocument for a script that
    cannot be read.
    """
    details = tool.implementation
    if (
        details is None
        or not type_of(details.type).is_python
        or not details.path
        or not details.entrypoint
    ):
        raise UsageError(
            f"{tool.name} is not a Python script, so no signature says what its schema is"
        )
    path = os.path.join(tool.directory or "", details.path)
    source = atomic.read_bytes(path).decode("utf-8", "replace")
    derived = derive(source, details.entrypoint, path=path)
    schema: JsonObject = {
        **tool.document["schema"],
        "input": _merged(tool.input_schema, without_fixed(derived.input_schema, details.args)),
    }
    if derived.output_schema is not None:
        schema["output"] = derived.output_schema
    return {**tool.document, "schema": schema}


def _merged(old: Any, derived: JsonObject) -> JsonObject:
    before = old.get("properties") if isinstance(old, dict) else None
    known = before if isinstance(before, dict) else {}
    properties = {
        name: _kept(known.get(name), one) for name, one in derived.get("properties", {}).items()
    }
    return {**derived, "properties": properties}


def _kept(old: Any, derived: JsonObject) -> JsonObject:
    if not isinstance(old, dict) or old.get("type") != derived.get("type"):
        return derived
    now = {**{key: old[key] for key in _BY_HAND if key in old}, **derived}
    # so that a difference shows no other order
    order = [*(key for key in old if key in now), *(key for key in now if key not in old)]
    return {key: now[key] for key in order}
