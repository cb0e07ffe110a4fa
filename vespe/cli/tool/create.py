"""`vespe tool create`: a tool that runs at once, from a template or from a Python function."""

import os
from collections.abc import Iterator, Mapping
from typing import Any, Final

import click

from vespe import tool_types
from vespe.cli import options, report
from vespe.cli.tool import editor, field_options
from vespe.errors import InvalidDocument, KitNotFound, ProjectNotFound, UsageError
from vespe.kits import roots
from vespe.kits.create import add_tool
from vespe.lazy import shlex
from vespe.models import Tool
from vespe.projects import project_tools
from vespe.projects.workspace import find_root, open_workspace
from vespe.records import json_of
from vespe.tools import built, drafts, new_tool, origins, slots

_WHAT: Final = (
    "say what to make with one of these: --from calc.py:calc, --type python_script, "
    "--type shell_command, or --url https://…"
)

_ARGV: Final = """--args '{"argv": ["-l", "{path}"]}'"""


@click.command("create", epilog="Example: vespe tool create calc --from calc.py:calc")
@click.argument("name")
@click.option(
    "--type",
    "kind",
    metavar="TYPE",
    help=f"Start from a template: {', '.join((*new_tool.created_types(), drafts.IN_PROCESS))}.",
)
@click.option(
    "--from",
    "source",
    metavar="FILE.py:function",
    help="Copy the file; derive the schema from the function's signature.",
)
@click.option(
    "--in-place",
    is_flag=True,
    help="With --from: run the file itself, with the project's .venv, instead of a copy. The "
    "function can also be given as PACKAGE.MODULE:function.",
)
@field_options.field_options
@click.option(
    "--kit",
    metavar="KIT",
    help="Create the tool in this kit (directory or id) instead of the project.",
)
@click.option("--edit", "then_edit", is_flag=True, help="Open the new tool in your editor.")
@options.project_option
@options.json_option
def command(name: str, kind: str | None, source: str | None, in_place: bool, **given: Any) -> None:
    """Create a tool that already runs, for you to edit.

    With only `--url`, the tool is an http_request. With only `--schema`, it has no implementation:
    your program registers a function that runs it. The new tool's directory is trusted, because you
    made it; nothing else in the project is.
    """
    fields = field_options.given_fields(given)
    kind = kind or _implied(given, source)
    if (kind is None) == (source is None) and not (in_place and source is None):
        raise click.UsageError(_WHAT, click.get_current_context())
    if source is not None and (fields.keys() & {"path", "entrypoint"}):
        raise click.UsageError(
            "--from already names the file and the function", click.get_current_context()
        )
    if in_place and source is None:
        raise click.UsageError(
            "--in-place needs --from FILE.py:function", click.get_current_context()
        )
    draft = _draft(
        name, kind or "", source, in_place=in_place, fields=fields, project_dir=given["project_dir"]
    )
    if given["kit"] is not None:
        root, tool = given["kit"], add_tool(given["kit"], draft)
    else:
        root = find_root(given["project_dir"])
        tool = project_tools.create_tool(root, draft)
    _made(tool, root, draft, given["kit"], given["as_json"])
    if not given["as_json"]:
        report.next_step(_next(tool, kit=given["kit"], project_dir=given["project_dir"]))
    if given["then_edit"]:
        editor.edit(tool.directory or "", tool.name)


def _draft(
    name: str,
    kind: str,
    source: str | None,
    *,
    in_place: bool,
    fields: Mapping[str, Any],
    project_dir: str | None,
) -> drafts.Draft:
    if source is None:
        _refuse_unknown_args(kind, fields.get("args"))
        return drafts.draft_tool(name, kind, fields=fields)
    from vespe.tools.in_place import draft_in_place

    if in_place:
        return draft_in_place(source, name=name, fields=fields, directory=find_root(project_dir))
    draft = drafts.draft_from_function(source, name=name, fields=fields)
    _refuse_relative_import(name, source, draft, project_dir)
    return draft


