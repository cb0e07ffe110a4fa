"""`vespe kit list`: every kit, its root, and whether it is active."""

import click

from vespe.cli import kit_facts, options, report, tables
from vespe.cli.waiting import waiting
from vespe.kits import lock as kit_lock
from vespe.kits import roots
from vespe.kits.lock import LockedKit
from vespe.models import JsonObject


@click.command("list", epilog="Example: vespe kit list")
@click.option(
    "--outdated",
    is_flag=True,
    help="Contact the sources, and list only installed kits whose ref has moved or that have "
    "a newer tag.",
)
@options.project_option
@options.json_option
def command(outdated: bool, project_dir: str | None, as_json: bool) -> None:
    """List every kit in every root: active, inactive, hidden by another, or broken."""
    root = kit_facts.root_if_any(project_dir)
    active = kit_facts.active_kits(root)
    found = roots.find_kits(project=root)
    if outdated:
        _show_outdated(
            {kit.kit_id: kit_facts.document_of(kit, active) for kit in reversed(found)},
            root,
            as_json=as_json,
        )
        return
    if as_json:
        report.emit_json({"kits": [kit_facts.document_of(kit, active) for kit in found]})
        return
    rows = [
        (
            kit.kit_id,
            kit.version,
            kit_facts.state_of(kit, active),
            kit.tools,
            kit.root_kind,
            kit.problem or kit.description,
        )
        for kit in found
    ]
    tables.show(("KIT", "VERSION", "STATE", "TOOLS", "ROOT", "DESCRIPTION"), rows)


def _show_outdated(known: dict[str, JsonObject], root: str | None, *, as_json: bool) -> None:
    from vespe.kits import sync

    rows: list[JsonObject] = []
    locks = [lock for lock, _ in roots.lock_paths(root)]
    for lock in locks:
        asked = _asked(lock)
        with waiting("contacting the sources"):
            found = tuple(sync.moved_refs(asked, lock))
        for moved in found:
            if moved.why:
                report.warn(f"cannot contact {moved.source.text}: {moved.why}")
                continue
            facts: JsonObject = {
                "source": moved.source.text,
                "ref": moved.source.ref,
                "commit": moved.locked,
            }
            facts |= {"latest": moved.commit, "newer": moved.newer, "outdated": True}
            rows += [known.get(kit_id, {"kit_id": kit_id}) | facts for kit_id in moved.kit_ids]
    if as_json:
        report.emit_json({"kits": rows})
        return
    if not rows:
        report.note(
            "all installed kits are up to date"
            if any(map(kit_lock.read_lock, locks))
            else "no kit is installed here"
        )
        return
    cells = [
        (row["kit_id"], row["ref"] or "(default)", row["commit"][:12], _now(row), row["source"])
        for row in rows
    ]
    tables.show(("KIT", "REF", "LOCKED", "NOW", "SOURCE"), cells)


def _now(row: JsonObject) -> str:
    return str(row["newer"] or (row["latest"] or "-")[:12])


def _asked(lock: str) -> dict[str, LockedKit]:
    """Return the kits of a lock whose sources are asked: a project's lock comes with a repository,
    and names whom it likes.
    """
    from vespe.kits import sync

    locked = kit_lock.read_lock(lock)
    strange = sync.strange_sources(locked.values()) if lock != kit_lock.user_lock() else ()
    for source in strange:
        report.warn(
            f"{report.one_line(source)} was not contacted, because you have not approved anything "
            "from it here; `vespe kit sync` contacts it"
        )
    return {kit_id: kit for kit_id, kit in locked.items() if kit.source not in strange}
