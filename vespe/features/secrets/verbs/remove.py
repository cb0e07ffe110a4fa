"""`vespe secret remove`: take a secret out of the configuration, and its value out of its store."""

import os

import click

from vespe.cli import options, report
from vespe.features.secrets import references, settings, stores
from vespe.models import JsonValue


@click.command("remove", epilog="Example: vespe secret remove GITHUB_TOKEN")
@click.argument("secret_name", metavar="NAME")
@options.yes_option
@options.json_option
def command(secret_name: str, yes: bool, as_json: bool) -> None:
    """Remove a secret from your configuration. If `vespe secret set` stored the value, the stored
    value is removed too. A value that you only refer to is kept. If the keyring does not answer, a
    warning says that the value may still be there.
    """
    said = stores.said_of(secret_name)
    kept, place = stores.is_kept(secret_name, said), references.shown(said)
    what = f"{secret_name} and its value in {place}"
    question = f"Remove {what}?"
    if not kept:
        subject = _subject(said, place)
        what = f"the reference {secret_name}"
        question = f"Remove {what}? {subject} stays as it is."
    options.confirm(question, yes=yes)
    removed = kept and stores.let_go(secret_name, said, os.environ)
    settings.unset(secret_name)
    if as_json:
        report.emit_json({"name": secret_name, **stores.described(said), "removed": removed})
    else:
        report.say(f"removed {what if removed == kept else secret_name}")


def _subject(said: JsonValue, place: str) -> str:
    """Say at the beginning of a sentence what a reference names."""
    if isinstance(said, dict) and "command" in said:
        return f"The program `{os.path.basename(said['command'][0])}`"
    return place[0].upper() + place[1:] if place.startswith("the ") else place
