"""What a new rust_function begins with: a template, or the user's own source."""

import os
from collections.abc import Mapping
from typing import Any

from vespe.errors import UsageError
from vespe.files import atomic
from vespe.files.trees import TreeFile
from vespe.models import JsonObject
from vespe.tool_types import NewTool
from vespe.tools.building import RUST_GLUE
from vespe.tools.new_tool import NO_INPUTS, document_of, existing_file, function_name, schemas_of

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_TEXT: JsonObject = {
    "type": "object",
    "properties": {
        "text": {
            "type": "string",
            "description": "The text to count in.",
            "default": "hello, world",
        }
    },
    "additionalProperties": False,
}
_COUNTS: JsonObject = {
    "type": "object",
    "properties": {
        "characters": {"type": "integer"},
        "words": {"type": "integer"},
        "lines": {"type": "integer"},
    },
    "required": ["characters", "words", "lines"],
}
"""What the template in Rust takes and returns."""


def rust_files(name: str, function: str) -> dict[str, str]:
    """Return the files of a new tool in Rust, by their names: its own, which says how to change it,
    and what it uses.
    """
    directory = os.path.join(_PACKAGE, "data", "rust")
    files = {
        file: atomic.read_bytes(os.path.join(directory, file)).decode("utf-8")
        for file in ("tool.rs", RUST_GLUE)
    }
    return {
        file: text.replace("TOOL_FUNCTION", function).replace("TOOL_NAME", name)
        for file, text in files.items()
    }


def begin(type: str, name: str, *, given: Mapping[str, Any], directory: str) -> NewTool:
    """Return a new tool that says what is `given`; its `path`, relative to `directory`, is
    copied.
    """
    path, function = given.get("path"), given.get("entrypoint") or function_name(name)
    files = {
        f"src/{file}": TreeFile(data=text.encode("utf-8"))
        for file, text in rust_files(name, function).items()
    }
    schema = schemas_of(given.get("schema"), _TEXT, _COUNTS)
    description = "Count the characters, words and lines of a text."
    if path is not None:
        if not path.endswith(".rs") or (found := existing_file(path, directory)) is None:
            raise UsageError(
                f"{path!r} is not a file in Rust",
                hint="use --path for a .rs file to copy into the tool",
            )
        files["src/tool.rs"] = TreeFile(data=atomic.read_bytes(os.path.realpath(found)))
        schema, description = schemas_of(given.get("schema"), NO_INPUTS, None), ""
    said = {
        "description": description,
        **given,
        "path": "src/tool.rs",
        "entrypoint": function,
        "schema": schema,
    }
    return NewTool(document_of(name, type, said), files)
