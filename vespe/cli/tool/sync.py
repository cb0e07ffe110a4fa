"""`vespe tool sync`: derive the schemas of Python tools again from their functions."""

import click

from vespe import defaults
from vespe.cli import options, report
from vespe.documents import strict_json
from vespe.lazy import difflib
from vespe.models import JsonObject, Tool
from vespe.projects.workspace import Workspace, open_workspace, project_entry
from vespe.tool_types import type_of
from vespe.tools import authoring, syncing


@click.command("sync", epilog="Example: vespe tool sync calc")
@click.argument("name", required=False)
@click.option(
    "--check", is_flag=True, help="Change nothing; exit code 1 where a schema would change."
)
@options.project_option
@options.json_option
def command(name: str | None, check: bool, project_dir: str | None, as_json: bool) -> int:
    """Derive the schema of a project's Python tool again from its function, and show the
    difference; without a name, of every one.

    What you added to an input by hand (a pattern, bounds, a description where the docstring has
    none) stays while its type does.
    """
    workspace = open_workspace(project_dir)
    changed = [
        (tool, after)
        for tool in _tools(workspace, name)
        if (after := syncing.derived_config(tool)) != tool.document
    ]
    for tool, after in changed:
        if not as_json:
            report.emit(_difference(tool, after))
        if not check:
            authoring.write_config(tool, after)
    if as_json:
        report.emit_json(
            {
                "tools": [
                    {"tool": tool.name, "uid": tool.uid, "schema": after["schema"]}
                    for tool, after in changed
                ]
            }
        )
    elif not changed:
        report.say("every schema says what its function takes")
    return 1 if check and changed else 0


def _tools(workspace: Workspace, name: str | None) -> list[Tool]:
    if name is not None:
        return [workspace.load(project_entry(workspace, name))]
    rows = [
        row.entry
        for row in workspace.rows()
        if row.entry.scope == defaults.PROJECT_TOOLS and row.entry.problem is None
    ]
    return [workspace.load(entry) for entry in rows if entry.type and type_of(entry.type).is_python]


def _difference(tool: Tool, after: JsonObject) -> str:
    before, now = (
        strict_json.dump_json(document["schema"]).splitlines()
        for document in (tool.document, after)
    )
    return "\n".join(
        difflib.unified_diff(
            before,
            now,
            f"{tool.name} as it is",
            f"{tool.name} as its function says",
            lineterm="",
            n=2,
        )
    )
