"""`vespe tool show`: one tool, in Vespe's own or a model API's shape."""

import re
import sys
from typing import Final

import click

from vespe.adapters import SHAPES
from vespe.calls.policy_rules import users_own_hosts
from vespe.cli import options, report, review_words, signature
from vespe.defaults import PROJECT_TOOLS
from vespe.documents import strict_json
from vespe.lazy import shutil
from vespe.models import JsonObject, JsonValue, Tool
from vespe.projects.workspace import open_workspace
from vespe.tools import drafts
from vespe.tools.effects import Reason, effects_of, reasons_of
from vespe.tools.secret_items import items_of


@click.command("show", epilog="Example: vespe tool show read_file --as anthropic")
@click.argument("name")
@click.option(
    "--as",
    "shape",
    type=click.Choice(["vespe", *SHAPES]),
    default="vespe",
    help="The format; default: vespe.",
)
@options.project_option
@options.json_option
def command(name: str, shape: str, project_dir: str | None, as_json: bool) -> None:
    """Show one tool, by its name or UID, in Vespe's or a model API's format."""
    tool = open_workspace(project_dir).tool(name)
    if shape != "vespe":
        report.emit_json(SHAPES[shape].definition(tool))
    elif as_json:
        report.emit_json(document_of(tool))
    else:
        _show(tool)


def document_of(tool: Tool) -> JsonObject:
    """Return a tool's config.json with its scope, path and long description."""
    effects = {"effects": list(effects_of(tool, own_hosts=users_own_hosts()))}
    return (
        tool.document
        | effects
        | {"scope": tool.scope, "path": tool.directory, "long_description": tool.documentation}
    )


def _show(tool: Tool) -> None:
    runs = tool.implementation.type if tool.implementation else "in-process"
    report.emit_styled(
        f"{click.style(report.one_line(tool.name), bold=True)}  ({runs}, "
        f"{report.one_line(tool.scope)})"
    )
    report.emit(f"  uid   {tool.uid}")
    report.emit(f"  path  {tool.directory}")
    for effect, why in reasons_of(tool, own_hosts=users_own_hosts()).items():
        report.emit_sentence(
            f"  effect  {review_words.EFFECTS[effect]} ({_source(tool, why)})", hanging=10
        )
    report.emit(f"\n{_wrapped(tool.description)}\n")
    properties = tool.input_schema.get("properties", {})
    required = tool.input_schema.get("required", [])
    report.emit("Inputs:" if properties else "Inputs: none")
    for key, schema in properties.items():
        facts = schema if isinstance(schema, dict) else {}
        need = (
            "required"
            if key in required
            else f"default {strict_json.compact_json(facts['default'])}"
            if "default" in facts
            else "optional"
        )
        said = f"{key}  {kind_of_input(facts, tool.input_schema)}, {need}" + (
            f": {facts['description']}" if "description" in facts else ""
        )
        report.emit(_wrapped(said, "  "))
    if tool.output_schema is not None:
        report.emit(f"Output: {kind(tool.output_schema)}")
    for item in items_of(tool):
        report.emit_sentence(f"Secret: {item.text}", hanging=2)
    text = tool.documentation
    # what Vespe wrote to description.md itself is above already
    if text and text != drafts.describe(tool.name, tool.document):
        report.emit("")
        report.emit_markdown(text.rstrip())


def _source(tool: Tool, why: Reason) -> str:
    """Say where an effect is known from, or how the user corrects a wrong assumption."""
    if why.correction and tool.scope == PROJECT_TOOLS:
        return f"assumed; if that is wrong: `vespe tool set {tool.name} {why.correction}`"
    return f"{'declared' if why.stated else 'assumed'}: {why.words}"


def _wrapped(text: str, indent: str = "") -> str:
    if not sys.stdout.isatty():
        return indent + text
    return click.wrap_text(
        text,
        width=shutil.get_terminal_size().columns,
        initial_indent=indent,
        subsequent_indent=indent * 3,
    )


_MOST_KEYS: Final = 12


def kind_of_input(facts: JsonObject, root: JsonObject) -> str:
    """Say what an input is, with the members of an object or of the objects in a list:
    `object {name: string, note?: string}`.
    """
    facts = _resolved(facts, root)
    said = kind(facts | {"items": _resolved(facts["items"], root)} if facts.get("items") else facts)
    schema = signature.members(facts, root)
    found = list(signature.inputs(schema)) if schema is not None else []
    if not found:
        return said
    keys = [
        f"{key}{'' if needed else '?'}: {kind(_resolved(member, root))}"
        for key, member, needed in found[:_MOST_KEYS]
    ]
    more = ["…"] if len(found) > _MOST_KEYS else []
    return re.sub(
        r"\bobjects?\b", lambda of: f"{of[0]} {{{', '.join(keys + more)}}}", said, count=1
    )


def _resolved(schema: JsonValue, root: JsonObject) -> JsonObject:
    there = signature.followed(schema, root)
    beside = schema if isinstance(schema, dict) and there is not schema else {}
    return {**(there if isinstance(there, dict) else {}), **beside}


_PLURAL: Final = ("string", "number", "integer", "boolean", "object", "array")


def kind(schema: JsonObject) -> str:
    """Say in a few words what a schema asks for."""
    if "enum" in schema:
        return "one of " + ", ".join(strict_json.compact_json(value) for value in schema["enum"])
    branches = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(branches, list):
        return " or ".join(kind(branch) for branch in branches if isinstance(branch, dict))
    types = schema.get("type", "any value")
    named = " or ".join(map(str, types)) if isinstance(types, list) else str(types)
    items = schema.get("items")
    return (
        named.replace("array", f"array of {kind(items)}s", 1)
        if isinstance(items, dict) and kind(items) in _PLURAL
        else named
    )
