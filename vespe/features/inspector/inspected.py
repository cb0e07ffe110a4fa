"""What the pages know of a project: its tools as they are now, and whether they may run."""

import contextlib
import os
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final

from vespe import defaults
from vespe.calls.path import CallPath
from vespe.errors import NotFound, NotTrusted, Refused, VespeError
from vespe.files.stamps import Stamp, are_settled, stamp
from vespe.models import Entry, Row, Tool
from vespe.projects.open_project import OpenProject
from vespe.projects.workspace import Workspace, fingerprint
from vespe.tools import directory
from vespe.trust import gate

STATUSES: Final = ("available", "shadowed", "broken", "inactive")
_SHARE: Final = 16
"""Looking whether a tool changed takes at most one part in so many of the time."""


class Inspected:
    """One project for many pages, from several threads. `recordings` are files that the person
    named when opening the inspector.

    `kept` is what pages found out and keep, by a name of their own.
    """

    def __init__(self, path: CallPath, recordings: Sequence[str] = ()) -> None:
        self.path, self.recordings = path, tuple(recordings)
        self.kept: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._rows: tuple[object, tuple[Row, ...]] | None = None
        self._due = 0.0

    @cached_property
    def live(self) -> OpenProject:
        """The project kept open."""
        assert self.path.live is not None
        return self.path.live

    @property
    def workspace(self) -> Workspace:
        """The project as it is now; raises as `open_workspace` does."""
        return self.live.workspace

    @property
    def root(self) -> str:
        """The project's directory."""
        return self.live.root

    def rows(self) -> tuple[Row, ...]:
        """Return every tool with its status, by name; read again only where a tool, a kit or the
        configuration changed.
        """
        with self._lock:
            if self._rows is not None and time.monotonic() < self._due:
                return self._rows[1]
            started, workspace = time.monotonic(), self.workspace
            seen = (
                fingerprint(workspace),
                tuple(tuple(_stamps(scope.directory)) for scope in workspace.scopes),
            )
            if self._rows is None or self._rows[0] != seen:
                self._rows = (seen, workspace.rows())
            firm = are_settled(found for scope in seen[1] for stamps in scope for found in stamps)
            now = time.monotonic()
            self._due = now + (now - started) * _SHARE if firm else 0.0
            return self._rows[1]

    def row(self, scope: str, uid: str) -> Row:
        """Return one tool, a broken one too; raises NotFound."""
        found = next(
            (row for row in self.rows() if row.entry.uid == uid and row.entry.scope == scope), None
        )
        if found is None:
            raise NotFound(
                f"there is no tool {scope}/{uid} here any more",
                hint="it or its kit was removed",
            )
        return found

    def tool(self, entry: Entry) -> Tool:
        """Load a tool; raises InvalidTool for a broken one."""
        return directory.load(entry.path, scope=entry.scope, kit_id=entry.kit_id)

    def shown(self, rows: Iterable[Row]) -> Iterator[Tool]:
        """Yield the tools that are available as a model sees them, by what the project's
        configuration makes of them; no broken ones.
        """
        view = self.workspace.view  # once, since it asks each time whether the project changed
        for entry in (row.entry for row in rows if row.status == "available"):
            with contextlib.suppress(VespeError):
                yield view.of(
                    directory.load_judged(entry.path, scope=entry.scope, kit_id=entry.kit_id)
                )

    def refusal(self, entry: Entry | None = None) -> VespeError | None:
        """Say why a tool, or the project as a whole, may not run; None where it may."""
        own = entry.path if entry is not None and entry.scope == defaults.PROJECT_TOOLS else None
        try:
            self.live.grant(own)
        except (NotTrusted, Refused) as error:
            return error
        return None

    def trusted_as(self) -> str:
        """Return the kind of the grant under which the project may run; "" where it may not."""
        try:
            return self.live.grant().kind
        except (NotTrusted, Refused):
            return ""

    def is_approved_alone(self, entry: Entry) -> bool:
        """Whether a tool of a project that may not run as a whole may run all the same, because its
        user made it here.
        """
        own = entry.scope == defaults.PROJECT_TOOLS
        return own and gate.approved_place(os.path.realpath(self.root), entry.path) is not None


def _stamps(place: str) -> Iterator[tuple[Stamp, Stamp]]:
    try:
        names = os.listdir(place)
    except OSError:
        return
    for name in names:
        path = f"{place}/{name}"
        yield stamp(path), stamp(f"{path}/{defaults.CONFIG_FILE}")
