"""`vespe kit remove`: take installed kits out of the lock, and off this machine where nobody needs them."""

import click

from vespe import kit_lock, kit_removal, project
from vespe.cli import kit_review, locks, options, report
from vespe.errors import KitNotFound
from vespe.workspace import find_root


@click.command("remove", epilog="Example: vespe kit remove weather --yes")
@click.argument("kit_ids", nargs=-1, required=True, metavar="KIT...")
@locks.user_option
@options.yes_option
@options.project_option
@options.json_option
def command(kit_ids: tuple[str, ...], user: bool, yes: bool, project_dir: str | None, as_json: bool) -> None:
    """Take kits out of the lock and deactivate them here; their bytes go where no other project on this machine needs them."""
    lock = locks.lock_of(project_dir, user=user)
    known = kit_lock.read_lock(lock)
    for kit_id in kit_ids:
        if kit_id not in known:
            raise KitNotFound(kit_id, close=sorted(known)[:3])
        kit_removal.refuse_foreign(known[kit_id])
    options.confirmed(f"Remove {', '.join(kit_ids)}?", yes=yes)
    if not user:  # first, so that a project is never left with an active kit that is not there
        project.set_active(find_root(project_dir), kit_ids, active=False)
    gone = kit_removal.remove(kit_ids, lock)
    report.say(f"removed {', '.join(kit.kit_id for kit in gone)}")
    if as_json:
        report.emit_json({"lock": lock, "removed": [kit_review.document_of(kit) for kit in gone]})
