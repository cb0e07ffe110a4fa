"""Whether an installed kit's tool may run: its digest was approved, and what runs is a private copy
of exactly those bytes.
"""

import contextlib
import os
from collections.abc import Iterator

from vespe import defaults
from vespe.errors import InvalidDocument, Refused
from vespe.files import atomic, digests
from vespe.files.digests import File
from vespe.files.private_copy import private_copy
from vespe.kits import store
from vespe.trust import approvals


def is_installed(tool_directory: str | None) -> bool:
    """Whether a tool stands in the store of installed kits, and so runs from approved bytes
    alone.
    """
    return tool_directory is not None and store.owner_of(tool_directory) is not None


@contextlib.contextmanager
def locate(tool_directory: str) -> Iterator[str]:
    """Return the directory to load the tool from and run it in: what was approved when the kit was
    installed is what runs.

    For a tool outside the store that is its own directory. Raises Refused where its kit's bytes
    were never approved here, InvalidDocument, which names the file, where they are not those bytes
    any more, and StorageError.
    """
    owner = store.owner_of(tool_directory)
    if owner is None:
        yield tool_directory
        return
    digest, kit_id, uid = owner
    if approvals.find_kit(digest) is None:
        hint = "`vespe kit sync` shows what it can run and asks for your approval"
        raise Refused(f"you have not approved what the installed kit {kit_id} can run", hint=hint)
    files = store.manifest(digest)
    kit = store.kit_path(digest, kit_id)
    own = {
        path.removeprefix(f"{uid}/"): file
        for path, file in files.items()
        if path.startswith(f"{uid}/")
    }
    with private_copy(kit, uid, raw=True) as (copy, tree):
        changed = digests.changes(own, tree, prefix=f"{uid}/")
        changed += _config_beside(kit, copy, files)
        if changed:
            raise changed_since(kit, changed)
        yield copy


def changed_since(kit: str, changes: tuple[str, ...]) -> InvalidDocument:
    """Return the error of an installed kit that is not what was installed."""
    from vespe.documents.near import join_words

    shown = join_words(changes, most=8, see="`vespe kit verify` shows all", apart="; ")
    reason = f"differs from what was installed: {shown}"
    error = InvalidDocument(
        reason, path=kit, hint="`vespe kit sync` installs the locked version again"
    )
    error.details["changes"] = list(changes)
    return error


def _config_beside(kit: str, copy: str, files: dict[str, File]) -> tuple[str, ...]:
    """Put the kit's own kit_config.json beside the copied tool, since it says what the tool may
    use; say if it was changed.
    """
    target = os.path.join(os.path.dirname(copy), defaults.KIT_CONFIG_FILE)
    data = atomic.read_bytes(os.path.join(kit, defaults.KIT_CONFIG_FILE))
    atomic.write_atomic(target, data, mode=0o600, durable=False)
    wanted = files.get(defaults.KIT_CONFIG_FILE)
    same = wanted is not None and store.sha256_of(data) == wanted.sha256
    return () if same else (f"changed {defaults.KIT_CONFIG_FILE}",)
