"""The user's approvals, one private file each in the user state directory: of bytes in a place, of
a place, of a kit's bytes.
"""

import contextlib
import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from vespe import defaults
from vespe.documents import strict_json
from vespe.errors import InvalidDocument, StorageError
from vespe.files import atomic, locations
from vespe.files.digests import SCHEME, File, Tree
from vespe.files.identity import Place
from vespe.models import JsonObject
from vespe.records import dataclass

VERSION: Final = 2
"""Version 1 approved bytes wherever they stood, and inodes whatever their file system: such
approvals, but a kit's, are asked for again.
"""
MAX_RECORD_BYTES: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """One record: `kind` is `content`, `place`, `tool` or `kit`; `path` is where it was given,
    `when` an ISO 8601 time in UTC.

    `digest`, `files`, `secrets` (names), `scopes` (`gate.scopes_of`) and `place` (its name) are
    those of a content approval. `kit_id` and `signer` ("" for nobody) are those of a kit's.
    """

    kind: str
    path: str
    when: str
    digest: str = ""
    files: Mapping[str, File] | None = None
    secrets: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    place: str = ""
    kit_id: str = ""
    signer: str = ""
    version: int = VERSION

    def given_beneath(self, root: str) -> bool:
        """Say whether it was given at this path, for a project or for something of it."""
        own = os.path.join(root, defaults.PROJECT_DIR)
        return self.path in (root, own) or self.path.startswith(f"{own}{os.sep}")


def find_content(digest: str, place: Place) -> Approval | None:
    """Return the approval of exactly these bytes in this very project directory, or None."""
    approval = _read(_content_name(digest, place))
    holds = approval and _grants(approval, "content", place) and approval.digest == digest
    return approval if holds else None


def find_place(kind: str, place: Place) -> Approval | None:
    """Return the approval (`place` or `tool`) of this very directory, or None."""
    approval = _read(f"{kind}-{place.name}.json")
    return approval if approval and _grants(approval, kind, place) else None


def is_outdated(root: str) -> bool:
    """Say whether the project at this path has an approval of an earlier version, which holds no
    longer.
    """
    return any(
        approval.version < VERSION and approval.given_beneath(root) for _, approval in _all()
    )


def nearest_content(place: Place, tree: Tree) -> Approval | None:
    """Return the approval to compare a tree with: the last one given for this place, else the one
    with most files in common.

    In common means the same file at the same path, and at least half of the approval's files.
    """
    found = [(name, approval) for name, approval in _all() if approval.kind == "content"]
    here = [
        approval
        for name, approval in found
        if approval.path == place.path or name.startswith(_content_prefix(place))
    ]
    if here:
        return max(here, key=lambda approval: approval.when)
    alike = [(_shared(approval, tree), approval.when, approval) for _, approval in found]
    alike = [row for row in alike if row[0] and row[0] * 2 >= len(row[2].files or {})]
    return max(alike, key=lambda row: row[:2])[2] if alike else None


def find_kit(digest: str) -> Approval | None:
    """Return the approval of exactly these bytes as an installed kit, or None."""
    approval = _read(_kit_name(digest))
    return approval if approval and approval.kind == "kit" and approval.digest == digest else None


def store_kit(digest: str, source: str, *, kit_id: str = "", signer: str | None = None) -> Approval:
    """Keep the approval of an installed kit's bytes, which came from `source`, and who had signed
    them.
    """
    document = _document("kit", source) | {
        "digest": digest,
        "kit_id": kit_id,
        "signer": signer or "",
    }
    return _store(_kit_name(digest), document)


def last_signer(kit_id: str, source: str) -> str | None:
    """Return who had signed what the user last approved of a kit from a source; None for nobody, or
    where nothing was.
    """
    found = [
        approval
        for _, approval in _all()
        if (approval.kind, approval.kit_id, approval.path) == ("kit", kit_id, source)
    ]
    return max(found, key=lambda approval: approval.when).signer or None if found else None


def forget_kit(digest: str) -> None:
    """Remove the approval of a kit's bytes: a lock that goes back to them is asked about again.
    Raises StorageError.
    """
    _remove(_kit_name(digest))


def is_known_source(digest: str, source: str) -> bool:
    """Say whether the user approved exactly these bytes from this very source, and so has been
    there.
    """
    approval = find_kit(digest)
    return approval is not None and approval.path == source


def any_content() -> bool:
    """Say whether there is any approval of content, without reading one."""
    return any(name.startswith("content-") for name in _names())


def store_content(
    place: Place,
    tree: Tree,
    *,
    secrets: tuple[str, ...],
    scopes: tuple[str, ...],
    texts: Mapping[str, str] | None = None,
) -> Approval:
    """Keep the approval of a tree's bytes in one project directory, with the names of the secrets
    that it grants.

    `texts` are its files that are text, which tell later what differs from them.
    """
    digest = tree.digest
    if digest is None:
        raise ValueError("a tree with odd paths has no digest to approve")
    document = _document("content", place.path) | {
        "digest": digest,
        "secrets": list(secrets),
        "scopes": list(scopes),
        "place": place.name,
        "files": {
            name: ["x" if file.executable else "-", file.sha256]
            for name, file in sorted(tree.files.items())
        },
    }
    beside = (
        {} if texts is None else {_texts_path(place.name): {"digest": digest, "texts": dict(texts)}}
    )
    return _store(_content_name(digest, place), document, beside=beside)


