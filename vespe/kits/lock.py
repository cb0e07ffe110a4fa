"""The lock: which kits are installed, from where, at which commit and with which bytes; read, and
changed in one step.
"""

import contextlib
import hashlib
import os
import re
from collections.abc import Callable, Mapping
from typing import Final

from vespe import defaults
from vespe.documents import fields, strict_json
from vespe.errors import InvalidDocument, Refused, StorageError
from vespe.files import atomic, locations
from vespe.files.atomic import sweep_beside
from vespe.git.commit_id import is_commit
from vespe.kits import names, sources
from vespe.models import JsonObject, JsonValue
from vespe.records import dataclass, json_of

MAX_LOCK_BYTES: Final = 16 * 1024 * 1024
"""More than other files may have: it lists every file of every kit."""
_KIT_ID: Final = re.compile(r"[a-z0-9][a-z0-9_]{0,63}")
_DIGEST: Final = re.compile(r"v1:[0-9a-f]{64}")
_KNOWN: Final = "locks"
MCP_SERVERS: Final = "mcp_servers"
"""The key under which a lock names MCP servers, by the ids of their kits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedKit:
    """One kit of a lock: `source` as `kit_sources.parse_source` takes it, `ref` what was asked for
    (None: the default).

    `commit` is whole, or None for what is in no git. `files` are its paths, sorted; `signer` who
    signed it, where that is pinned.
    """

    kit_id: str
    source: str
    digest: str
    ref: str | None = None
    commit: str | None = None
    subdirectory: str = ""
    signer: str | None = None
    files: tuple[str, ...] = ()


def project_lock(root: str | os.PathLike[str]) -> str:
    """Return the path of a project's lock; it may not exist."""
    return os.path.join(root, defaults.PROJECT_DIR, defaults.LOCK_FILE)


def project_of(lock: str) -> str:
    """Return the root of the project that a project's lock belongs to."""
    return os.path.dirname(os.path.dirname(lock))


def user_lock() -> str:
    """Return the path of the user's own lock, of kits for every project; it may not exist."""
    return os.path.join(locations.user_data_dir(), defaults.LOCK_FILE)


def read_lock(path: str) -> dict[str, LockedKit]:
    """Read a lock, kits by id; one that does not exist locks nothing. Raises InvalidDocument,
    StorageError.
    """
    return _parsed(path)[0]


def update_lock(path: str, change: Callable[[dict[str, LockedKit]], None]) -> dict[str, LockedKit]:
    """Change a lock under its directory's lock, as the one step that counts: `change` edits the
    kits, and may refuse.

    Gives the kits as they are now; nothing is written where nothing changed. Raises as `read_lock`
    does.
    """
    directory = os.path.dirname(path)
    with atomic.locked(directory):
        sweep_beside(path)
        before, document = _parsed(path)
        after = dict(before)
        change(after)
        if after != before:
            note_lock(path)
            atomic.write_atomic(path, strict_json.dump_json(_document(after, document)))
        return after


def read_whole(path: str) -> tuple[dict[str, LockedKit], JsonObject]:
    """Return a lock's kits by id, and its whole document. Raises as `read_lock` does."""
    return _parsed(path)


def read_document(path: str) -> JsonObject:
    """Return a lock's whole document, {} where there is none. Raises as `read_lock` does."""
    return _parsed(path)[1]


def update_document(path: str, change: Callable[[JsonObject], JsonObject]) -> None:
    """Change what a lock says beside its kits, under its directory's lock. Raises as `read_lock`
    does.
    """
    with atomic.locked(os.path.dirname(path)):
        sweep_beside(path)
        kits, before = _parsed(path)
        after = change(before)
        if after != before:
            note_lock(path)
            atomic.write_atomic(path, strict_json.dump_json(_document(kits, after)))


def note_lock(path: str) -> None:
    """Keep in the user data directory that there is a lock at `path`, so that what it needs is not
    taken for unused.
    """
    directory = os.path.join(locations.user_data_dir(), _KNOWN)
    name = os.path.join(
        directory, hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:32]
    )
    if not os.path.lexists(name):
        atomic.private_directory(directory)
        sweep_beside(name)
        atomic.write_atomic(name, os.fsencode(os.path.realpath(path)))


def known_locks() -> tuple[str, ...]:
    """Return the paths of the locks that were written on this machine and are still there;
    sorted.
    """
    directory = os.path.join(locations.user_data_dir(), _KNOWN)
    found = []
    with contextlib.suppress(OSError):
        for name in os.listdir(directory):
            with contextlib.suppress(InvalidDocument, StorageError):
                found.append(os.fsdecode(atomic.read_bytes(os.path.join(directory, name))))
    return tuple(sorted(path for path in found if os.path.isabs(path) and os.path.isfile(path)))


