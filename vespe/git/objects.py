"""A commit of a kit's source, fetched into a bare repository of ours, and its trees and files read
from there.
"""

import os
import re
from collections.abc import Iterator, Sequence
from typing import Final

from vespe.errors import NotFound, OutputTooLarge, Refused, SourceUnavailable, StorageError
from vespe.files import atomic
from vespe.files.entries import TreeEntry
from vespe.git import batch as git_batch
from vespe.git import session as git_session
from vespe.git.session import Session

_MAX_LISTING: Final = 8 * 1024 * 1024
"""Bytes of one listing: more than 10,000 entries with paths as long as they may be on average."""
_FETCHED: Final = "refs/heads/fetched"
_ROW_BYTES: Final = 64
"""Of one row of a listing beside its path."""
_FETCH: Final = (
    "--quiet",
    "--depth=1",
    "--no-tags",
    "--no-write-fetch-head",
    "--no-auto-maintenance",
    "--no-recurse-submodules",
)
_BATCH_BYTES: Final = 8 * 1024 * 1024
_ROW: Final = re.compile(rb"([0-7]{6}) (blob|tree|commit) ([0-9a-f]+) +(-|[0-9]+)\t(.+)", re.DOTALL)


def fetch(session: Session, url: str, wanted: str) -> str:
    """Fetch one object (a commit, or a tag's object) without its history, and give the commit's id.

    What is small is in the session's memory then, and no later question about it starts git again.
    Raises NotFound where the object is gone, Refused for what git's fsck refuses, and as `git.run`
    does.
    """
    _make_repository(session.directory, "sha256" if len(wanted) == 64 else "sha1")
    _fetch(session, url, wanted)
    if commit := git_batch.commit_of(session.objects, wanted):
        return commit
    peeled = git_session.run(
        session,
        "rev-parse",
        "--verify",
        "--quiet",
        "--end-of-options",
        f"{wanted}^{{commit}}",
        cap_bytes=_MAX_LISTING,
    )
    return peeled.decode("ascii").strip()


def fetch_default(session: Session, path: str) -> str | None:
    """Fetch what the default branch of a repository on this machine means, without asking first
    what that is; give the commit's id.

    None where that does not come about: who asks first, and then fetches by id, hears why. Raises
    Refused, TimedOut as `fetch` does.
    """
    _make_repository(session.directory, "sha1")
    try:
        _fetch(session, path, f"+HEAD:{_FETCHED}")
        return atomic.read_bytes(os.path.join(session.directory, _FETCHED)).decode("ascii").strip()
    except (NotFound, SourceUnavailable, StorageError):
        return None


def _fetch(session: Session, url: str, what: str) -> None:
    """Fetch, and take the objects into the session's memory where they are few; git is started once
    for both.
    """
    session.objects.clear()
    try:
        said = git_session.run(
            session,
            "fetch",
            *_FETCH,
            "--",
            url,
            what,
            then=git_batch.QUESTION,
            cap_bytes=git_batch.MAX_BYTES,
        )
    except OutputTooLarge:  # what was fetched is there, and is asked for piece by piece
        return
    session.objects.update(git_batch.parsed(session, said))


def _make_repository(directory: str, form: str) -> None:
    """Make what `git init --bare --template=` makes, without starting git: a repository is these
    files.
    """
    extension = f"[extensions]\n\tobjectFormat = {form}\n" if form != "sha1" else ""
    config = (
        f"[core]\n\trepositoryFormatVersion = {int(bool(extension))}\n\tfileMode = true\n"
        f"\tbare = true\n{extension}"
    )
    with atomic.translated("make", directory):
        for name in ("objects/info", "objects/pack", "refs/heads", "refs/tags"):
            os.makedirs(os.path.join(directory, name), mode=0o700, exist_ok=True)
        for name, text in (("config", config), ("HEAD", "ref: refs/heads/main\n")):
            atomic.write_atomic(os.path.join(directory, name), text, durable=False)


def list_tree(
    session: Session, tree: str, *paths: str, recursive: bool = True
) -> Iterator[TreeEntry]:
    """List a tree's entries by path, directories before what is in them; with `paths` only what is
    at them.

    Names that are no UTF-8 come with surrogates. Raises Refused where the listing has no end,
    NotFound where there is no such tree.
    """
    if session.objects:
        return (
            yield from _bounded(
                session, git_batch.entries(session, tree, paths, recursive=recursive)
            )
        )
    options = ("-r", "-t") if recursive else ()
    cut = b""
    try:
        listing = git_session.run(
            session,
            "ls-tree",
            *options,
            "-z",
            "-l",
            "--full-tree",
            tree,
            "--",
            *paths,
            cap_bytes=_MAX_LISTING,
        )
    except OutputTooLarge as error:
        listing, _, cut = error.kept.rpartition(b"\0")
        cut = cut or b"?"
    for row in listing.split(b"\0"):
        if found := _ROW.fullmatch(row):
            size = 0 if found[4] == b"-" else int(found[4])
            path = found[5].decode("utf-8", "surrogateescape")
            yield TreeEntry(
                path=path, mode=int(found[1], 8), size=size, key=found[3].decode("ascii")
            )
    if cut:
        raise _endless(session)


def read_blobs(session: Session, wanted: Sequence[TreeEntry]) -> Iterator[tuple[TreeEntry, bytes]]:
    """Return the bytes of files in the order asked for, a few MiB at a time; the caller has bounded
    their sizes.
    """
    if session.objects:
        return (yield from ((entry, _as_listed(session, entry)) for entry in wanted))
    batch: list[TreeEntry] = []
    size = 0
    for entry in wanted:
        if batch and size + entry.size > _BATCH_BYTES:
            yield from _batch(session, batch)
            batch, size = [], 0
        batch.append(entry)
        size += entry.size
    if batch:
        yield from _batch(session, batch)


def _batch(session: Session, batch: Sequence[TreeEntry]) -> Iterator[tuple[TreeEntry, bytes]]:
    asked = "".join(f"{entry.key}\n" for entry in batch).encode("ascii")
    cap = sum(entry.size + 128 for entry in batch)
    given = git_session.run(session, "cat-file", "--batch", "--buffer", stdin=asked, cap_bytes=cap)
    at = 0
    for entry in batch:
        header = f"{entry.key} blob {entry.size}\n".encode("ascii")
        start, end = at + len(header), at + len(header) + entry.size
        if given[at:start] != header or given[end : end + 1] != b"\n":
            raise _other_bytes(session, entry)
        yield entry, given[start:end]
        at = end + 1


def _bounded(session: Session, listing: Iterator[TreeEntry]) -> Iterator[TreeEntry]:
    left = _MAX_LISTING
    git_session.check_time(session)
    for entry in listing:
        left -= len(entry.path) + _ROW_BYTES
        if left < 0:
            raise _endless(session)
        yield entry


def _as_listed(session: Session, entry: TreeEntry) -> bytes:
    git_session.check_time(session)
    data = git_batch.contents(session, entry)
    if len(data) != entry.size:
        raise _other_bytes(session, entry)
    return data


def _endless(session: Session) -> Refused:
    return Refused(
        f"{session.what} lists more than {_MAX_LISTING // 2**20} MiB of names",
        hint="nothing of it was installed",
    )


def _other_bytes(session: Session, entry: TreeEntry) -> Refused:
    return Refused(
        f"{session.what} sends other bytes for {entry.path!a} than it lists",
        hint="nothing of it was installed",
    )
