"""`vespe cache clean`: take out of the store what no project needs, and environments that nobody
used for a while.
"""

import time
from typing import Final

import click

from vespe.cli import options, report
from vespe.kits import store_usage
from vespe.types.python_script import environments as script_environments

_DAYS: Final = 30


@click.command("clean", epilog="Example: vespe cache clean --dry-run")
@click.option("--dry-run", is_flag=True, help="Show what would be removed, and remove nothing.")
@click.option(
    "--environments",
    "every",
    is_flag=True,
    help="Remove all environments, even recently used ones. They are created again when needed.",
)
@options.yes_option
@options.json_option
def command(dry_run: bool, every: bool, yes: bool, as_json: bool) -> None:
    """Remove kits that are in no lock on this machine, and environments that were not used for 30
    days.

    Only the locks of projects that have installed or synced a kit on this machine are considered.
    To restore a kit, run `vespe kit sync`; to restore an environment, run `vespe prepare`.
    """
    unused = tuple(kit for kit in store_usage.stored_kits() if not kit.used_by)
    old = tuple(
        one
        for one in script_environments.list_kept()
        if every or one.used < time.time() - _DAYS * 86_400
    )
    size = sum(kit.size for kit in unused) + sum(one.size for one in old)
    for kit in unused:
        report.say(f"{kit.kit_id} {kit.digest[:15]}, {kit.size} bytes")
    for one in old:
        report.say(f"the environment of {one.title}, {one.size} bytes")
    what = report.count(len(unused), "kit") + (
        f" and {report.count(len(old), 'environment')}" if old else ""
    )
    if (unused or old) and not dry_run:
        options.confirm(f"Remove {what}, {size} bytes in all?", yes=yes, listed=True)
    gone = unused if dry_run else store_usage.clean(unused)
    if old and not dry_run:
        script_environments.forget(old)
    size = sum(kit.size for kit in gone) + sum(one.size for one in old)
    if as_json:
        said = {
            "removed": [kit.to_json() for kit in gone],
            "environments": [one.to_json() for one in old],
        }
        report.emit_json({**said, "bytes": size, "dry_run": dry_run})
    elif not gone and not old:
        report.say("there is nothing to remove")
    else:
        what = report.count(len(gone), "kit") + (
            f" and {report.count(len(old), 'environment')}" if old else ""
        )
        report.say(f"{'would remove' if dry_run else 'removed'} {what}, {size} bytes")
