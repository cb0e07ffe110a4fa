"""`vespe cache list`: the installed kits on this machine and who needs them, and the environments
of Python tools.
"""

import time

import click

from vespe.cli import options, report, tables
from vespe.kits import store_usage
from vespe.types.python_script import environments as script_environments


@click.command("list", epilog="Example: vespe cache list")
@options.json_option
def command(as_json: bool) -> None:
    """List the kits in your store, the projects on this machine that have them in their lock, and
    the environments of Python tools.
    """
    found, environments = store_usage.stored_kits(), script_environments.list_kept()
    if as_json:
        size = sum(kit.size for kit in found) + sum(one.size for one in environments)
        made = [one.to_json() for one in environments]
        report.emit_json(
            {"kits": [kit.to_json() for kit in found], "environments": made, "bytes": size}
        )
        return
    if not found and not environments:
        report.note("the cache is empty: no kit is installed, and no tool has its own environment")
        return
    rows = [
        (kit.kit_id, kit.digest[:15], kit.size, ", ".join(kit.users) or "nobody known")
        for kit in found
    ]
    if rows:
        tables.show(("KIT", "DIGEST", "BYTES", "USED BY"), rows)
    if environments:
        report.emit("") if rows else None
        used = [time.strftime("%Y-%m-%d", time.localtime(one.used)) for one in environments]
        rows = [
            (one.title, one.digest[:15], one.size, day)
            for one, day in zip(environments, used, strict=True)
        ]
        tables.show(("ENVIRONMENT", "DIGEST", "BYTES", "LAST USED"), rows)
