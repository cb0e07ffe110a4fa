"""`vespe kit activate`: make kits' tools available in this project."""

import click

from vespe.cli import options, report
from vespe.cli.kit import activation
from vespe.projects.workspace import find_root


@click.command("activate", epilog="Example: vespe kit activate file_io_without_git")
@click.argument("kit_ids", nargs=-1, required=True, metavar="KIT...")
@options.project_option
@options.json_option
def command(kit_ids: tuple[str, ...], project_dir: str | None, as_json: bool) -> None:
    """Make the tools of kits available in this project. They come after the kits that are already
    active.

    If several MCP servers on this machine have the name, you are asked which one to use; KIT@DIGEST
    selects it.

    If a tool would shadow another one, the command first shows whether the two are compatible for
    callers (see `vespe tool diff`).
    """
    config = activation.activate(find_root(project_dir), kit_ids)
    if as_json:
        report.emit_json({"active_kits": list(config.active_kits)})
    else:
        report.say(f"active: {', '.join(config.active_kits)}")
