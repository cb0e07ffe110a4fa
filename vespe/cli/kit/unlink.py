"""`vespe kit unlink`: take an author's link back."""

import click

from vespe.cli import kit_facts, options, report
from vespe.kits import links, roots


@click.command("unlink", epilog="Example: vespe kit unlink team_tools")
@click.argument("kit_id", metavar="KIT")
@options.json_option
def command(kit_id: str, as_json: bool) -> None:
    """Remove the link to a kit. Its directory does not change.

    Projects in which the kit is active keep naming it: `vespe kit deactivate` ends that.
    """
    path = links.unlink_kit(kit_id)
    root = kit_facts.root_if_any(None)
    if as_json:
        report.emit_json({"kit_id": kit_id, "path": path})
    else:
        report.say(f"unlinked {kit_id} from {path}")
    if kit_id in kit_facts.active_kits(root):
        _tell_active(kit_id, root)


def _tell_active(kit_id: str, root: str | None) -> None:
    """Say what becomes of a project in which the kit is active."""
    other = next(
        (
            kit
            for kit in roots.find_kits(count_tools=False, project=root)
            if kit.kit_id == kit_id and kit.problem is None
        ),
        None,
    )
    ends = f"`vespe kit deactivate {kit_id}`"
    if other is None:
        report.warn(
            f"{kit_id} is still active in the project {root}, where its tools are now missing: "
            f"{ends} removes it there"
        )
    else:
        report.note(
            f"{kit_id} is still active in the project {root}, which now uses {other.path}: "
            f"{ends} ends that"
        )
