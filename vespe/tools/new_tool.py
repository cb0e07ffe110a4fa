"""What the templates of `vespe tool create` share: what one says, and how the user's own words take
its place.
"""

import keyword
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

from vespe.errors import UsageError
from vespe.models import JsonObject, JsonValue
from vespe.records import dataclass
from vespe.tool_types import TYPES, type_of

SLOT = re.compile(r"(?<!\$)\{([A-Za-z_][A-Za-z0-9_]*)\}")
NO_INPUTS: JsonObject = {"type": "object", "properties": {}, "additionalProperties": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTemplate:
    """What a new tool begins with; `script` is the text of its Python file, "" for the types that
    need none.
    """

    description: str
    input_schema: JsonObject
    entrypoint: str
    path: str | None = None
    args: JsonObject = field(default_factory=dict)
    script: str = ""


def created_types() -> tuple[str, ...]:
    """Return the types that a new tool can begin with."""
    return tuple(name for name in TYPES if type_of(name).has_template)


def slots_schema(templates: list[JsonValue], *, optional: JsonValue = None) -> JsonObject:
    """A schema of one string input for each `{name}` in the templates.

    What stands only in a list within a list, or only in `optional`, may be absent.
    """
    found: dict[str, bool] = {}
    for nested, name in _slots([*templates], 0):
        found[name] = found.get(name, False) or nested <= 1
    for _, name in _slots(optional, 0):
        found.setdefault(name, False)
    required = [name for name, needed in found.items() if needed]
    schema: JsonObject = {
        "type": "object",
        "properties": {name: {"type": "string"} for name in found},
    }
    return {**schema, **({"required": required} if required else {}), "additionalProperties": False}


def function_name(name: str) -> str:
    """The name of a tool as that of a Python function."""
    plain = name.replace("-", "_")
    return f"{plain}_" if keyword.iskeyword(plain) else plain


def said_of(template: ToolTemplate) -> JsonObject:
    """Return what a template says, by the fields that the user's own words take the place of."""
    return {
        "description": template.description,
        "path": template.path,
        "entrypoint": template.entrypoint,
        "args": template.args,
    }


def document_of(name: str, type: str, said: Mapping[str, Any]) -> JsonObject:
    """Return config.json without `uid` for a type and what is said of a tool."""
    details = {
        "type": type,
        "path": said.get("path"),
        "entrypoint": said.get("entrypoint"),
        "args": said.get("args") or {},
    }
    return {
        "name": name,
        "description": said["description"],
        "schema": said["schema"],
        "implementation_details": {
            key: value for key, value in details.items() if value is not None
        },
    }


def schemas_of(given: JsonValue, inputs: JsonObject, output: JsonObject | None) -> JsonObject:
    """The `schema` of config.json: what the user gave as a pair, or as the schema of the inputs
    alone, before what is known.
    """
    if given is None:
        return {"input": inputs, **({"output": output} if output is not None else {})}
    pair = (
        isinstance(given, dict)
        and "input" in given
        and not {"type", "properties", "$ref", "$schema"} & given.keys()
    )
    return dict(given) if pair else {"input": given}


def existing_file(path: str, directory: str) -> str | None:
    """The file that a user's path names, or None where a bare name names nothing yet."""
    found = os.path.join(directory, path)
    if os.path.isfile(found):
        return found
    if os.path.basename(path) != path:
        raise UsageError(f"there is no file {path}", hint="give the path from where you are")
    return None


def _slots(value: JsonValue, depth: int) -> Iterator[tuple[int, str]]:
    """Every slot in a value with the number of lists above it, not counting the outermost."""
    if isinstance(value, str):
        yield from ((depth - 1, name) for name in SLOT.findall(value))
    elif isinstance(value, list):
        for item in value:
            yield from _slots(item, depth + 1)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _slots(item, depth)
