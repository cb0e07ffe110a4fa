"""`vespe cache clean`: take out of the store what no project needs."""

import click

from vespe.cli import options, report
from vespe.kits import store_usage


@click.command("clean", epilog="Example: vespe cache clean --dry-run")
@click.option("--dry-run", is_flag=True, help="Say what would go, and remove nothing.")
@options.yes_option
@options.json_option
def command(dry_run: bool, yes: bool, as_json: bool) -> None:
    """Remove the kits from your store that no lock on this machine names; a project's `vespe kit sync` brings them back.

    A project is known from the moment when it installed or synced a kit here. What a known project's lock names is never removed.
    """
    unused = tuple(kit for kit in store_usage.stored_kits() if not kit.used_by)
    size = sum(kit.size for kit in unused)
    for kit in unused:
        report.say(f"{kit.kit_id} {kit.digest[:15]}, {kit.size} bytes")
    if unused and not dry_run:
        options.confirmed(f"Remove {report.count(len(unused), 'kit')}, {size} bytes in all?", yes=yes)
    gone = unused if dry_run else store_usage.clean(unused)
    if as_json:
        report.emit_json({"removed": [kit.to_json() for kit in gone], "bytes": sum(kit.size for kit in gone), "dry_run": dry_run})
    elif dry_run:
        report.say(f"would remove {report.count(len(gone), 'kit')}, {size} bytes")
    else:
        report.say(f"removed {report.count(len(gone), 'kit')}, {sum(kit.size for kit in gone)} bytes")
