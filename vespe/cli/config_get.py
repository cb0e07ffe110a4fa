"""`vespe config get`: one of your own settings."""

import click

from vespe import configuration, documents
from vespe.cli import options, report


@click.command("get", epilog="Example: vespe config get allow_hosts")
@click.argument("key")
@options.json_option
def command(key: str, as_json: bool) -> None:
    """Print one of your own settings, as a dotted key; a secret too."""
    value = configuration.get_value(key)
    if as_json:
        report.emit_json({"key": key, "value": value})
    else:
        report.emit(value if isinstance(value, str) else documents.compact_json(value))
