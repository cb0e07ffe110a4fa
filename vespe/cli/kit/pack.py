"""`vespe kit pack`: a kit as one file."""

import click

from vespe.cli import options, report
from vespe.kits import archives


@click.command("pack", epilog="Example: vespe kit pack team_tools -o team_tools.kit")
@click.argument("kit", metavar="[KIT|DIR]", default=".")
@click.option("-o", "--output", metavar="FILE", help="Where to write it; default: KIT.kit here.")
@options.json_option
def command(kit: str, output: str | None, as_json: bool) -> None:
    """Write a kit, by its id or its directory (the working directory by default), as one file that `vespe kit install` takes.

    The same content gives the same bytes, whoever packs it and wherever.
    """
    packed = archives.pack_kit(kit, output)
    if as_json:
        fields = ("kit_id", "path", "files", "size", "digest")
        report.emit_json({name: getattr(packed, name) for name in fields})
    else:
        report.say(f"packed {packed.kit_id}: {report.count(packed.files, 'file')}, {packed.size} bytes, {packed.digest}, in {packed.path}")
