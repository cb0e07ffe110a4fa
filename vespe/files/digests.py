"""The digest of a tree and what differs between two: pure, from the digests of files."""

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Final

from vespe.lazy import hashlib
from vespe.records import dataclass

if TYPE_CHECKING:
    from hashlib import sha256 as sha256
else:
    # Python's own: `hashlib` loads OpenSSL, which takes 1 to 3 ms, and is the faster one only for
    # what is large.
    try:
        from _sha2 import sha256
    except ImportError:
        try:
            from _sha256 import sha256
        except ImportError:
            from hashlib import sha256 as sha256

SCHEME: Final = "v1:"
_SOURCES: Final = (".py", ".json", ".md")
"""Files whose readers take both line ends for the same: Python, JSON and people. A shell and most
of what reads data do not.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """What the digest says of one file: the SHA-256 (hex) of its normalised bytes, and whether its
    owner may execute it.

    The owner's bit is all that git keeps of a mode.
    """

    executable: bool
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """The files of a tree by their path in it, with `/`; `odd` says of every other path why nobody
    can vouch for it.
    """

    files: Mapping[str, File] = field(default_factory=dict)
    odd: Mapping[str, str] = field(default_factory=dict)

    @property
    def digest(self) -> str | None:
        """`v1:` and a SHA-256 in hex over all the files, or None where something is odd."""
        return None if self.odd else digest_of(self.files)


def digest_of(files: Mapping[str, File]) -> str:
    """Compute the digest of files: `v1:` and the SHA-256 over the sorted lines
    `path NUL x-or-dash NUL sha256 LF`.
    """
    return SCHEME + hashlib.sha256(manifest_of(files)).hexdigest()


def manifest_of(files: Mapping[str, File]) -> bytes:
    """Return the lines that the digest of files is the SHA-256 of."""
    lines = (
        f"{path}\0{'x' if files[path].executable else '-'}\0{files[path].sha256}\n"
        for path in sorted(files)
    )
    return "".join(lines).encode("utf-8")


def keeps_line_ends(path: str, *, executable: bool) -> bool:
    """Say whether every byte of a file counts, its line ends too."""
    return executable or not path.endswith(_SOURCES)


class TextDigest:
    """SHA-256 of a stream in which CRLF counts as LF, where every one of its line ends is a CRLF;
    else of the bytes as they are.

    That is what git does to text on a checkout with other line ends, so that such a checkout is the
    same project. One CR more is a change, which can send a shell another way. So is any where they
    count (`exact`, see `keeps_line_ends`), and in what begins with `#!`; what holds a NUL is not
    text.
    """

    def __init__(self, *, exact: bool = False) -> None:
        self._raw = hashlib.sha256()
        self._text = None if exact else hashlib.sha256()
        self._head = self._held = b""

    def update(self, chunk: bytes) -> None:
        """Take the next bytes of the stream, cut anywhere."""
        self._raw.update(chunk)
        if len(self._head) < 2:
            self._head = (self._head + chunk)[:2]
        if self._text is None:
            return
        text = self._held + chunk
        self._held = b"\r" if text.endswith(b"\r") else b""
        ready = text[: len(text) - len(self._held)]
        if self._head == b"#!" or b"\0" in chunk or ready.count(b"\n") != ready.count(b"\r\n"):
            self._text = None
        else:
            self._text.update(ready.replace(b"\r\n", b"\n"))

    def hexdigest(self) -> str:
        """Return the digest of what came, once, at the end."""
        if self._text is None:
            return self._raw.hexdigest()
        self._text.update(self._held)
        return self._text.hexdigest()


def changes(old: Mapping[str, File], new: Tree, *, prefix: str = "") -> tuple[str, ...]:
    """Say in words what differs: changed, added, removed, renamed and re-moded files, and what
    became odd.
    """
    said = [
        f"{prefix}{path} is {why}" if path else f"{prefix.rstrip('/')} is {why}"
        for path, why in sorted(new.odd.items())
    ]
    removed = {
        path: file for path, file in old.items() if path not in new.files and path not in new.odd
    }
    added = {path: file for path, file in new.files.items() if path not in old}
    for before, after in _renames(removed, added):
        said.append(f"renamed {prefix}{before} -> {prefix}{after}")
        del removed[before], added[after]
    said += [f"removed {prefix}{path}" for path in sorted(removed)]
    said += [f"added {prefix}{path}" for path in sorted(added)]
    for path in sorted(old.keys() & new.files.keys()):
        said += _difference(f"{prefix}{path}", old[path], new.files[path])
    return tuple(said)


def _difference(path: str, old: File, new: File) -> list[str]:
    said = [f"changed {path}"] if old.sha256 != new.sha256 else []
    if old.executable != new.executable:
        said.append(
            f"mode of {path}: "
            f"{'may now be executed' if new.executable else 'may no longer be executed'}"
        )
    return said


def _renames(removed: Mapping[str, File], added: Mapping[str, File]) -> list[tuple[str, str]]:
    places: dict[File, list[str]] = {}
    for path in sorted(added, reverse=True):
        places.setdefault(added[path], []).append(path)
    return [
        (path, places[removed[path]].pop()) for path in sorted(removed) if places.get(removed[path])
    ]
