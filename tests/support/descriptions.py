"""Small descriptions for the tests of their import."""

import json
from pathlib import Path
from typing import Any

from vespe.features.imports.made import Imported, Made, Selection
from vespe.features.imports.openapi.documents import Documents
from vespe.features.imports.openapi.importing import import_openapi
from vespe.models import JsonObject


def described(paths: JsonObject, *, version: str = "3.1.0", **more: Any) -> JsonObject:
    """Return a description with these paths."""
    key = "swagger" if version.startswith("2") else "openapi"
    return {
        key: version,
        "info": {"title": "Test", "version": "1"},
        "servers": [{"url": "https://api.example"}],
        "paths": paths,
        **more,
    }


def imported(document: JsonObject, directory: Path, **selected: Any) -> Imported:
    """Import a description from a file in `directory`."""
    file = directory / "api.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    return import_openapi(Documents(str(file)), kit_id="kit", selection=Selection(**selected))


def tool_of(
    said: JsonObject, directory: Path, *, path: str = "/x", method: str = "post", **more: Any
) -> Made:
    """Import one operation, and return its tool."""
    (made,) = imported(described({path: {method: said}}, **more), directory).tools
    return made


def inputs_of(made: Made) -> JsonObject:
    """Return the schemas of a tool's inputs, by name."""
    properties: JsonObject = made.document["schema"]["input"]["properties"]
    return properties


def body_of(schema: JsonObject, directory: Path, **more: Any) -> JsonObject:
    """Return what a schema becomes as a JSON body: its schema with `$defs` beside it."""
    made = tool_of(
        {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}},
        directory,
        **more,
    )
    whole = made.document["schema"]["input"]
    return {
        **whole["properties"]["body"],
        **({"$defs": whole["$defs"]} if "$defs" in whole else {}),
    }