def _refuse_relative_import(
    name: str, source: str, draft: drafts.Draft, project_dir: str | None
) -> None:
    """Refuse to copy a file that cannot run outside its package."""
    from vespe.tools.in_place import draft_in_place
    from vespe.types.python_script.template import unmet_import

    if not (line := unmet_import(draft.copied)):
        return
    hint = (
        "replace it with `from module import name`, and copy the module into the tool's directory"
    )
    try:
        draft_in_place(source, name=name, directory=find_root(project_dir))
    except (InvalidDocument, ProjectNotFound, UsageError):
        pass
    else:
        given = f" --project {shlex.quote(project_dir)}" if project_dir else ""
        hint = (
            "add `--in-place` to run the original file: "
            f"`vespe tool create {name}{given} --from {shlex.quote(source)} --in-place`"
        )
    raise UsageError(
        f"a copy of {source.rpartition(':')[0]} cannot run outside its package, because it "
        f"has `{line}`",
        hint=hint,
    )


def _refuse_unknown_args(kind: str, args: object) -> None:
    """Refuse keys of `--args` that the type would ignore."""
    of = tool_types.type_in({"type": kind})
    known = of.form().args if of is not None else {}
    for key in args if known and isinstance(args, dict) else ():
        if key not in known:
            raise UsageError(
                f"--args: a {kind} has no key {key!r}",
                hint=f"its keys are {', '.join(known)}" + f", such as {_ARGV}" * ("argv" in known),
            )


def _implied(given: Mapping[str, Any], source: str | None) -> str | None:
    """Return the type that the other options leave no doubt about."""
    if source is not None:
        return None
    if given["url"] is not None:
        return "http_request"
    alone = given["schema"] is not None and not any(
        given[key] for key in ("path", "entrypoint", "method", "args")
    )
    return drafts.IN_PROCESS if alone else None


def _made(tool: Tool, root: str, draft: drafts.Draft, kit: str | None, as_json: bool) -> None:
    for text in (*draft.notes, *_unknown_slots(draft)):
        report.warn(text)
    for text in draft.added:
        report.note(text)
    if as_json:
        report.emit_json(json_of(tool, "uid", "name", "directory", directory="path"))
        return
    directory = tool.directory or ""
    shown = (
        os.path.relpath(directory)
        if os.path.realpath(os.getcwd()) == os.path.realpath(root)
        else directory
    )
    report.say(f"made {tool.name} in {shown}")
    if draft.origin is not None:
        report.say(_copied(tool, draft.origin[0], kit))
    if built.source_of(tool.document.get("implementation_details", {})):
        report.say(f"`vespe tool build {tool.name}` compiles it: then it runs")


def _unknown_slots(draft: drafts.Draft) -> Iterator[str]:
    """Say which braces contain no input's name, as lint's `layout-unknown-slot` does."""
    details = draft.document.get("implementation_details", {})
    for _, name, near in slots.unknown(details, draft.document["schema"]["input"]):
        yield f"{{{name}}} is not the name of an input, so it is not replaced" + (
            f"; did you mean {{{near}}}?" if near else ""
        )


def _copied(tool: Tool, path: str, kit: str | None) -> str:
    """Say that the tool has a copy, and what takes a change of the file over."""
    file = os.path.relpath(path)
    aside, words = "", f"`vespe tool sync {tool.name}"
    if kit is not None:
        words += f" --kit {kit}"
    if origins.KEY not in tool.document:
        words += f" --from {file}"
    elif file.endswith(".py"):
        aside = " (`--in-place` would run the file itself)"
    return f"it has a copy of {file}; after a change, {words}` copies it again{aside}"


def _next(tool: Tool, *, kit: str | None, project_dir: str | None) -> str:
    path = os.path.dirname(os.path.realpath(tool.directory or ""))
    kit_id = os.path.basename(path)
    if kit is not None and not _is_found(kit_id, path, project_dir):
        return (
            f"`vespe kit link {shlex.quote(kit)}`, then `vespe kit activate {kit_id}` makes it "
            "available in a project"
        )
    if kit is not None and not _is_active(kit_id, project_dir):
        return f"`vespe kit activate {kit_id}` makes it available in a project"
    return (
        f"`vespe tool run {tool.name} --help` shows its arguments, `vespe tool edit "
        f"{tool.name}` opens it"
    )


def _is_found(kit_id: str, path: str, project_dir: str | None) -> bool:
    """Say whether the kit's id leads to the directory `path`."""
    try:
        root: str | None = find_root(project_dir)
    except ProjectNotFound:
        root = None
    try:
        return os.path.realpath(roots.find_kit(kit_id, project=root).path) == path
    except KitNotFound:
        return False


def _is_active(kit: str, project_dir: str | None) -> bool:
    try:
        return kit in open_workspace(project_dir).config.active_kits
    except ProjectNotFound:
        return False
