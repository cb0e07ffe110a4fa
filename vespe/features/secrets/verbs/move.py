"""`vespe secret move`: values out of the configuration, or from one store to another."""

import os

import click

from vespe import errors
from vespe.calls.secrets import SecretValues
from vespe.cli import options, report
from vespe.features.secrets import references, settings, stores
from vespe.models import JsonObject


@click.command("move", epilog="Example: vespe secret move --store keyring")
@click.argument("secret_names", nargs=-1, metavar="[NAME...]")
@click.option(
    "--store",
    type=click.Choice(stores.STORES),
    help="Where to store them. Default: the keyring if there is one, otherwise a file that "
    "only you can read.",
)
@options.json_option
def command(secret_names: tuple[str, ...], store: str | None, as_json: bool) -> None:
    """Move these secrets, or all that are plain text in your configuration, to another store. The
    old value is removed after the new one has been read back.
    """
    names = secret_names or tuple(name for name in settings.plain() if settings.is_name(name))
    for name in names:
        _check(name)
    if store is None and names:
        store = stores.default_store(os.environ)
        if store == "file":
            report.note(
                "this machine has no keyring (`--store keyring` shows why), so the values are "
                "stored in files that only you can read"
            )
    moved = [_moved(name, str(store)) for name in names]
    if as_json:
        report.emit_json({"moved": moved})
    elif not moved:
        report.say("your configuration contains no secrets as plain text")
    else:
        for one in moved:
            report.say(f"moved {one['name']} from {one['from']} to {one['place']}")


def _check(name: str) -> None:
    said = stores.said_of(name)
    settings.check_name(name)
    if not stores.is_kept(name, said):
        raise errors.UsageError(
            f"{name} is kept in {references.shown(said)}, which Vespe does not manage",
            hint=f"`vespe secret set {name} --store file` stores the value with Vespe",
        )
    if isinstance(said, str) and not said.strip():
        raise errors.UsageError(f"{name} is empty", hint=f"`vespe secret set {name}` sets it")


def _moved(name: str, store: str) -> JsonObject:
    said = stores.said_of(name)
    environment = {key: value for key, value in os.environ.items() if key != name}
    values = SecretValues(environment=environment, configured={name: said})
    made = stores.keep(name, values.find((name,)), store, environment=os.environ)
    return {"name": name, "from": references.shown(said), **stores.described(made)}
