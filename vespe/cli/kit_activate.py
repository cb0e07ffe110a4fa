"""`vespe kit activate`: make kits' tools available in this project."""

import click

from vespe import errors, kits, project
from vespe.cli import options, report
from vespe.workspace import find_root


@click.command("activate", epilog="Example: vespe kit activate file_io_without_git")
@click.argument("kit_ids", nargs=-1, required=True, metavar="KIT...")
@options.project_option
@options.json_option
def command(kit_ids: tuple[str, ...], project_dir: str | None, as_json: bool) -> None:
    """Make the tools of kits available in this project, after those of the kits that are active already."""
    root = find_root(project_dir)
    for kit_id in kit_ids:
        kit = kits.find_kit(kit_id)
        if kit.problem is not None:
            raise errors.InvalidDocument(kit.problem, path=kit.path)
    config = project.set_active(root, kit_ids, active=True)
    if as_json:
        report.emit_json({"active_kits": list(config.active_kits)})
    else:
        report.say(f"active: {', '.join(config.active_kits)}")
