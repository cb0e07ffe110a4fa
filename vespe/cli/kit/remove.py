"""`vespe kit remove`: take installed kits out of the lock, and off this machine where nobody needs
them; and one's own kits.
"""

import contextlib
import os
from collections.abc import Mapping, Sequence

import click

from vespe import features
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
@click.option(
    "--logout",
    is_flag=True,
    help="Log out of the kits' remote MCP servers too, as `vespe mcp logout` does.",
)
@options.yes_option
@options.project_option
@options.json_option
def command(
    kit_ids: tuple[str, ...],
    user: bool,
    logout: bool,
    yes: bool,
    project_dir: str | None,
    as_json: bool,
) -> int:
    """Remove kits from the lock and deactivate them in this project. Their files are deleted if no
    other project on this machine needs them.

    If `vespe kit create` made the kit in your own kits directory, its directory is deleted too,
    unless it contains files that Vespe did not make. Your login to a remote MCP server is kept for
    the next time you add it, unless you name `--logout`.
    """
    named = tuple(dict.fromkeys(kit_ids))
    if logout:
        features.load("oauth", "login")  # before anything is removed
    root = kit_facts.root_if_any(project_dir)
    if root is None and not user and not all(_own_paths(kit_id, None) for kit_id in named):
        root = find_root(project_dir)
    lock = kit_lock.user_lock() if user or root is None else kit_lock.project_lock(root)
    known = kit_lock.read_lock(lock) if user or root is not None else {}
    locked, own = _sorted_out(named, known, root)
    for path in (path for paths in own.values() for path in paths if not yes):
        report.say(f"{report.one_line(path)} is a kit of your own: its directory would be deleted")
    options.confirm(f"Remove {', '.join(named)}?", yes=yes, listed=bool(own))
    gone = _taken_out(named, locked, lock, root=None if user else root)
    for kit in gone:
        report.say(f"removed {kit.kit_id}")
    _remove_own(own, root)
    shared = [kit_id for kit_id in named if own.get(kit_id) == []]
    is_out = _end_logins(
        named if logout else [kit_id for kit_id in named if kit_id not in shared],
        shared,
        logout=logout,
    )
    if as_json:
        rows = [
            *(review.document_of(kit) for kit in gone),
            *({"kit_id": kit_id, "path": path} for kit_id in own for path in own[kit_id][:1]),
        ]
        report.emit_json({"lock": lock if locked else None, "removed": rows})
    return 0 if is_out else 1


def _end_logins(kit_ids: Sequence[str], shared: Sequence[str], *, logout: bool) -> bool:
    """Log out of the servers of kits that are gone, or say how; return whether the tokens are gone
    where that was asked for. Other projects use the login of a kit that is `shared`.
    """
    if not features.is_present("oauth"):
        return True
    records, is_out = features.load("oauth", "records"), True
    for kit_id in kit_ids:
        kept = records.of_kit(kit_id)
        if logout and not kept:
            report.note(f"you were not logged in to {kit_id}")
        for one in kept:
            place = f"{kit_id} at {report.one_line(one.url)}"
            if not logout or kit_id in shared:
                why = "other projects on this machine use it: " if logout else ""
                report.note(
                    f"you are still logged in to {place}: {why}"
                    f"`vespe mcp logout {kit_id}` removes the tokens"
                )
            elif features.load("oauth", "login").log_out(one):
                report.say(f"logged out of {place}")
            else:
                is_out = False
    return is_out


def _own_paths(kit_id: str, root: str | None) -> list[str] | None:
    """Return the directories of the user's own kit of that id; None where there is none."""
    paths = mcp_lock.removable(kit_id, root) if roots.KIT_ID.fullmatch(kit_id) else None
    if paths is None and (own := removal.find_own(kit_id)) is not None:
        return [own]
    return paths


def _remove_own(own: Mapping[str, Sequence[str]], root: str | None) -> None:
    """Delete kits of the user's own, and take those of MCP servers out of the project's lock."""
    for kit_id, paths in own.items():
        for path in paths:
            removal.remove_at(path)
            report.say(f"removed {kit_id}: its directory {report.one_line(path)} was deleted")
        if not paths:
            report.say(f"removed {kit_id} from this project; others on this machine use it")
    if root is not None and own:
        mcp_lock.forget(root, own)


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
) -> tuple[list[str], dict[str, list[str]]]:
    """Return the kits that are in the lock, and those of the user's own with their directories;
    refuse before anything is asked or changed.
    """
    locked = [kit_id for kit_id in kit_ids if kit_id in known]
    own: dict[str, list[str]] = {}
    for kit_id in kit_ids:
        if kit_id in known:
            continue
        paths = _own_paths(kit_id, root)
        if paths is None:
            removal.recover()
            # of one that was killed when the kit was out of the lock, and its bytes were not gone
            # yet
            store.recover()
            _refuse_elsewhere(kit_id, root)
            raise KitNotFound(kit_id, close=near(kit_id, known))
        for path in paths:
            removal.refuse_others(path)
        own[kit_id] = paths
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
                f"the kit {kit_id} is not in this lock: it is in {kit.path}",
                hint=f"{hint}, if that is what you want",
            )
