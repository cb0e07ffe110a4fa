"""A small fetched repository held in memory: git is started once for all of its objects, and its
trees are walked here.
"""

import functools
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from vespe.errors import NotFound, Refused
from vespe.files.entries import DIRECTORY, EXECUTABLE, FILE, TreeEntry
from vespe.git.session import Object, Session

MAX_BYTES: Final = 16 * 1024 * 1024
"""Of all objects of a repository as git prints them; what is larger is asked for piece by piece."""
QUESTION: Final = ("cat-file", "--batch-all-objects", "--batch", "--unordered", "--buffer")
"""The git command whose answer `parsed` reads."""
_HEADER: Final = re.compile(
    rb"([0-9a-f]{40}(?:[0-9a-f]{24})?) (blob|tree|commit|tag) ([0-9]{1,12})\n"
)
_TAGGED: Final = re.compile(rb"object ([0-9a-f]{40}(?:[0-9a-f]{24})?)\n")
_TREE: Final = re.compile(rb"tree ([0-9a-f]{40}(?:[0-9a-f]{24})?)\n")
_ROW: Final = re.compile(rb"([0-7]{1,7}) ([^\0]+)\0")
_LINK: Final = 0o120000
_SUBMODULE: Final = 0o160000
_BLOBS: Final = (FILE, EXECUTABLE, _LINK)


def parsed(session: Session, said: bytes) -> dict[str, Object]:
    """Return every object of a repository by its id, from git's answer to QUESTION; raises Refused
    for what is none.
    """
    objects: dict[str, Object] = {}
    at = 0
    while header := _HEADER.match(said, at):
        start = header.end()
        at = start + int(header[3])
        objects[header[1].decode("ascii")] = Object(header[2], said[start:at])
        at = at + 1 if said[at : at + 1] == b"\n" else -1
        if at < 0:
            break
    if at != len(said):
        raise Refused(
            f"{session.what} gives objects that git cannot read whole",
            hint="nothing of it was installed",
        )
    return objects


def commit_of(objects: Mapping[str, Object], identity: str) -> str | None:
    """Return the commit behind an object, a commit's or a tag's; None where there is none."""
    while (found := objects.get(identity)) is not None and found.kind == b"tag":
        tagged = _TAGGED.match(found.data)
        if tagged is None:
            return None
        identity = tagged[1].decode("ascii")
    return identity if found is not None and found.kind == b"commit" else None


def entries(
    session: Session, tree: str, paths: Collection[str] = (), *, recursive: bool
) -> Iterator[TreeEntry]:
    """List `COMMIT` or `COMMIT:PATH` in the session's objects as `git ls-tree` does, directories
    before what is in them.

    With `paths` only what is at them. Raises NotFound where there is no such tree, Refused for one
    that is no tree of git's or lists what is not there, and where one tree stands in so many places
    that there is no end of it.
    """
    left = MAX_BYTES
    commit, _, path = tree.partition(":")
    above = {
        "/".join(parts[:depth])
        for parts in (path.split("/") for path in paths)
        for depth in range(1, len(parts))
    }
    waiting = [_rows(session, _top(session, commit, path), "")]
    while waiting:
        for entry in waiting[-1]:
            if not paths or entry.path in paths:
                yield entry
            if entry.mode == DIRECTORY and (entry.path in above if paths else recursive):
                left -= len(_bytes(session, entry.key, b"tree", entry.path))
                if left < 0:
                    raise Refused(
                        f"{session.what} lists more than {MAX_BYTES // 2**20} MiB can hold",
                        hint="nothing of it was installed",
                    )
                waiting.append(_rows(session, entry.key, f"{entry.path}/"))
                break
        else:
            waiting.pop()


def contents(session: Session, entry: TreeEntry) -> bytes:
    """Return the bytes of a listed file; raises Refused where they are not in the session's
    objects.
    """
    return _bytes(session, entry.key, b"blob", entry.path)


def _top(session: Session, commit: str, path: str) -> str:
    """The id of the tree at a path of a commit."""
    identity = commit_of(session.objects, commit)
    found = _TREE.match(session.objects[identity].data) if identity else None
    if found is None:
        raise NotFound(
            f"{session.what} has no commit {commit[:12]}",
            hint="name a branch, a tag or a whole commit id",
        )
    tree = found[1].decode("ascii")
    for name in filter(None, path.split("/")):
        inner = [
            entry.key
            for entry in _rows(session, tree, "")
            if entry.path == name and entry.mode == DIRECTORY
        ]
        if not inner:
            raise NotFound(
                f"{session.what} has no directory {path!r}",
                hint="look at what the source holds at that commit",
            )
        tree = inner[0]
    return tree


def _rows(session: Session, tree: str, prefix: str) -> Iterator[TreeEntry]:
    """The entries of one tree object, in its own order."""
    data, size = _bytes(session, tree, b"tree", prefix), len(tree) // 2
    at = 0
    while at < len(data):
        row = _ROW.match(data, at)
        at = row.end() + size if row else len(data) + 1
        if row is None or at > len(data):
            raise Refused(
                f"{session.what} contains an invalid git tree at {prefix!a}",
                hint="nothing of it was installed",
            )
        key, mode = data[row.end() : at].hex(), _canonical(row[1])
        path = prefix + row[2].decode("utf-8", "surrogateescape")
        yield TreeEntry(
            path, mode, len(_bytes(session, key, b"blob", path)) if mode in _BLOBS else 0, key
        )


def _bytes(session: Session, identity: str, kind: bytes, path: str) -> bytes:
    found = session.objects.get(identity)
    if found is None or found.kind != kind:
        raise Refused(
            f"{session.what} lists {path!a} but does not contain it",
            hint="nothing of it was installed",
        )
    return found.data


@functools.lru_cache(maxsize=64)
def _canonical(written: bytes) -> int:
    """A mode as git itself reads it: of a file's bits only the owner's right to execute counts, and
    what has no meaning is a submodule.
    """
    mode = int(written, 8)
    kind = mode & 0o170000
    if kind == 0o100000:
        return EXECUTABLE if mode & 0o100 else FILE
    return kind if kind in (_LINK, DIRECTORY) else _SUBMODULE
