"""`vespe kit list`: every kit, its root, and whether it is active."""

from collections.abc import Mapping

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
    """List every kit in every directory that Vespe searches: active, inactive, hidden by another,
    or broken.
    """
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
    unchecked: list[JsonObject] = []
    installed = 0
    for lock, _ in roots.lock_paths(root):
        locked = kit_lock.read_lock(lock)
        installed += len(locked)
        asked, passed_over = _asked(locked, lock)
        unchecked += passed_over
        with waiting("contacting the sources"):
            found = tuple(sync.moved_refs(asked, lock))
        for moved in found:
            if moved.why:
                report.warn(f"cannot contact {moved.source.text}: {moved.why}")
                said = "its source cannot be contacted"
                unchecked += [
                    _unchecked(locked[kit_id], said, moved.why) for kit_id in moved.kit_ids
                ]
                continue
            facts: JsonObject = {
                "source": moved.source.text,
                "ref": moved.source.ref,
                "commit": moved.locked,
            }
            facts |= {"latest": moved.commit, "newer": moved.newer, "outdated": True}
            rows += [known.get(kit_id, {"kit_id": kit_id}) | facts for kit_id in moved.kit_ids]
    if as_json:
        report.emit_json({"kits": rows, "unchecked": unchecked})
        return
    if not installed:
        report.note("no kit is installed here")
    elif not rows and not unchecked:
        report.note("all installed kits are up to date")
    elif not rows and (current := installed - len(unchecked)):
        report.note(f"{report.count(current, 'kit')} {'is' if current == 1 else 'are'} up to date")
    if unchecked:
        report.note(
            "not checked: "
            + ", ".join(f"{report.one_line(one['kit_id'])} ({one['why']})" for one in unchecked)
        )
    if not rows:
        return
    cells = [
        (row["kit_id"], row["ref"] or "(default)", row["commit"][:12], _now(row), row["source"])
        for row in rows
    ]
    tables.show(("KIT", "REF", "LOCKED", "NOW", "SOURCE"), cells)


def _now(row: JsonObject) -> str:
    return str(row["newer"] or (row["latest"] or "-")[:12])


def _asked(
    locked: Mapping[str, LockedKit], lock: str
) -> tuple[dict[str, LockedKit], list[JsonObject]]:
    """Return the kits of a lock whose sources are asked, and what is said of the others. A
    project's lock comes with a repository, and can name any source.
    """
    from vespe.kits import sync

    asked: dict[str, LockedKit] = {}
    others: list[JsonObject] = []
    strange = sync.strange_sources(locked.values()) if lock != kit_lock.user_lock() else ()
    for source in strange:
        report.warn(
            f"{report.one_line(source)} was not contacted, because you have not approved anything "
            "from it here; `vespe kit sync` contacts it"
        )
    for kit_id, kit in locked.items():
        if why := sync.fixed(kit):
            others.append(_unchecked(kit, why))
        elif kit.source in strange:
            others.append(_unchecked(kit, "you have not approved anything from its source here"))
        else:
            asked[kit_id] = kit
    return asked, others


def _unchecked(kit: LockedKit, why: str, error: str | None = None) -> JsonObject:
    kept: JsonObject = {"kit_id": kit.kit_id, "source": kit.source, "ref": kit.ref}
    return kept | {"why": why, "error": error}
