"""The files of a kit before they are anywhere: listed from git, a folder or an archive, and held to
one set of rules.
"""

from collections.abc import Sequence
from typing import Final

from vespe.errors import Refused
from vespe.files.entries import DIRECTORY, EXECUTABLE, FILE, Read, TreeEntry
from vespe.kits import names
from vespe.records import dataclass

MAX_ENTRIES: Final = 10_000
"""Files and directories of one kit."""
MAX_ENTRY_BYTES: Final = 5 * 1024 * 1024
MAX_TOTAL_BYTES: Final = 100 * 1024 * 1024
_KINDS: Final = {
    0o120000: "a symbolic link",
    0o160000: "a submodule",
    0o010000: "a FIFO",
    0o140000: "a socket",
    0o020000: "a device",
    0o060000: "a device",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KitTree:
    """One kit as its source has it: `entries` kept the rules, and hold files alone; `read` gives
    their bytes.

    `subdirectory` is the kit's directory in its source, "" for the root.
    """

    kit_id: str
    subdirectory: str
    entries: tuple[TreeEntry, ...]
    read: Read


class Checker:
    """Holds the entries of one kit to the rules as they come, so that a listing without end is left
    at its first breach.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._left = MAX_ENTRIES
        self._bytes = MAX_TOTAL_BYTES
        self._folded: dict[str, str] = {}
        self._directories = {""}
        self.files: list[TreeEntry] = []

    def take(self, entry: TreeEntry) -> None:
        """Take the next entry; a directory comes before what is in it. Raises Refused, which names
        the entry.
        """
        self._left -= 1
        if self._left < 0:
            raise self._refused(f"has more than {MAX_ENTRIES} files and directories")
        if reason := names.unsafe(entry.path):
            raise self._refused(f"contains {entry.path!a}, which {reason}", entry)
        path = entry.path
        if path.rpartition("/")[0] not in self._directories:
            raise self._refused(f"contains {path!a}, a name with a / in it", entry)
        if (other := self._folded.setdefault(names.folded(path), path)) != path:
            raise self._refused(
                f"contains {path!a} and {other!a}, which are the same name on some systems", entry
            )
        self._take(entry)

    def _take(self, entry: TreeEntry) -> None:
        if entry.mode == DIRECTORY:
            self._directories.add(entry.path)
        elif entry.mode in (FILE, EXECUTABLE):
            self._measure(entry)
            self.files.append(entry)
        else:
            kind = _KINDS.get(entry.mode, f"of mode {entry.mode:o}")
            raise self._refused(
                f"contains {entry.path!a}, which is {kind}; only regular files can be installed",
                entry,
            )
        # the path came before: nothing new was folded
        if len(self._directories) - 1 + len(self.files) != len(self._folded):
            raise self._refused(f"contains {entry.path!a} twice", entry)

    def _measure(self, entry: TreeEntry) -> None:
        if entry.size > MAX_ENTRY_BYTES:
            raise self._refused(
                f"contains {entry.path!a} of {entry.size} bytes, but a file may have at most "
                f"{MAX_ENTRY_BYTES}",
                entry,
            )
        self._bytes -= entry.size
        if self._bytes < 0:
            raise self._refused(f"holds more than {MAX_TOTAL_BYTES} bytes", entry)

    def _refused(self, reason: str, entry: TreeEntry | None = None) -> Refused:
        details = {"source": self._what} | ({"entry": entry.path} if entry else {})
        return Refused(
            f"{self._what} {reason}", hint="nothing of it was installed", details=details
        )


def checked(what: str, entries: Sequence[TreeEntry]) -> tuple[TreeEntry, ...]:
    """Return the files among a kit's entries, by path; raises Refused, which names the entry, where
    one breaks a rule.

    `what` is what the sentence calls the kit.
    """
    checker = Checker(what)
    for entry in entries:
        checker.take(entry)
    return tuple(sorted(checker.files, key=lambda entry: entry.path))
