"""What validation said of the tools of one directory, kept in the user's cache; losing it costs
time only.

A verdict is kept with the digest of its config.json, and with the stamp that the file had while it
was read. As long as a file has that stamp it is not read again, as git does with its index: a
`stat` of each of 100,000 takes 0.3 s, where reading them took 1.4.
"""

import contextlib
import os
from functools import cache
from typing import Final, TypeAlias

from vespe import defaults
from vespe.files.digests import sha256
from vespe.files.stamps import Stamp
from vespe.lazy import hashlib
from vespe.tool_types import TYPES
from vespe.tools import directory as tool_directory
from vespe.tools.directory import Verdict
from vespe.tools.kept_rows import KeptRows, youngest_kept_ns

_FORMAT: Final = 3
_MANY: Final = 500
"""From so many on OpenSSL, which is four times as fast, is worth the 3 ms that it takes to load."""
_Row: TypeAlias = tuple[str, str | None, str | None, str | None, str | None, str | None, Stamp]
"""The digest of a config.json, the fields of its Verdict, and the stamp that it had, None for one
that is too young to be kept.
"""
_JUDGES: Final = (
    "",
    "adapters",
    "data",
    "documents",
    "http",
    "schemas",
    "tools",
    "types",
    *sorted({row.rpartition(".")[0].replace(".", "/").partition("/")[2] for row in TYPES.values()}),
)
"""The directories of this package whose code and schemas a verdict comes from."""


class Verdicts:
    """The verdicts on the tool directories in one directory, by the digest of each one's
    config.json.

    Ask `standing` for each, and `of` where that says nothing, then `save`. What is kept is only
    believed (see `kept_rows.py`) for the same kit and what the kit states of its limits. A cache
    that cannot be read or written is no error.
    """

    def __init__(self, directory: str, *, kit_id: str | None) -> None:
        self.limits = None if kit_id is None else tool_directory.limits_above(directory)
        """What the kit allows: every verdict is made by these."""
        stated = (
            None
            if self.limits is None
            else [self.limits.types, self.limits.hosts, self.limits.secrets]
        )
        about = [_FORMAT, defaults.VERSION, code_digest(), kit_id, stated]
        self._rows = KeptRows("scan", directory, about)
        self._kit_id = kit_id
        self._kept: dict[str, _Row] = self._rows.load()
        self._seen: dict[str, _Row] = {}
        self._changed = self._has_new_stamps = False
        self._young_ns = youngest_kept_ns()
        self._sha256 = hashlib.sha256 if len(self._kept) > _MANY else sha256

    def standing(self, uid: str, found: Stamp) -> Verdict | None:
        """Return the verdict on a tool directory whose config.json, not followed where it is a
        link, has the stamp `found`; None where that is not the one that it had when it was judged.
        """
        row = self._kept.get(uid)
        if row is None or found is None or row[6] != found:
            return None
        self._seen[uid] = row
        return Verdict._make(row[1:6])

    def of(self, uid: str, config: bytes, found: Stamp = None) -> Verdict:
        """Return the verdict on a tool directory's config.json, from the cache where it holds the
        very same bytes. `found` is the stamp that the file had before it was read.
        """
        digest, row = self._sha256(config).hexdigest(), self._kept.get(uid)
        kept = found if found is not None and found[4] < self._young_ns else None
        if row is not None and row[0] == digest:
            said = Verdict._make(row[1:6])
            self._has_new_stamps |= kept is not None and kept != row[6]
        else:
            said = tool_directory.verdict(config, uid=uid, kit_id=self._kit_id, limits=self.limits)
            self._changed = True
        self._seen[uid] = (digest, *said, kept)
        return said

    @property
    def digests(self) -> dict[str, str]:
        """The digest of each config.json that was asked about, by uid."""
        return {uid: row[0] for uid, row in self._seen.items()}

    def save(self) -> bool:
        """Keep exactly what was asked for since this was made; writes nothing where nothing
        changed. Returns whether any verdict did.
        """
        changed = self._changed or len(self._seen) != len(self._kept)
        if not changed and not self._has_new_stamps:
            return False
        self._rows.save(self._seen)
        return changed


@cache
def code_digest() -> str:
    """Return a digest of what judges, by the names, sizes and times of its files: the code may be
    newer than its version says.
    """
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    found: list[tuple[str, int, int]] = []
    for name in _JUDGES:
        with contextlib.suppress(OSError), os.scandir(os.path.join(package, name)) as entries:
            files = (
                (entry, entry.stat()) for entry in entries if entry.name.endswith((".py", ".json"))
            )
            found += (
                (f"{name}/{entry.name}", status.st_size, status.st_mtime_ns)
                for entry, status in files
            )
    return sha256(repr(sorted(found)).encode("utf-8", "replace")).hexdigest()[:16]
