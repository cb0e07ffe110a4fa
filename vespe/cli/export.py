"""`vespe export`: tools as a model API's requests carry them."""

from dataclasses import replace
from typing import Final

import click

from vespe import errors
from vespe.adapters import SHAPES, modes, openai_strict
from vespe.cli import options, report
from vespe.models import JsonObject, Tool
from vespe.projects.workspace import open_workspace

STRICT: Final = tuple(name for name in SHAPES if name.startswith("openai"))
"""The shapes of the APIs that have OpenAI's strict mode."""


@click.command("export", epilog="Example: vespe export --as openai --strict read_file write_file")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--as", "shape", type=click.Choice(list(SHAPES)), required=True, help="Whose shape.")
@click.option("--strict", is_flag=True, help="Rewrite each schema for OpenAI's strict mode, or say what it cannot be given.")
@click.option("--native", is_flag=True, help="Defer all but what is always exposed, and let the API search (anthropic, openai-responses).")
@options.project_option
@options.json_option
def command(names: tuple[str, ...], shape: str, strict: bool, native: bool, project_dir: str | None, as_json: bool) -> int:
    """Print tools as a JSON array in a model API's shape; without a name, every available tool.

    Strict mode takes a part of JSON Schema: what is optional becomes required and nullable, objects are closed. Where a schema
    cannot be said in it, nothing is printed but each reason with its JSON Pointer, and the exit code is 1.
    """
    if strict and shape not in STRICT:
        raise errors.UsageError(f"--strict is OpenAI's strict mode, which {shape} does not have", hint=f"use --as {' or '.join(STRICT)}")
    if strict and native:
        raise errors.UsageError("--strict and --native do not go together", hint="leave one of them out")
    workspace = open_workspace(project_dir)
    for warning in workspace.warnings:
        report.warn(warning)
    tools = [workspace.shown_tool(name) for name in names] if names else list(workspace.shown().tools.values())
    if native:
        view = workspace.view
        exposed = [tool.name for tool in tools if view.exposure(tool.itself) == "always"]
        report.emit_json(modes.deferred(tools, always=exposed, api=shape))
        return 0
    refused: list[JsonObject] = []
    definitions = [_definition(tool, shape, strict=strict, refused=refused) for tool in tools]
    if refused:
        _refuse(refused, as_json=as_json)
        return 1
    report.emit_json(definitions)
    return 0


def _definition(tool: Tool, shape: str, *, strict: bool, refused: list[JsonObject]) -> JsonObject:
    if not strict:
        return SHAPES[shape].definition(tool)
    schema, refusals = openai_strict.rewrite(tool.input_schema)
    refused += [{"tool": tool.name, "pointer": f"/schema/input{pointer}", "message": message} for pointer, message in refusals]
    if refusals:
        return {}
    made = SHAPES[shape].definition(replace(tool, input_schema=schema))
    made.get("function", made)["strict"] = True
    return made


def _refuse(refused: list[JsonObject], *, as_json: bool) -> None:
    count = len({one["tool"] for one in refused})
    message = f"{count} {'tool' if count == 1 else 'tools'} cannot be said in strict mode"
    hint = "mend the schemas, name other tools, or export without --strict"
    if as_json:
        report.emit_json({"error": {"code": "not_strict", "message": message, "hint": hint, "findings": list(refused)}})
        return
    for one in refused:
        report.error(f"{one['tool']}: {one['pointer']}: {one['message']}")
    report.error(message, hint)
