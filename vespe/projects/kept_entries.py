"""The tools of an open project as a listing shows them, of which only those that changed are read
again.
"""

from collections.abc import Mapping
from typing import Final

from vespe.errors import StorageError
from vespe.models import Entry, Row
from vespe.projects import resolver
from vespe.projects.resolver import Scope
from vespe.projects.watched_tools import Stamps, WatchedTools
from vespe.projects.workspace import Workspace
from vespe.tools import catalog
from vespe.tools.catalog import Catalog

_MANY: Final = 500
"""After so many changes all is read anew: the kept verdicts make that the cheaper way."""


class KeptEntries:
    """The entries of the scopes in which plain names are looked for. An entry stays the same object
    as long as its tool's config.json has the same bytes and nothing else about it changed.

    Reading one of 10,000 again takes 0.1 ms, where a scan of them all takes 250.
    """

    def __init__(self, tools: WatchedTools) -> None:
        self._tools = tools
        self._workspace: Workspace | None = None
        self._version = -1
        self._found: dict[str, dict[str, Entry]] = {}
        self._digests: dict[str, dict[str, str]] = {}

    def refresh(self, workspace: Workspace) -> dict[str, tuple[Entry | None, Entry | None]] | None:
        """Read what changed. Returns the entries that did, before and after, by the tool's
        directory; None where any may have.
        """
        version = self._tools.version  # first: what changes while it is read is read once more
        changed = self._tools.changed_since(self._version)
        same = workspace is self._workspace
        self._workspace, self._version = workspace, version
        if not same or changed is None or len(changed) > _MANY:
            self._read_all(workspace)
            return None
        scopes = {scope.directory: scope for scope in _ordered(workspace)}
        found = {}
        for path in changed:
            directory, _, uid = path.rpartition("/")
            if (scope := scopes.get(directory)) is not None:
                before = self._found[directory].get(uid)
                if (after := self._read(scope, uid)) is not before:
                    found[path] = before, after
        return found

    def rows(self, workspace: Workspace) -> tuple[Row, ...]:
        """List what `Workspace.ordered_rows` lists, as it was at the last `refresh`."""
        return resolver.rows(
            _ordered(workspace), lambda scope: Catalog(self._found[scope.directory]).values()
        )

    def digest(self, entry: Entry) -> str:
        """Return the digest of the config.json that an entry was made from, "" where none could be
        read.
        """
        directory, _, uid = entry.path.rpartition("/")
        return self._digests.get(directory, {}).get(uid, "")

    def _read_all(self, workspace: Workspace) -> None:
        before, digests_before = self._found, self._digests
        self._found, self._digests = {}, {}
        for scope in _ordered(workspace):
            directory = scope.directory
            digests = self._digests[directory] = dict[str, str]()
            entries = _scanned(scope, digests, self._tools.looked(directory))
            self._found[directory] = entries
            known, digests_known = before.get(directory, {}), digests_before.get(directory, {})
            for uid, old in known.items():
                same_bytes = uid in digests and digests[uid] == digests_known.get(uid)
                if same_bytes and old == entries[uid]:
                    entries[uid] = old

    def _read(self, scope: Scope, uid: str) -> Entry | None:
        entries, digests = self._found[scope.directory], self._digests[scope.directory]
        entry, digest = catalog.read_one(
            scope.directory, uid, scope=scope.name, kit_id=scope.kit_id
        )
        before = entries.get(uid)
        if entry is not None and entry == before and digests.get(uid) == digest:
            return before
        if entry is None:
            entries.pop(uid, None)
            digests.pop(uid, None)
        else:
            entries[uid], digests[uid] = entry, digest
        return entry


def _ordered(workspace: Workspace) -> list[Scope]:
    return [scope for scope in workspace.scopes if scope.ordered]


def _scanned(
    scope: Scope, digests: dict[str, str], looked: Mapping[str, Stamps] | None
) -> dict[str, Entry]:
    try:
        return catalog.scan_entries(
            scope.directory,
            scope=scope.name,
            kit_id=scope.kit_id,
            digests=digests,
            looked=looked,
        )
    except StorageError:
        return {}  # one of the workspace's warnings says so
