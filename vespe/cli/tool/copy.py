"""`vespe tool copy`: any tool, a kit's too, as a project tool of your own."""

import os

import click

from vespe import defaults
from vespe.calls.secrets import names_of_secret, scoped_name
from vespe.cli import options, report
from vespe.models import Tool
from vespe.projects import project_tools, user_config
from vespe.projects.workspace import open_workspace
from vespe.records import json_of
from vespe.tools.secret_items import items_of


@click.command("copy", epilog="Example: vespe tool copy file_io_without_git/read_file read_notes")
@click.argument("name")
@click.argument("new_name", required=False)
@options.project_option
@options.json_option
def command(name: str, new_name: str | None, project_dir: str | None, as_json: bool) -> None:
    """Copy a tool into the project under a new UID. Without NEW_NAME, the copy shadows the
    original. NAME can be KIT/TOOL of a kit that is not active.
    """
    workspace = open_workspace(project_dir)
    entry = workspace.resolve_to_copy(name).entry
    tool = project_tools.copy_tool(workspace.root, entry, name=new_name)
    if as_json:
        report.emit_json(json_of(tool, "uid", "name", "directory", directory="path"))
    else:
        report.say(f"copied {entry.scope}/{entry.name} to {tool.directory}")
    if entry.scope != defaults.PROJECT_TOOLS:
        _note_secrets(tool, entry.scope)


def _note_secrets(tool: Tool, kit_id: str) -> None:
    """Name the secrets that the copy has no value for: it is not the kit's any more, so a value
    under the kit's own name is not looked up.
    """
    configured = user_config.load_user_config().secrets
    for item in items_of(tool):
        own = names_of_secret(item.name, kit_id=None)
        if not own or any(os.environ.get(name) or configured.get(name) for name in own):
            continue
        kits = scoped_name(item.name, kit_id)
        has_kits = os.environ.get(kits) or configured.get(kits)
        why = f"; {kits} is only looked up for tools of {kit_id}" if has_kits else ""
        report.warn(
            f"the copy needs the secret {item.name}, which has no value{why}; "
            f"`vespe secret set {item.name}` stores one"
        )