def texts_of(approval: Approval) -> Mapping[str, str]:
    """Return the texts that this approval was given for, by their path; none where they were not
    kept, or are those of another.
    """
    try:
        document = strict_json.read_object(_texts_path(approval.place), limit=MAX_RECORD_BYTES)
    except (InvalidDocument, StorageError):
        return {}
    return document["texts"] if document.get("digest") == approval.digest else {}


def _texts_path(place: str) -> str:
    return os.path.join(directory(), f"{place}.texts")


def store_place(kind: str, place: Place) -> Approval:
    """Keep the approval (`place` or `tool`) of a directory, whatever becomes of what is in it."""
    return _store(f"{kind}-{place.name}.json", _document(kind, place.path))


def forget_place(kind: str, place: Place) -> None:
    """Remove the approval (`place` or `tool`) of this very directory, if there is one; raises
    StorageError.
    """
    _remove(f"{kind}-{place.name}.json")


def forget(root: str, places: Iterable[Place]) -> tuple[Approval, ...]:
    """Remove every approval that could apply to the project at `root`: of these places, or given at
    its path.
    """
    known = tuple(places)
    keys = {f"{kind}-{place.name}.json" for place in known for kind in ("place", "tool")}
    prefixes = tuple(_content_prefix(place) for place in known)
    gone: list[Approval] = []
    if not _names():
        return ()
    with atomic.locked(directory()):
        for name, approval in _all():
            if approval.given_beneath(root) or name in keys or name.startswith(prefixes):
                _remove(f"{approval.place}.texts")
                _remove(name)
                gone.append(approval)
    return tuple(gone)


def directory() -> str:
    """Return the directory of the records; it may not exist."""
    return os.path.join(locations.user_state_dir(), "trust")


def _content_prefix(place: Place) -> str:
    return f"content-{place.name}-"


def _content_name(digest: str, place: Place) -> str:
    return f"{_content_prefix(place)}{digest.removeprefix(SCHEME)}.json"


def _grants(approval: Approval, kind: str, place: Place) -> bool:
    return (
        approval.kind == kind
        and approval.version == VERSION
        and (place.strong or approval.path == place.path)
    )


def _kit_name(digest: str) -> str:
    return f"kit-{digest.removeprefix(SCHEME)}.json"


def _document(kind: str, path: str) -> JsonObject:
    now = time.time()
    when = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now * 1000) % 1000:03d}Z"
    return {
        "version": VERSION,
        "kind": kind,
        "path": strict_json.repair_surrogates(path),
        "when": when,
    }


def _store(
    name: str, document: JsonObject, *, beside: Mapping[str, JsonObject] | None = None
) -> Approval:
    where = directory()
    try:
        atomic.private_directory(where)
        if stat.S_IMODE(os.stat(where).st_mode) != 0o700:
            os.chmod(where, 0o700)
    except OSError as error:
        raise StorageError("make", where, error) from error
    with atomic.locked(where):
        with contextlib.suppress(StorageError):  # the next one sweeps
            for left in _listed():
                if left.endswith(".tmp"):
                    _remove(left)
        for path, other in {**(beside or {}), os.path.join(where, name): document}.items():
            atomic.write_atomic(path, strict_json.dump_json(other), mode=0o600)
    return _approval(document)


def _remove(name: str) -> None:
    path = os.path.join(directory(), name)
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StorageError("remove", path, error) from error


def _names() -> list[str]:
    return sorted(name for name in _listed() if name.endswith(".json"))


def _listed() -> list[str]:
    try:
        return os.listdir(directory())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise StorageError("read", directory(), error) from error


def _all() -> Iterator[tuple[str, Approval]]:
    for name in _names():
        approval = _read(name)
        if approval:
            yield name, approval


def _read(name: str) -> Approval | None:
    """Read one record; what is damaged, or not private to this user, grants nothing.

    A repository can carry a file into a home directory that is its checkout, but git cannot carry
    mode 0600.
    """
    path = os.path.join(directory(), name)
    try:
        status = os.stat(path, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StorageError("read", path, error) from error
    if status.st_mode & 0o077 or status.st_uid != os.geteuid():
        return None
    with contextlib.suppress(InvalidDocument, AttributeError, KeyError, TypeError, ValueError):
        document = strict_json.read_object(path, limit=MAX_RECORD_BYTES)
        return _approval(document) if document.get("version") in range(1, VERSION + 1) else None
    return None


def _approval(document: JsonObject) -> Approval:
    files = {
        path: File(executable=mode == "x", sha256=sha256)
        for path, (mode, sha256) in document.get("files", {}).items()
    }
    return Approval(
        kind=document["kind"],
        path=document["path"],
        when=document["when"],
        digest=document.get("digest", ""),
        files=files if document["kind"] == "content" else None,
        secrets=tuple(document.get("secrets", ())),
        scopes=tuple(document.get("scopes", ())),
        place=document.get("place", ""),
        kit_id=document.get("kit_id", ""),
        signer=document.get("signer", ""),
        version=document["version"],
    )


def _shared(approval: Approval, tree: Tree) -> int:
    return sum(tree.files.get(path) == file for path, file in (approval.files or {}).items())
