"""`vespe kit activate`: make kits' tools available in this project."""

from dataclasses import replace

import click

from vespe import errors, kit_excess, kits, project, scopes, substitutions
from vespe.cli import options, report
from vespe.workspace import find_root


@click.command("activate", epilog="Example: vespe kit activate file_io_without_git")
@click.argument("kit_ids", nargs=-1, required=True, metavar="KIT...")
@options.project_option
@options.json_option
def command(kit_ids: tuple[str, ...], project_dir: str | None, as_json: bool) -> None:
    """Make the tools of kits available in this project, after those of the kits that are active already.

    Where a tool takes another's name, it is said first whether callers find the same contract (see `vespe tool diff`).
    """
    root = find_root(project_dir)
    for kit_id in kit_ids:
        kit = kits.find_kit(kit_id)
        if kit.problem is not None:
            raise errors.InvalidDocument(kit.problem, path=kit.path)
        kit_excess.refuse_excess(kit.path, kit_id)
    _tell_substitutions(root, kit_ids)
    config = project.set_active(root, kit_ids, active=True)
    if as_json:
        report.emit_json({"active_kits": list(config.active_kits)})
    else:
        report.say(f"active: {', '.join(config.active_kits)}")


def _tell_substitutions(root: str, kit_ids: tuple[str, ...]) -> None:
    now = project.read_config(root)
    fresh = tuple(kit_id for kit_id in dict.fromkeys(kit_ids) if kit_id not in now.active_kits)
    then = scopes.scopes_of(replace(now, active_kits=(*now.active_kits, *fresh)), kits.find_kits(count_tools=False))
    for found in substitutions.substitutions(then.every, about=fresh):
        (report.note if found.verdict == "compatible" else report.warn)(str(found))
