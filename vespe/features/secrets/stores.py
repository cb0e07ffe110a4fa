"""Where Vespe itself keeps a value: the keyring, a private file, or the configuration; and how one
is put there, moved and removed.

What it did not put there, a file or an entry of the user's own, it never removes.
"""

import contextlib
import os
from collections.abc import Mapping
from typing import Final

from vespe import errors
from vespe.calls.secrets import is_kits_own
from vespe.cli import report
from vespe.documents.near import join_words
from vespe.features.secrets import keyrings, settings, sources
from vespe.features.secrets.references import KNOWN, shown, store_of
from vespe.features.secrets.sources import SecretRequest
from vespe.files import atomic, locations
from vespe.lazy import zlib
from vespe.models import JsonObject, JsonValue

STORES: Final = ("keyring", "file", "config")


def said_of(name: str) -> JsonValue:
    """Return what the configuration says of a secret; raises NotFound, with the names under which a
    kit has a value of its own.
    """
    configured = settings.configured()
    if name not in configured:
        if kits := sorted(one for one in configured if is_kits_own(one, name)):
            raise errors.NotFound(
                f"your configuration has no secret {name}",
                hint=f"it is stored as {join_words(kits)}",
            )
        raise errors.NotFound(
            f"your configuration has no secret {name}",
            hint=f"`vespe secret set {name}` stores one; `vespe secret list` lists them",
        )
    return configured[name]


def default_store(environment: Mapping[str, str]) -> str:
    """Return the keyring where this machine has one that keeps secrets, else a file."""
    return "keyring" if keyrings.is_usable(environment) else "file"


def put(name: str, value: str, store: str, *, environment: Mapping[str, str]) -> JsonValue:
    """Put a value into a store, and return what is to stand in the configuration: a reference, or
    the value itself. It is read again, so that a store that lost it is noticed. Raises UsageError
    for what cannot be a secret, before anything is written.
    """
    # The last line end is not part of a secret: one that belongs to it needs another.
    written = value + "\n" if value.endswith("\n") else value
    try:
        sources.value_in(written.encode("utf-8", "surrogatepass"))
    except ValueError as error:
        raise errors.UsageError(f"the value of {name} cannot be a secret: {error}") from None
    if store == "config":
        return value
    made = _reference(name, store)
    asked = SecretRequest(name=name, reference=made, environment=environment)
    place = made["ref"].partition(":")[2]
    if store == "keyring":
        keyrings.write(place, written, environment, fails=asked.fails)
    else:
        path = os.path.expanduser(place)
        atomic.private_directory(os.path.dirname(path))
        atomic.write_atomic(path, written, mode=0o600)
    if sources.fetch(asked) != value:
        raise asked.fails(
            "it does not have the value that was stored",
            "if another process wrote it at the same time, run the command again; otherwise "
            "choose another --store",
        )
    return made


def is_kept(name: str, said: JsonValue) -> bool:
    """Say whether a value is where Vespe itself keeps it, so that it goes with the secret."""
    if store_of(said) == "value":
        return True
    return isinstance(said, dict) and any(
        said.get("ref") == _reference(name, store)["ref"] for store in ("keyring", "file")
    )


def forget(name: str, said: JsonValue, environment: Mapping[str, str]) -> None:
    """Remove a value from where Vespe kept it; nothing where another keeps it, or it is gone."""
    if not isinstance(said, dict) or not is_kept(name, said):
        return
    place = str(said["ref"]).partition(":")[2]
    if store_of(said) == "keyring":
        asked = SecretRequest(name=name, reference=said, environment=environment)
        keyrings.delete(place, environment, asked.fails)
        return
    path = os.path.expanduser(place)
    with contextlib.suppress(FileNotFoundError):
        try:
            os.unlink(path)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise errors.StorageError("remove", path, error) from error


def let_go(name: str, said: JsonValue, environment: Mapping[str, str]) -> bool:
    """Remove a value as `forget` does; where its store does not answer, as a keyring that was
    uninstalled, warn that the value may still be there. Returns whether it is gone.
    """
    try:
        forget(name, said, environment)
    except (errors.SecretUnavailable, errors.MissingExtra) as error:
        why = error.why if isinstance(error, errors.SecretUnavailable) else str(error)
        report.warn(f"the value of {name} may still be in {shown(said)}: {why}")
        return False
    return True


def keep(name: str, value: str, store: str, *, environment: Mapping[str, str]) -> JsonValue:
    """Put a value into a store, name that in the configuration, and remove it from where Vespe kept
    it before. In this order: whatever is killed, the value is somewhere. Returns what stands in the
    configuration now.
    """
    before = settings.configured().get(name)
    return replace(name, before, put(name, value, store, environment=environment), environment)


def replace(
    name: str, before: JsonValue, made: JsonValue, environment: Mapping[str, str]
) -> JsonValue:
    """Let a reference or a value take the place of what the configuration said, whose keys that are
    not known stay, and remove the value that Vespe kept, unless that is what is referred to now.
    Returns what stands in the configuration now.
    """
    if isinstance(before, dict) and isinstance(made, dict):
        made = {key: said for key, said in before.items() if key not in KNOWN} | made
    if made != before:
        settings.put(name, made, before=before)
        if before is not None and _place(before) != _place(made):
            let_go(name, before, environment)
    return made


def described(said: JsonValue) -> JsonObject:
    """Return `store` and `place` of what the configuration says, as JSON has them."""
    return {"store": store_of(said), "place": shown(said)}


def _place(said: JsonValue) -> tuple[str, str]:
    """Return where a value is, the same of two references that are written differently."""
    store = store_of(said)
    place = str(said["ref"]).partition(":")[2] if isinstance(said, dict) and "ref" in said else ""
    return store, os.path.realpath(os.path.expanduser(place)) if store == "file" else place


def _reference(name: str, store: str) -> JsonObject:
    if store == "keyring":
        return {"ref": f"keyring:{keyrings.OWN}/{name}"}
    # Some file systems take names that differ in case for one.
    file = name if name.isupper() else f"{name}.{zlib.crc32(name.encode()):08x}"
    path = os.path.join(locations.user_config_dir(), "secrets", file)
    home = os.path.expanduser("~")
    # As it is written for people, and so that it moves with the home directory.
    return {"ref": f"file:~{path[len(home) :]}" if path.startswith(f"{home}/") else f"file:{path}"}
