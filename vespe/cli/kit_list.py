"""`vespe kit list`: every kit, its root, and whether it is active."""

import click

from vespe import kits
from vespe.cli import kit_facts, options, report, tables


@click.command("list", epilog="Example: vespe kit list")
@options.project_option
@options.json_option
def command(project_dir: str | None, as_json: bool) -> None:
    """List every kit in every root: active, inactive, hidden by another, or broken."""
    active = kit_facts.active_kits(project_dir)
    found = kits.find_kits()
    if as_json:
        report.emit_json({"kits": [kit_facts.document_of(kit, active) for kit in found]})
        return
    rows = [
        (kit.kit_id, kit.version, kit_facts.state_of(kit, active), kit.tools, kit.root_kind, kit.problem or kit.description)
        for kit in found
    ]
    tables.show(("KIT", "VERSION", "STATE", "TOOLS", "ROOT", "DESCRIPTION"), rows)
