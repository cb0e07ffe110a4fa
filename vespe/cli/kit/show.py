"""`vespe kit show`: one kit and its tools."""

import os

import click

from vespe import errors
from vespe.cli import kit_facts, options, report, tables
from vespe.kits import roots
from vespe.records import json_of
from vespe.tools import allowances, catalog


@click.command("show", epilog="Example: vespe kit show file_io_without_git")
@click.argument("kit_id", metavar="KIT")
@options.project_option
@options.json_option
def command(kit_id: str, project_dir: str | None, as_json: bool) -> None:
    """Show one kit and its tools, active or not."""
    root = kit_facts.root_if_any(project_dir)
    kit = roots.find_kit(kit_id, project=root)
    if kit.problem is not None and not os.path.isdir(kit.path):
        raise errors.NotFound(f"the kit {kit_id} {kit.problem}")
    active = kit_facts.active_kits(root)
    entries = list(catalog.scan(kit.path, scope=kit.kit_id, kit_id=kit.kit_id).values())
    if as_json:
        tools = [json_of(e, "name", "uid", "type", "description", "problem") for e in entries]
        stated = {key: kit.document[key] for key in allowances.KEYS if key in kit.document}
        report.emit_json(kit_facts.document_of(kit, active) | stated | {"tools": tools})
        return
    report.emit(f"{kit.kit_id} {kit.version or ''} ({kit_facts.state_of(kit, active)})")
    report.emit(f"  path  {kit.path}")
    for key in ("license", "homepage"):
        if isinstance(value := kit.document.get(key), str):
            report.emit_sentence(f"  {key}  {value}")
    for key in allowances.KEYS:
        if isinstance(allowed := kit.document.get(key), list):
            report.emit_sentence(f"  {key}  {', '.join(map(str, allowed)) or 'none'}")
    report.emit_sentence(f"\n{kit.description or ''}\n", hanging=0)
    tables.show(
        ("NAME", "TYPE", "DESCRIPTION"),
        [(e.name or e.uid, e.type, e.problem or e.description) for e in entries],
    )
