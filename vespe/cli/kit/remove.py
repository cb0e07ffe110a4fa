"""`vespe kit remove`: take installed kits out of the lock, and off this machine where nobody needs
them; and one's own kits.
"""

import contextlib
import os
from collections.abc import Mapping, Sequence

import click

from vespe.cli import kit_facts, options, report
from vespe.cli.kit import review
from vespe.documents.near import near
from vespe.errors import KitNotFound, NotFound
from vespe.files import atomic
from vespe.kits import lock as kit_lock
from vespe.kits import mcp_lock, removal, roots, store
from vespe.kits import removal as kit_removal
from vespe.kits.lock import LockedKit
from vespe.processes.signals import uninterruptible
from vespe.projects import project
from vespe.projects.workspace import find_root


@click.command("remove", epilog="Example: vespe kit remove weather --yes")
@click.argument("kit_ids", nargs=-1, required=True, metavar="KIT...")
@options.user_option
@options.yes_option
@options.project_option
@options.json_option
def command(
    kit_ids: tuple[str, ...], user: bool, yes: bool, project_dir: str | None, as_json: bool
) -> None:
    """Take kits out of the lock and deactivate them here; their bytes go where no other project on
    this machine needs them.

    A kit that `vespe kit create` made in your own kits directory goes with its directory, unless
    that holds what Vespe did not make.
    """
    named = tuple(dict.fromkeys(kit_ids))
    own_alone = all(removal.find_own(kit_id) for kit_id in named)
    root = kit_facts.root_if_any(project_dir) if user or own_alone else find_root(project_dir)
    lock = kit_lock.user_lock() if user or root is None else kit_lock.project_lock(root)
    known = kit_lock.read_lock(lock) if user or root is not None else {}
    locked, own = _sorted_out(named, known, root)
    paths = [removal.find_own(kit_id) for kit_id in own]
    for path in paths:
        report.say(
            f"{report.one_line(str(path))} is a kit of your own: its directory would be deleted"
        )
    options.confirm(f"Remove {', '.join(named)}?", yes=yes)
    gone = _taken_out(named, locked, lock, root=None if user else root)
    for kit in gone:
        report.say(f"removed {kit.kit_id}")
    stood = {kit_id: removal.remove_own(kit_id) for kit_id in own}
    if root is not None and stood:
        mcp_lock.forget(root, stood)
    for kit_id, path in stood.items():
        report.say(f"removed {kit_id}, which stood in {report.one_line(path)}")
    if as_json:
        rows = [
            *(review.document_of(kit) for kit in gone),
            *({"kit_id": kit_id, "path": path} for kit_id, path in stood.items()),
        ]
        report.emit_json({"lock": lock if locked else None, "removed": rows})


def _taken_out(
    named: Sequence[str], locked: Sequence[str], lock: str, *, root: str | None
) -> tuple[LockedKit, ...]:
    with contextlib.ExitStack() as held:
        if locked:  # every lock before the first change, which no signal then comes between
            held.enter_context(store.locked())
            held.enter_context(atomic.locked(os.path.dirname(lock)))
        held.enter_context(uninterruptible())
        # first, so that a project is never left with an active kit that is not there
        if root is not None:
            project.set_active(root, named, active=False)
        return kit_removal.remove(locked, lock) if locked else ()


def _sorted_out(
    kit_ids: Sequence[str], known: Mapping[str, LockedKit], root: str | None
) -> tuple[list[str], list[str]]:
    """Return the kits that are in the lock, and those of the user's own directory; refuse before
    anything is asked or changed.
    """
    locked = [kit_id for kit_id in kit_ids if kit_id in known]
    own = [kit_id for kit_id in kit_ids if kit_id not in known]
    for kit_id in own:
        if removal.find_own(kit_id) is None:
            removal.recover()
            # of one that was killed when the kit was out of the lock, and its bytes were not gone
            # yet
            store.recover()
            _refuse_elsewhere(kit_id, root)
            raise KitNotFound(kit_id, close=near(kit_id, known))
        removal.refuse_others(kit_id)
    for kit_id in locked:
        kit_removal.refuse_foreign(known[kit_id])
    return locked, own


def _refuse_elsewhere(kit_id: str, root: str | None) -> None:
    """Raise NotFound for a kit that stands where `remove` takes nothing away, with what to say
    instead.
    """
    ways = {
        roots.LINK: f"`vespe kit unlink {kit_id}`",
        "user_lock": f"`vespe kit remove {kit_id} --user`",
    }
    for kit in roots.find_kits(count_tools=False, project=root):
        if kit.kit_id == kit_id and kit.root_kind != "lock":
            hint = ways.get(kit.root_kind, f"`vespe kit deactivate {kit_id}`")
            raise NotFound(
                f"the kit {kit_id} is not in this lock: it stands in {kit.path}",
                hint=f"{hint}, if that is what you want",
            )
