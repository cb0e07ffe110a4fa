"""What a new shell_command begins with: a template, or the user's own program and arguments."""

import os
from collections.abc import Mapping
from typing import Any

from vespe.documents import strict_json
from vespe.errors import UsageError
from vespe.files import atomic
from vespe.files.on_path import is_on_path
from vespe.files.trees import TreeFile
from vespe.lazy import shlex
from vespe.models import JsonObject
from vespe.tool_types import NewTool
from vespe.tools.new_tool import (
    ToolTemplate,
    document_of,
    existing_file,
    said_of,
    schemas_of,
    slots_schema,
)


def shell_template(
    schema: JsonObject | None, args: JsonObject | None, entrypoint: str | None
) -> ToolTemplate:
    """A program that every POSIX system has, or the user's own with inputs that follow from the
    slots in its arguments.
    """
    if entrypoint is not None or args is not None:
        given: JsonObject = {"argv": [], **(args or {})}
        inputs = slots_schema([given["argv"], given.get("stdin")])
        return ToolTemplate(
            description=f"Run {entrypoint or 'a command'}.",
            input_schema=schema or inputs,
            entrypoint=entrypoint or "printf",
            args=given,
        )
    if schema is not None:
        args = {"argv": [], "stdin": "json", "output": "json"}
        return ToolTemplate(
            description="Return the inputs.",
            input_schema=schema,
            entrypoint="cat",
            args=args,
        )
    text: JsonObject = {
        "type": "string",
        "description": "The text to print.",
        "default": "hello, world",
    }
    return ToolTemplate(
        description="Print a string.",
        input_schema={
            "type": "object",
            "properties": {"text": text},
            "additionalProperties": False,
        },
        entrypoint="printf",
        args={"argv": ["--", "%s", "{text}"], "output": "text"},
    )


def begin(type: str, name: str, *, given: Mapping[str, Any], directory: str) -> NewTool:
    """Return a new tool that says what is `given`; its `path`, relative to `directory`, is
    copied.
    """
    path, files = given.get("path"), {}
    notes: tuple[str, ...] = ()
    if path is None and (program := given.get("entrypoint")):
        notes = _look_for(program, given.get("args"))
    if path is not None:
        found = existing_file(path, directory)
        if found is None:
            raise UsageError(
                f"there is no file {path}",
                hint="use --path for a program to copy into the tool, and --entrypoint for "
                "one on PATH",
            )
        path = os.path.basename(found)
        files[path] = TreeFile(data=atomic.read_bytes(os.path.realpath(found)), executable=True)
    inputs = schemas_of(given.get("schema"), {}, None)["input"] or None
    template = shell_template(inputs, given.get("args"), path or given.get("entrypoint"))
    schema = schemas_of(given.get("schema"), template.input_schema, None)
    said = {
        **said_of(template),
        **given,
        "schema": schema,
        "path": path,
        "entrypoint": None if path else template.entrypoint,
    }
    return NewTool(document_of(name, type, said), files, notes)


def _look_for(program: str, args: JsonObject | None) -> tuple[str, ...]:
    """Return what the author must know of a program that is not on PATH here; raises UsageError
    for a whole command line in its place.
    """
    if not program.isprintable() or is_on_path(program):
        return ()
    try:
        words = shlex.split(program)
    except ValueError:  # a quotation that does not end
        words = program.split()
    if len(words) < 2:
        return (f"there is no program called {program!r} on PATH here: install it first",)
    given = args.get("argv") if args else None
    argv = [*words[1:], *(given if isinstance(given, list) else ())]
    whole = strict_json.compact_json({**(args or {}), "argv": argv})
    raise UsageError(
        f"--entrypoint takes only the name of a program, not its arguments too: {program!r}",
        hint=f"`--entrypoint {shlex.quote(words[0])} --args {shlex.quote(whole)}`",
    )
