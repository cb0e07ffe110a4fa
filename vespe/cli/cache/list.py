"""`vespe cache list`: the installed kits on this machine and who needs them."""

import click

from vespe.cli import options, report, tables
from vespe.kits import store_usage


@click.command("list", epilog="Example: vespe cache list")
@options.json_option
def command(as_json: bool) -> None:
    """List the kits in your store, their sizes, and the projects on this machine whose lock names them."""
    found = store_usage.stored_kits()
    if as_json:
        report.emit_json({"kits": [kit.to_json() for kit in found], "bytes": sum(kit.size for kit in found)})
        return
    rows = [(kit.kit_id, kit.digest[:15], kit.size, ", ".join(kit.users) or "nobody known") for kit in found]
    tables.show(("KIT", "DIGEST", "BYTES", "USED BY"), rows)
