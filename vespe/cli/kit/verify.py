"""`vespe kit verify`: every installed byte against its digest."""

import click

from vespe import errors
from vespe.cli import options, report
from vespe.cli.kit import review
from vespe.documents.near import join_words
from vespe.kits import lock as kit_lock
from vespe.kits import store


@click.command("verify", epilog="Example: vespe kit verify")
@options.user_option
@options.project_option
@options.json_option
def command(user: bool, project_dir: str | None, as_json: bool) -> None:
    """Compare every byte of the kits in the lock with their digests. Fails at the first file that
    differs.
    """
    lock = options.lock_of(project_dir, user=user)
    kits = kit_lock.read_lock(lock)
    wrong = {
        kit_id: found
        for kit_id, kit in kits.items()
        if (found := store.differences(kit.digest, kit_id))
    }
    for kit_id, found in wrong.items():
        for change in found:
            report.warn(f"{kit_id}: {change}")
    if wrong:
        kit_id, found = next(iter(wrong.items()))
        reason = (
            f"the kit {kit_id} is not what was installed: "
            f"{join_words(found, most=3, see='all are above', apart='; ')}"
        )
        error = errors.InvalidDocument(
            reason,
            path=store.kit_path(kits[kit_id].digest, kit_id),
            hint="`vespe kit sync` installs the locked version again",
        )
        error.details["kits"] = {name: list(changes) for name, changes in wrong.items()}
        raise error
    files = sum(len(kit.files) for kit in kits.values())
    report.say(
        f"{report.count(len(kits), 'kit')}, {report.count(files, 'file')}: every byte is as "
        "installed"
    )
    if as_json:
        report.emit_json(
            {
                "lock": lock,
                "kits": [
                    review.document_of(kit) | {"files": len(kit.files)} for kit in kits.values()
                ],
            }
        )
