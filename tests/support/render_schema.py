"""Make the published schema of config.json of the tables that Vespe checks by; `./dev docs` writes
it.
"""

from pathlib import Path

import vespe
from vespe.documents import strict_json
from vespe.models import JsonObject
from vespe.schemas import forms
from vespe.tool_types import TYPES, type_of
from vespe.tools import fields, implementations

PUBLISHED = Path(vespe.__file__).parent / "data" / "tool.schema.json"
HEAD: JsonObject = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "https://vespe.invalid/schemas/tool.schema.json",
    "$comment": "Version 2. Vespe 0.2 reads version 1, without objects in `secrets` and without "
    "`permissions.sockets`. The $id names this schema and is never fetched; `vespe schema tool` "
    "prints it.",
    "title": "A tool: config.json",
    "description": "What a tool is: its name, the schema of its inputs and outputs, and how to run "
    "it. The directory that holds this file is named by its uid.",
    "type": "object",
}


def made() -> str:
    """Return the published schema of the keys, the types and the permissions that there are."""
    properties = forms.schemas(fields.FIELDS)
    for key in implementations.WITHOUT_SECRETS:
        properties[key] = {**properties[key], "allOf": [{"$ref": "#/$defs/withoutSecrets"}]}
    document = {
        **HEAD,
        "required": [*fields.REQUIRED],
        "properties": properties,
        "$defs": {
            **forms.DEFINITIONS,
            "implementation": _implementation(),
            **{name: type_of(name).form().schema() for name in TYPES},
        },
    }
    return strict_json.dump_json(document)


def _implementation() -> JsonObject:
    return {
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"enum": [*TYPES]}, **forms.schemas(implementations.SHARED)},
        "allOf": [
            {
                "if": {"properties": {"type": {"const": name}}},
                "then": {"$ref": f"#/$defs/{name}", "properties": _secrets(name)},
            }
            for name in TYPES
        ],
    }


def _secrets(name: str) -> JsonObject:
    """Say where secrets may be in the details of a type."""
    keys = type_of(name).secret_keys
    return {
        key: {"$ref": f"#/$defs/{'withSecrets' if key in keys else 'withoutSecrets'}"}
        for key in dict.fromkeys((*implementations.SHARED, *keys))
    }


def main() -> None:
    """Write it."""
    PUBLISHED.write_text(made(), encoding="utf-8")


if __name__ == "__main__":
    main()
