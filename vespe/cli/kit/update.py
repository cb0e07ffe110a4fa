"""`vespe kit update`: what another version of installed kits would change, then, once it is
approved, that version.
"""

import contextlib
import shlex
from collections.abc import Mapping

import click

from vespe.cli import options, report, tool_review
from vespe.cli.kit import review as kit_review
from vespe.cli.waiting import waiting
from vespe.kits import changes as kit_changes
from vespe.kits import lock as kit_lock
from vespe.kits import update as kit_update
from vespe.kits.changes import KitChange
from vespe.kits.lock import LockedKit
from vespe.kits.update import Update
from vespe.models import JsonObject
from vespe.projects import user_config


@click.command("update", epilog="Example: vespe kit update weather --to v1.3.0")
@click.argument("kit_ids", nargs=-1, metavar="[KIT]...")
@click.option(
    "--to",
    "ref",
    metavar="REF",
    help="The branch, tag or commit to update to; default: the current commit of the lock's ref.",
)
@click.option(
    "--allow-signer-change",
    is_flag=True,
    help="Accept a version that is not signed by the signer in the lock.",
)
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@options.user_option
@options.yes_option
@options.project_option
@options.json_option
def command(
    kit_ids: tuple[str, ...],
    ref: str | None,
    allow_signer_change: bool,
    dry_run: bool,
    user: bool,
    yes: bool,
    project_dir: str | None,
    as_json: bool,
) -> None:
    """Look up the next version of each kit and show what changes in each tool: description, schema,
    command, script, permissions.

    The verdicts are those of `vespe tool diff`. No code of the new version runs before you approve
    it.
    """
    lock = options.lock_of(project_dir, user=user)
    wanted = kit_update.choose(kit_lock.read_lock(lock), kit_ids, ref=ref)
    kit_review.confirm_strange(wanted.values(), yes=yes)
    signers = user_config.allowed_signers_file()
    with contextlib.ExitStack() as held:
        with waiting("looking for other versions at the sources"):
            asked = kit_update.prepare(
                wanted,
                lock,
                progress=report.note,
                signer_change=allow_signer_change,
                allowed_signers=signers,
            )
            update = held.enter_context(asked)
        moved = update.moved
        for change in update.changes:
            _show(change, update)
        unapproved = [
            review
            for review in update.shown.unapproved
            if any(change.kit_id == review.kit_id for change in update.changes)
        ]
        kit_review.show(unapproved, installed=yes and not dry_run)
        if moved and not dry_run:
            kit_review.confirm(
                unapproved,
                f"Update {', '.join(kit.kit_id for kit in moved)} and approve exactly this?",
                yes=yes,
            )
            with waiting("updating"):
                kit_update.apply(update, lock)
        document = _document(update, dry_run=dry_run)
    for kit in moved:
        at = f"{(update.before[kit.kit_id].commit or '')[:12]} -> {(kit.commit or kit.digest)[:12]}"
        report.say(f"{'would update' if dry_run else 'updated'} {kit.kit_id} {at}")
    if not moved:
        _tell_unmoved(wanted, update)
    _tell_newer(wanted, update.shown.newer)
    if as_json:
        report.emit_json(document)


def _tell_newer(wanted: Mapping[str, LockedKit], newer: Mapping[str, str]) -> None:
    for kit_id, tag in newer.items():
        said = f"{kit_id}: {report.one_line(tag)} is newer than {wanted[kit_id].ref}"
        report.say(f"{said}; `vespe kit update {kit_id} --to {shlex.quote(tag)}` updates to it")


def _tell_unmoved(wanted: Mapping[str, LockedKit], update: Update) -> None:
    """Say why nothing is updated: each kit is already at what its ref means at its source."""
    for kit_id in wanted:
        report.say(f"nothing to update: {kit_id} is at {_at(update.before[kit_id])}, as its source")
    if not wanted:
        report.say("nothing to update: `--to REF` moves a kit that is pinned to a commit")


def _at(kit: LockedKit) -> str:
    """Say which version of a kit is locked."""
    commit = f"commit {kit.commit[:12]}" if kit.commit else kit.digest[:12]
    return f"{report.one_line(kit.ref)} ({commit})" if kit.ref else commit


def _show(change: KitChange, update: Update) -> None:
    before = update.before[change.kit_id]
    after = next(kit for kit in update.shown.locked if kit.kit_id == change.kit_id)
    report.say(
        f"the kit {change.kit_id} changes from {_at(before)} to {_at(after)}; "
        f"effect on callers: {change.verdict}"
    )
    lines = [
        *tool_review.lines_of_fields(change.fields),
        *(f"  {report.one_line(file)}" for file in change.files),
    ]
    for tool in change.tools:
        lines += tool_review.lines_of_change(tool)
    tool_review.show_lines(lines)


def _document(update: Update, *, dry_run: bool) -> JsonObject:
    changes = {change.kit_id: change for change in update.changes}
    return {
        "dry_run": dry_run,
        "kits": [
            kit_review.document_of(kit)
            | {
                "from": update.before[kit.kit_id].commit,
                "changed": kit != update.before[kit.kit_id],
                "verdict": changes[kit.kit_id].verdict if kit.kit_id in changes else "compatible",
                "fields": kit_changes.fields_json(changes[kit.kit_id].fields)
                if kit.kit_id in changes
                else {},
                "tools": [tool.to_json() for tool in changes[kit.kit_id].tools]
                if kit.kit_id in changes
                else [],
                "files": list(changes[kit.kit_id].files) if kit.kit_id in changes else [],
            }
            for kit in update.shown.locked
        ],
    }
