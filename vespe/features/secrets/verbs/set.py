"""`vespe secret set`: keep a value in a store, or say where it is kept already."""

import os
import sys

import click

from vespe import errors
from vespe.cli import options, report
from vespe.documents import redaction
from vespe.features.secrets import declared, keyrings, references, settings, sources, stores
from vespe.models import JsonObject, JsonValue


@click.command(
    "set", epilog="Example: vespe secret set GITHUB_TOKEN -- op read op://work/github/token"
)
@click.argument("secret_name", metavar="NAME")
@click.argument("argv", nargs=-1, metavar="[-- PROGRAM ARGUMENT...]")
@click.option(
    "--store",
    type=click.Choice(stores.STORES),
    help="Where to store the value. Default: where it is now, otherwise the keyring if there "
    "is one, otherwise a file that only you can read. config stores it in your "
    "configuration as plain text.",
)
@click.option(
    "--from",
    "source",
    metavar="FILE",
    help="Read the value from FILE (- for stdin) instead of a prompt.",
)
@click.option(
    "--ref",
    metavar="REF",
    help="Store a reference instead: keyring:SERVICE/USER, file:PATH or env:NAME.",
)
@options.json_option
def command(
    secret_name: str,
    argv: tuple[str, ...],
    store: str | None,
    source: str | None,
    ref: str | None,
    as_json: bool,
) -> None:
    """Store a secret. The value is read from a hidden prompt, or from a file with --from. If the
    value is already kept elsewhere, give a PROGRAM that prints it, or a reference with --ref.
    """
    settings.check_name(secret_name)
    if sum((bool(argv), ref is not None, source is not None or store is not None)) > 1:
        raise errors.UsageError("use only one of a value, --ref and a program")
    if argv or ref is not None:
        made = _refer(secret_name, {"ref": ref} if ref is not None else {"command": list(argv)})
        said = f"{secret_name} comes from {references.shown(made)}"
    else:
        store, note = _store(secret_name, store)
        if store == "keyring":  # before a value is asked for that could not be stored
            keyrings.require(secret_name, os.environ)
        value = _value(secret_name, source)
        made = stores.keep(secret_name, value, store, environment=os.environ)
        said = f"stored {secret_name} in {references.shown(made)}"
        if note:
            report.note(note)
        if len(value.strip()) < redaction.SHORTEST:
            report.warn(f"{secret_name} is {declared.SHORT}")
    if os.environ.get(secret_name):
        report.warn(f"the environment variable {secret_name} is set and takes precedence")
    if as_json:
        report.emit_json({"name": secret_name, **stores.described(made)})
    else:
        report.say(said)
        report.next_step(f"`vespe secret check {secret_name}` tests that the value is available")


def _refer(name: str, reference: JsonObject) -> JsonValue:
    if found := references.problem(reference):
        raise errors.UsageError(f"{found.pointer.strip('/') or 'the reference'} {found.said}")
    before = settings.configured().get(name)
    return stores.replace(name, before, reference, os.environ)


def _store(name: str, store: str | None) -> tuple[str, str]:
    """Return where a value goes, and what is to be said of the choice."""
    if store is not None:
        return store, ""
    said = settings.configured().get(name)
    if isinstance(said, dict):
        if not stores.is_kept(name, said):
            raise errors.UsageError(
                f"{name} is kept in {references.shown(said)}, which Vespe does not change",
                hint="change it there, or replace it with --store",
            )
        return references.store_of(said), ""
    store = stores.default_store(os.environ)
    note = (
        "the value is stored in a file, because this machine has no keyring "
        "(`--store keyring` shows why)"
    )
    return store, note if store == "file" else ""


def _value(name: str, source: str | None) -> str:
    if source is None:
        if not options.interactive():
            raise errors.UsageError(
                "there is no terminal to ask for the value on",
                hint=f"`vespe secret set {name} --from -` reads it from stdin",
            )
        while not (value := _prompted(name)):
            report.say("an empty value is not stored; Ctrl-C cancels")
        return value
    if source == "-":
        data = sys.stdin.buffer.read(sources.MOST_BYTES + 1)
    else:
        try:
            with open(source, "rb") as file:
                data = file.read(sources.MOST_BYTES + 1)
        except OSError as error:
            raise errors.StorageError("read", source, error) from error
    try:
        return sources.value_in(data)
    except ValueError as error:
        raise errors.UsageError(f"what was read cannot be a secret: {error}") from None


def _prompted(name: str) -> str:
    # Without a default, click asks again after an empty line and does not say why.
    return str(
        click.prompt(f"Value of {name}", default="", show_default=False, hide_input=True, err=True)
    )
