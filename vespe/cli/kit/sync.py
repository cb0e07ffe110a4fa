"""`vespe kit sync`: exactly the kits that the lock names, on this machine too."""

import contextlib
from collections.abc import Mapping

import click

from vespe.cli import options, report
from vespe.cli.kit import review, server_review
from vespe.cli.waiting import waiting
from vespe.kits import lock as kit_lock
from vespe.kits import mcp_lock, sync
from vespe.kits.lock import LockedKit
from vespe.kits.mcp_lock import LockedServer
from vespe.kits.sync import Moved
from vespe.models import JsonObject
from vespe.projects import project
from vespe.types.mcp_tool import server_kits


@click.command("sync", epilog="Example: vespe kit sync --locked --yes")
@click.option(
    "--locked",
    is_flag=True,
    help="For CI: fail if an active kit is neither in the lock nor in a kit root.",
)
@options.user_option
@options.yes_option
@options.project_option
@options.json_option
def command(locked: bool, user: bool, yes: bool, project_dir: str | None, as_json: bool) -> None:
    """Install exactly the commits and bytes in .vespe/kits.lock.json, without changing the lock.

    Only the sources of missing kits are contacted; `vespe kit list --outdated` contacts all of
    them. Content that was never approved on this machine is shown first. A tag that has moved is
    reported but changes nothing. The kit of an MCP server is created again, and refused if the
    server now defines other tools; with --yes the project must be trusted.
    """
    lock = options.lock_of(project_dir, user=user)
    wanted = kit_lock.read_lock(lock)
    absent = {kit.kit_id: kit for kit in sync.missing(wanted)}
    review.confirm_strange(absent.values(), yes=yes)
    moved: tuple[Moved, ...] = ()
    if absent:
        with waiting("contacting the sources"):
            moved = tuple(one for one in sync.moved_refs(absent, lock) if one.differs)
    for one in moved:
        report.warn(_describe_move(one))
    with contextlib.ExitStack() as held:
        with waiting("fetching what is missing"):
            shown = held.enter_context(sync.prepare(wanted, lock, progress=report.note))
        if shown.unapproved:
            review.show(shown.unapproved, installed=yes)
            review.confirm(shown.unapproved, "Install and approve exactly this?", yes=yes)
        with waiting("installing"):
            sync.apply(shown, lock)
    servers = {} if user else mcp_lock.read(lock)
    made = _make_missing(servers, lock, yes=yes)
    if locked and not user:
        sync.refuse_uncovered(lock, project.read_config(kit_lock.project_of(lock)).active_kits)
    for kit in shown.locked:
        report.say(f"installed {kit.kit_id}" + (f" at {kit.commit[:12]}" if kit.commit else ""))
    for kit_id in made:
        report.say(f"made the kit {kit_id} from its MCP server, as in the lock")
    if not shown.locked and not made:
        named = len(wanted) + len(servers)
        report.say(
            f"{report.count(named, 'kit')} installed as in the lock"
            if named
            else "the lock names no kits"
        )
    if as_json:
        found = _document(lock, wanted, [kit.kit_id for kit in shown.locked], moved)
        report.emit_json(
            found
            | {"mcp_servers": [{"kit_id": kit_id, "made": kit_id in made} for kit_id in servers]}
        )


def _make_missing(servers: Mapping[str, LockedServer], lock: str, *, yes: bool) -> list[str]:
    """Make the kits of MCP servers that are not here as the lock says; each server is shown,
    started after a yes, and verified.
    """
    made = []
    for server, before in mcp_lock.missing(servers.values()):
        # Nobody reads the command where --yes answers.
        if yes:
            server_kits.check_trusted(lock)
        server_review.announce(server.server)
        server_review.confirm_start(server.server, yes=yes)
        with waiting(server_review.asking(server.kit_id)):
            draft = server_kits.ask_locked(server, lock)
        server_review.approve(draft, before, update=bool(before), yes=yes)
        made.append(server.kit_id)
    return made


def _describe_move(moved: Moved) -> str:
    ref = moved.source.ref or "the default branch"
    what = f"{ref} of {moved.source.text} ({', '.join(moved.kit_ids)})"
    if moved.why:
        return f"cannot look up {what}: {moved.why}"
    return (
        f"{what} has moved to {(moved.commit or 'nothing')[:12]}; "
        f"the lock stays at {moved.locked[:12]}"
    )


def _document(
    lock: str, wanted: dict[str, LockedKit], installed: list[str], moved: tuple[Moved, ...]
) -> JsonObject:
    return {
        "lock": lock,
        "kits": [
            review.document_of(kit) | {"installed": kit.kit_id in installed}
            for kit in wanted.values()
        ],
        "moved": [
            {
                "source": m.source.text,
                "ref": m.source.ref,
                "kits": list(m.kit_ids),
                "locked": m.locked,
                "now": m.commit,
            }
            for m in moved
        ],
    }
