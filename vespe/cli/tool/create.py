"""`vespe tool create`: a tool that runs at once, from a template or from a Python function."""

import os
import sys

import click

from vespe import defaults, errors
from vespe.cli import options, report
from vespe.cli.tool import editor
from vespe.documents import strict_json
from vespe.models import JsonObject, JsonValue, Tool
from vespe.projects import project_tools
from vespe.projects.workspace import find_root
from vespe.tools import drafts, new_tool


@click.command("create", epilog="Example: vespe tool create calc --from calc.py:calc")
@click.argument("name")
@click.option("--type", "kind", type=click.Choice(new_tool.TYPES), help="Begin with a template of this type.")
@click.option("--from", "source", metavar="FILE.py:function", help="Copy the file; derive the schema from the function's signature.")
@click.option("--description", metavar="TEXT", help="What the model reads.")
@click.option("--schema", metavar="FILE|-|JSON", help='The inputs\' JSON Schema, or {"input": …, "output": …}.')
@click.option("--path", metavar="PATH", help="The script or program to copy into the tool, or the URL.")
@click.option("--entrypoint", metavar="NAME", help="The function, the program on PATH, or the HTTP method.")
@click.option("--args", metavar="JSON", help="Fixed configuration that the model neither sees nor sets.")
@click.option("--edit", "then_edit", is_flag=True, help="Open the new tool in your editor.")
@options.project_option
@options.json_option
def command(
    name: str,
    kind: str | None,
    source: str | None,
    description: str | None,
    schema: str | None,
    path: str | None,
    entrypoint: str | None,
    args: str | None,
    then_edit: bool,
    project_dir: str | None,
    as_json: bool,
) -> None:
    """Make a project tool that runs at once, for you to edit.

    The directory that this makes is trusted, since it is yours; nothing else of the project is.
    """
    if (kind is None) == (source is None):
        raise click.UsageError("give either --type or --from", click.get_current_context())
    if source is not None and (path or entrypoint):
        raise click.UsageError("--from names the file and the function already", click.get_current_context())
    fields = {
        "description": description,
        "schema": _schema(schema),
        "path": path,
        "entrypoint": entrypoint,
        "args": _object(args, "--args"),
    }
    given = {key: value for key, value in fields.items() if value is not None}
    root = find_root(project_dir)
    draft = drafts.draft_from_function(source, name=name, fields=given) if source else drafts.draft_tool(name, kind or "", fields=given)
    tool = project_tools.create_tool(root, draft)
    _made(tool, root, draft.notes, as_json)
    if then_edit:
        editor.edit(tool.directory or "")


def _made(tool: Tool, root: str, notes: tuple[str, ...], as_json: bool) -> None:
    for text in notes:
        report.warn(text)
    if as_json:
        report.emit_json({"uid": tool.uid, "name": tool.name, "path": tool.directory})
        return
    directory = tool.directory or ""
    shown = os.path.relpath(directory) if os.path.realpath(os.getcwd()) == os.path.realpath(root) else directory
    report.say(f"made {tool.name} in {shown}")


def _schema(given: str | None) -> JsonValue:
    if given is None:
        return None
    if given == "-":
        return strict_json.parse_object(sys.stdin.buffer.read(defaults.MAX_SCHEMA_BYTES + 1), path="stdin", limit=defaults.MAX_SCHEMA_BYTES)
    if given.lstrip().startswith("{"):
        return _object(given, "--schema")
    if not os.path.exists(given):
        raise errors.UsageError(f"there is no file {given}", hint="--schema takes a file, - for stdin, or JSON")
    return strict_json.read_object(given, limit=defaults.MAX_SCHEMA_BYTES)


def _object(given: str | None, option: str) -> JsonObject | None:
    if given is None:
        return None
    try:
        return strict_json.parse_object(given, path=option)
    except errors.InvalidDocument as error:
        raise errors.UsageError(f"{option}: the text {error.reason}", hint="give one JSON object") from None
