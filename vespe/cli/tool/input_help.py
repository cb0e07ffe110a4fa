"""The help of one tool, as `vespe tool run NAME --help` shows it: its inputs as options, and a
command to copy.
"""

import sys

import click

from vespe.cli import report, signature
from vespe.cli.tool import arguments
from vespe.cli.tool.show import kind_of_input
from vespe.documents import strict_json
from vespe.models import JsonObject, Tool


def show(context: click.Context, tool: Tool) -> int:
    """Print what a tool takes; returns the exit code, 0."""
    formatter = context.make_formatter()
    formatter.write_usage(f"vespe tool run {report.one_line(tool.name)}", _usage(tool))
    formatter.write_paragraph()
    with formatter.indentation():
        formatter.write_text(report.one_line(" ".join(tool.description.split())))
    rows = [
        (_option(context, tool, key), _said(tool, key, facts, needed=needed))
        for key, facts, needed in signature.inputs(tool.input_schema)
    ]
    if rows:
        with formatter.section("Inputs"):
            formatter.write_text(_way(context, tool))
            formatter.write_dl(
                [(report.one_line(name), report.one_line(text)) for name, text in rows]
            )
    formatter.write_paragraph()
    formatter.write_text(
        f"Example: {report.one_line(signature.example(tool.name, tool.input_schema))}"
    )
    click.echo(formatter.getvalue(), nl=False, color=report.is_coloured(sys.stdout))
    return 0


def _usage(tool: Tool) -> str:
    words = [
        f"{key}={key.upper()}" if needed else f"[{key}={key.upper()}]"
        for key, _, needed in signature.inputs(tool.input_schema)
    ]
    return report.one_line(" ".join(words))


def _way(context: click.Context, tool: Tool) -> str:
    said = "Write each as NAME=VALUE or --NAME VALUE."
    *first, last = ["", *dict.fromkeys(arguments.options_like_inputs(context, tool).values())]
    if not last:
        return said
    keys = (", ".join(first[1:]) + " and " if first[1:] else "") + last
    options = "options of these names" if first[1:] else "an option of this name"
    return f"{said} {keys} can only be written as NAME=VALUE: `vespe tool run` has {options}."


def _option(context: click.Context, tool: Tool, key: str) -> str:
    if key in arguments.options_like_inputs(context, tool).values():
        return f"{key}={key.upper()}"
    return f"--{key} / --no-{key}" if arguments.is_flag(tool, key) else f"--{key} {key.upper()}"


def _said(tool: Tool, key: str, facts: JsonObject, *, needed: bool) -> str:
    default = (
        f"default {strict_json.compact_json(facts['default'])}"
        if "default" in facts
        else "optional"
    )
    text = str(facts.get("description", ""))
    need = "required" if needed else default
    if arguments.is_read_as_text(tool, key):
        need += f" ({key}:=JSON for anything but text)"
    return f"{kind_of_input(facts, tool.input_schema)}, {need}" + (f": {text}" if text else "")
