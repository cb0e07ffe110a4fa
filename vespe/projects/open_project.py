"""A project that stays open: read once, and each answer is what a new process would find on disk.

Why: the library, agents and servers call many times a second, and reading configuration, kits,
tools and approvals anew takes longer than most calls. What was read is kept with the stamps
(`files/stamps.py`: device, inode, size, mtime, ctime) of all that it rests on, and is believed
while these hold. `files/watch.py` makes asking cheap. Whoever takes trust back, edits a tool or
activates a kit in another process is obeyed by the next call; there is nothing to reload.

What does not work:

- mtime alone: programs set it back (utimensat(2)), as tar and rsync do; ctime cannot be set.
- A stamp that is young: file systems take their time from the kernel's clock tick
  (https://man7.org/linux/man-pages/man7/inode.7.html has the fields), so a second change within it
  leaves the stamp as it is. What changed within the last 0.1 s is read again each time.
- Digests at each call: they cost as much as reading. Only a tool that was approved by its bytes is
  hashed each time, because there nothing less will do (`trust/gate.py`).
- One stamp for a directory of tools: it changes when a tool comes or goes, not when a config.json
  in it is rewritten in place, which may take another tool's name. That is the one change that is
  seen late; an exact answer would cost one stat(2) a tool a call.
- Locks instead of looking: people and git write these files, and they take no lock of ours.
"""

import os
import threading
import time
from collections.abc import Mapping
from typing import Final

from vespe import defaults
from vespe.errors import ProjectNotFound
from vespe.files import locations
from vespe.files.stamps import Stamp, are_settled, stamp
from vespe.files.watch import Held, Watch
from vespe.models import Tool
from vespe.projects import project, user_config
from vespe.projects.user_config import UserConfig
from vespe.projects.workspace import Workspace, fingerprint, open_workspace
from vespe.records import dataclass
from vespe.trust.gate import Grant
from vespe.trust.live import LiveTrust

_SHARE: Final = 32
"""Looking for a tool that took another's name in place takes at most one part in so many of the
time.
"""
_MAX_KNOWN: Final = 10_000


@dataclass(frozen=True, slots=True)
class _Known:
    """A tool as it was read, and what its name rests on: places, and the kits where they could
    matter.
    """

    tool: Tool
    places: Held
    by_name: bool
    with_kits: bool


class OpenProject:
    """The configuration, kits, names, tools and approvals of one project, for many calls from
    several threads.

    What was read is believed while the stamps of all that it rests on hold; what changed within the
    last tenth of a second is read again each time, since a second change could hide in it. Of a
    change in any file that an answer rests on the next answer knows. One is told late: where
    another tool's config.json is rewritten in place and takes a name that was called before, the
    next look at all names sees it, after at most 32 times as long as such a look takes.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        environ: Mapping[str, str] | None = None,
        trusted: bool = False,
    ) -> None:
        self.root = workspace.root
        self.watch = Watch()
        self.trust = LiveTrust(
            workspace.config,
            environ=os.environ if environ is None else environ,
            trusted=trusted,
            watch=self.watch,
        )
        self._lock = threading.RLock()
        self._user_path = os.path.join(locations.user_config_dir(), defaults.CONFIG_FILE)
        self._user: tuple[Stamp, Workspace, UserConfig] | None = None
        self._known: dict[str, _Known] = {}
        self._names: object = None
        self._due = 0.0
        self._opened = (fingerprint(workspace), workspace)

    @property
    def workspace(self) -> Workspace:
        """The project as it is now, opened anew only where its configuration or a kit changed;
        raises as `open_workspace` does.
        """
        with self._lock:
            if not self._is_open():
                opened = open_workspace(self.root)
                if opened.root != self.root:
                    raise ProjectNotFound(self.root)
                self._opened = (fingerprint(opened), opened)
                self.trust.read_anew(opened.config)
                self._known = {}
            return self._opened[1]

    @property
    def user(self) -> UserConfig:
        """The user's own configuration, as this project tightens it; raises InvalidDocument and
        StorageError.
        """
        found, workspace = stamp(self._user_path), self._opened[1]
        known = self._user
        if known is not None and known[0] == found and known[1] is workspace:
            return known[2]
        user = user_config.narrow(user_config.load_user_config(), workspace.config.document)
        self._user = (found, workspace, user) if are_settled((found,)) else None
        return user

    def grant(self, tool_directory: str | None = None) -> Grant:
        """Return the grant under which a tool of the project may run now; raises NotTrusted. See
        `TrustCheck.check`.
        """
        if (kept := self.trust.kept(tool_directory)) is not None:
            return kept
        self.trust.read_anew(self.workspace.config)
        return self.trust.check(tool_directory)

    def tool(self, name: str) -> Tool:
        """Return the tool that a name, a uid or `scope/name` means now; raises as `Workspace.tool`
        does.
        """
        known = self._known.get(name)
        if (
            known is None
            or not known.places.hold()
            or (known.with_kits and not self._is_open())
            or (known.by_name and not self._names_hold())
        ):
            return self._find(name)
        return known.tool

    def _is_open(self) -> bool:
        before, workspace = self._opened
        now = fingerprint(workspace)
        return now == before and are_settled(found for _, found in now)

    def _names_hold(self) -> bool:
        if time.monotonic() < self._due:
            return True
        with self._lock:
            return self._look_at_names()

    def _look_at_names(self) -> bool:
        """Look whether any tool's config.json is another one; what is known by name is forgotten
        where one is.
        """
        started = time.monotonic()
        names = tuple(
            _configs(scope.directory) for scope in self._opened[1].scopes if scope.ordered
        )
        same = names == self._names
        if not same:
            self._known, self._names = {}, names
        firm = are_settled(found for scope in names for _, found in scope)
        now = time.monotonic()
        self._due = now + (now - started) * _SHARE if firm else 0.0
        return same and firm

    def _find(self, name: str) -> Tool:
        with self._lock:
            workspace = self.workspace
            active = [scope.directory for scope in workspace.scopes if scope.active]
            near = [(path, stamp(path)) for path in (project.config_path(self.root), *active)]
            self._look_at_names()
            entry = workspace.resolve(name, complete=False).entry
            config = f"{entry.path}/{defaults.CONFIG_FILE}"
            near.append((config, stamp(config)))
            tool = workspace.load(entry)
            if tool.implementation is not None and tool.implementation.path:
                script = f"{entry.path}/{tool.implementation.path}"
                near.append((script, stamp(script)))
            by_name = entry.uid != name.rpartition("/")[2]
            first = by_name and entry.kit_id is None and active[0] == os.path.dirname(entry.path)
            places = tuple(near[:2] + near[1 + len(active) :] if first else near)
            if (self._due or not by_name) and are_settled(found for _, found in places):
                if len(self._known) >= _MAX_KNOWN:
                    self._known = {}
                self._known[name] = _Known(
                    tool,
                    Held(places, self.watch),
                    by_name,
                    bool(workspace.config.active_kits) and not first,
                )
            return tool


def _configs(directory: str) -> tuple[tuple[str, Stamp], ...]:
    try:
        names = os.listdir(directory)
    except OSError:
        return ()
    return tuple((name, stamp(f"{directory}/{name}/{defaults.CONFIG_FILE}")) for name in names)
