"""A function of the program written as a tool's folder."""

import inspect
import os
from collections.abc import Callable
from typing import Any

from vespe import defaults
from vespe.errors import UsageError
from vespe.models import JsonObject, Tool
from vespe.projects import project_tools
from vespe.records import json_of
from vespe.tools import authoring, catalog, drafts


def save(function: Callable[..., Any], definition: Tool, directory: str | os.PathLike[str]) -> Tool:
    """Write `function` as a tool beneath `directory`, as `definition` describes it; see
    `FunctionTool.save`.
    """
    path = _file_of(function, definition.name)
    draft = drafts.draft_from_function(
        f"{path}:{function.__name__}",
        name=definition.name,
        fields=_fields(definition),
        directory="/",
    )
    where = os.path.abspath(directory)
    root = os.path.dirname(os.path.dirname(where))
    if where == os.path.join(root, defaults.PROJECT_DIR, defaults.TOOLS_DIR):
        return project_tools.create_tool(root, draft)
    os.makedirs(where, exist_ok=True)
    return authoring.create_tool(
        where, draft, taken=lambda name: bool(catalog.find(where, name, scope="", kit_id=None))
    )


def _file_of(function: Callable[..., Any], name: str) -> str:
    try:
        path = inspect.getsourcefile(function)
    except TypeError:
        path = None
    if (
        path is None
        or not os.path.isfile(path)
        or "<locals>" in getattr(function, "__qualname__", "<locals>")
    ):
        raise UsageError(
            f"{name!r} is not a top-level function of a file, so it cannot be saved",
            hint="move it into a .py file",
        )
    return os.path.abspath(path)


def _fields(definition: Tool) -> JsonObject:
    """What the decorator said beyond the function: it is written as config.json has it."""
    limits = json_of(definition, "timeout_s", "max_output_bytes", "model_tokens")
    said: JsonObject = {
        "description": definition.description,
        "schema": definition.document["schema"],
        "annotations": definition.annotations,
        "tags": list(definition.tags),
        "examples": list(definition.examples),
        "limits": {key: value for key, value in limits.items() if value is not None},
    }
    return {key: value for key, value in said.items() if value}
