"""`vespe export`: tools as a model API's requests carry them."""

import os
from dataclasses import replace
from typing import Final

import click

from vespe import errors
from vespe.adapters import SHAPES, modes, openai_strict
from vespe.adapters.type_declarations import LANGUAGES, declarations
from vespe.cli import options, report
from vespe.documents import strict_json
from vespe.documents.escaping import inert, inert_json
from vespe.files import atomic
from vespe.models import JsonObject, Tool
from vespe.projects.workspace import open_workspace

STRICT: Final = tuple(name for name in SHAPES if name.startswith("openai"))
"""The shapes of the APIs that have OpenAI's strict mode."""


@click.command("export", epilog="Example: vespe export --as openai --strict read_file write_file")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--as",
    "shape",
    type=click.Choice([*SHAPES, *LANGUAGES]),
    required=True,
    help="The API's format, or the language.",
)
@click.option(
    "--strict",
    is_flag=True,
    help="Convert each schema to OpenAI's strict mode, or print why that is not possible.",
)
@click.option(
    "--native",
    is_flag=True,
    help="Let the API search for all tools that are not always exposed (anthropic, "
    "openai-responses).",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Write to FILE instead of stdout.",
)
@click.option(
    "--check",
    is_flag=True,
    help="Write nothing; exit code 1 if FILE is out of date.",
)
@options.project_option
@options.json_option
def command(
    names: tuple[str, ...],
    shape: str,
    strict: bool,
    native: bool,
    output: str | None,
    check: bool,
    project_dir: str | None,
    as_json: bool,
) -> int:
    """Print tools as a JSON array in the format of a model API; without NAME, every available tool.

    python-stubs and typescript print the tools as function declarations for editors and type
    checkers. The same tools always produce the same bytes.

    --strict uses OpenAI's strict mode, which supports a subset of JSON Schema: optional inputs
    become required and nullable, and objects are closed. If a schema cannot be expressed, the
    command prints only the reasons with their JSON Pointers and exits with 1.
    """
    if strict and shape not in STRICT:
        raise errors.UsageError(
            f"--strict means OpenAI's strict mode, which {shape} does not have",
            hint=f"use --as {' or '.join(STRICT)}",
        )
    if strict and native:
        raise errors.UsageError("--strict and --native cannot be combined", hint="use one of them")
    if check and output is None:
        raise errors.UsageError("--check compares with a file", hint="add -o FILE")
    workspace = open_workspace(project_dir)
    for warning in workspace.warnings:
        report.warn(warning)
    tools = (
        [workspace.shown_tool(name) for name in names]
        if names
        else list(workspace.shown().tools.values())
    )
    if native:
        view = workspace.view
        exposed = [tool.name for tool in tools if view.exposure(tool.itself) == "always"]
        return _put(
            inert_json(strict_json.dump_json(modes.defer(tools, always=exposed, api=shape))),
            output,
            check=check,
        )
    if shape in LANGUAGES:
        return _put(inert(declarations(tools, shape)), output, check=check)
    refused: list[JsonObject] = []
    definitions = [_definition(tool, shape, strict=strict, refused=refused) for tool in tools]
    if refused:
        _refuse(refused, as_json=as_json)
        return 1
    return _put(inert_json(strict_json.dump_json(definitions)), output, check=check)


def _put(text: str, output: str | None, *, check: bool) -> int:
    if output is None:
        # At once: a line at a time is a system call each, most of the time of a long export.
        if text:
            report.emit(text.removesuffix("\n"))
        return 0
    data = text.encode("utf-8")
    if check:
        same = os.path.exists(output) and atomic.read_bytes(output) == data
        report.say(
            f"{output} is up to date"
            if same
            else f"{output} is out of date: run the command without --check"
        )
        return int(not same)
    atomic.write_atomic(output, data)
    report.say(f"wrote {output}")
    return 0


def _definition(tool: Tool, shape: str, *, strict: bool, refused: list[JsonObject]) -> JsonObject:
    if not strict:
        return SHAPES[shape].definition(tool)
    schema, refusals = openai_strict.rewrite(tool.input_schema)
    refused += [
        {"tool": tool.name, "pointer": f"/schema/input{pointer}", "message": message}
        for pointer, message in refusals
    ]
    if refusals:
        return {}
    made = SHAPES[shape].definition(replace(tool, input_schema=schema))
    made.get("function", made)["strict"] = True
    return made


def _refuse(refused: list[JsonObject], *, as_json: bool) -> None:
    count = len({one["tool"] for one in refused})
    message = f"{count} {'tool' if count == 1 else 'tools'} cannot be converted to strict mode"
    hint = "correct the schemas, select other tools, or export without --strict"
    if as_json:
        report.emit_json(
            {
                "error": {
                    "code": "not_strict",
                    "message": message,
                    "hint": hint,
                    "findings": list(refused),
                }
            }
        )
        return
    for one in refused:
        report.error(f"{one['tool']}: {one['pointer']}: {one['message']}")
    report.error(message, hint)
