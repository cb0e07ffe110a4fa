"""`vespe kit deactivate`: take kits' tools away from this project."""

import click

from vespe import errors
from vespe.cli import options, report
from vespe.documents.near import suggest
from vespe.projects import project
from vespe.projects.workspace import find_root


@click.command("deactivate", epilog="Example: vespe kit deactivate file_io_without_git")
@click.argument("kit_ids", nargs=-1, required=True, metavar="KIT...")
@options.project_option
@options.json_option
def command(kit_ids: tuple[str, ...], project_dir: str | None, as_json: bool) -> None:
    """Remove the tools of kits from this project. The kits themselves stay installed."""
    root = find_root(project_dir)
    active = project.read_config(root).active_kits
    for kit_id in kit_ids:
        if kit_id not in active:
            hint = suggest(kit_id, active) or f"active: {', '.join(active) or 'none'}"
            raise errors.NotFound(f"the kit {kit_id!r} is not active here", hint=hint)
    config = project.set_active(root, kit_ids, active=False)
    if as_json:
        report.emit_json({"active_kits": list(config.active_kits)})
    else:
        report.say(f"active: {', '.join(config.active_kits) or 'none'}")