def digests_in_use() -> frozenset[str]:
    """Return the digests that a known lock needs. Raises InvalidDocument where one cannot be read:
    then nobody knows.
    """
    return frozenset(kit.digest for path in known_locks() for kit in read_lock(path).values())


def _parsed(path: str) -> tuple[dict[str, LockedKit], JsonObject]:
    try:
        data = atomic.read_bytes(path, limit=MAX_LOCK_BYTES)
    except StorageError:
        if os.path.lexists(path):
            raise
        return {}, {}
    if any(b"\n" + mark * 7 in data for mark in (b"<", b"=", b">", b"|")):
        strict_json.refuse_conflict(
            data.decode("utf-8", "replace"),
            path=path,
            hint="keep one side, then run `vespe kit sync`",
        )
    document = strict_json.parse_object(data, path=path, limit=MAX_LOCK_BYTES)
    fields.refuse_newer(document, path=path)
    kits = fields.mapping(document, "kits", path=path)
    return {kit_id: _kit(kit_id, value, path) for kit_id, value in kits.items()}, document


def _kit(kit_id: str, value: JsonValue, path: str) -> LockedKit:
    at = f"/kits/{kit_id}"
    if not _KIT_ID.fullmatch(kit_id) or not isinstance(value, dict):
        raise fields.wrong_type(
            "an object under the id of a kit", value, path=path, pointer="/kits"
        )
    texts = {
        key: _text(value, key, path, at)
        for key in ("source", "ref", "commit", "digest", "subdirectory", "signer")
    }
    files = value.get("files", [])
    if not isinstance(files, list) or not all(
        isinstance(file, str) and names.unsafe(file) is None for file in files
    ):
        raise InvalidDocument("must be an array of plain paths", path=path, pointer=f"{at}/files")
    if not _DIGEST.fullmatch(texts["digest"] or ""):
        raise fields.wrong_type(
            "v1: and 64 hex digits", texts["digest"], path=path, pointer=f"{at}/digest"
        )
    if texts["commit"] is not None and not is_commit(texts["commit"]):
        raise fields.wrong_type(
            "a full commit id", texts["commit"], path=path, pointer=f"{at}/commit"
        )
    return LockedKit(
        kit_id=kit_id,
        source=_source(texts["source"], texts["ref"], path, at),
        ref=texts["ref"],
        commit=texts["commit"],
        digest=texts["digest"] or "",
        subdirectory=_subdirectory(texts["subdirectory"] or "", path, at),
        signer=texts["signer"],
        files=tuple(files),
    )


def _text(value: JsonObject, key: str, path: str, at: str) -> str | None:
    text = value.get(key)
    if text is not None and not isinstance(text, str):
        raise fields.wrong_type("a string", text, path=path, pointer=f"{at}/{key}")
    return text


def _source(source: str | None, ref: str | None, path: str, at: str) -> str:
    """The same rules as for what a person types: a lock comes with a repository."""
    try:
        parsed = sources.parse_source(f"{source or ''}@{ref}" if ref is not None else source or "")
    except Refused as error:
        raise InvalidDocument(
            str(error), path=path, pointer=f"{at}/source", hint=error.hint
        ) from None
    if parsed.ref != ref:
        raise InvalidDocument("names a ref of its own", path=path, pointer=f"{at}/source")
    return parsed.text


def _subdirectory(text: str, path: str, at: str) -> str:
    if text and (reason := names.unsafe(text)):
        raise InvalidDocument(f"{text!r} {reason}", path=path, pointer=f"{at}/subdirectory")
    return text


def _document(kits: Mapping[str, LockedKit], before: JsonObject) -> JsonObject:
    """The document in an order that never depends on who wrote it, unknown keys kept after the
    known ones.
    """
    old = before.get("kits", {})
    entries = {kit_id: _entry(kits[kit_id], old.get(kit_id, {})) for kit_id in sorted(kits)}
    return {
        "version": fields.FORMAT_VERSION,
        **{k: v for k, v in before.items() if k not in ("version", "kits")},
        "kits": entries,
    }


def _entry(kit: LockedKit, before: JsonObject) -> JsonObject:
    known = json_of(kit, "source", "ref", "commit", "subdirectory", "digest", "signer", "files")
    if kit.signer is None:
        del known["signer"]
    return {
        **{key: value for key, value in before.items() if key not in known and key != "signer"},
        **known,
    }
