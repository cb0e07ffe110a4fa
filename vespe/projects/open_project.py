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
  in it is rewritten in place, which may take another tool's name. `watched_tools.py` tells of that.
- Locks instead of looking: people and git write these files, and they take no lock of ours.
"""

import os
import threading
from collections.abc import Mapping, Sequence
from typing import Final

from vespe import defaults
from vespe.errors import ProjectNotFound, ToolNotFound
from vespe.files import locations
from vespe.files.stamps import Stamp, are_settled, stamp
from vespe.files.watch import Held, Watch
from vespe.models import Tool
from vespe.projects import project, user_config
from vespe.projects.user_config import UserConfig
from vespe.projects.watched_tools import WatchedTools
from vespe.projects.workspace import Workspace, fingerprint, open_workspace, watched_places
from vespe.records import dataclass
from vespe.tools import name_index
from vespe.trust.gate import Grant
from vespe.trust.live import LiveTrust

_MAX_KNOWN: Final = 10_000


@dataclass(frozen=True, slots=True)
class _Known:
    """A tool as it was read, or None where there is none of that name, and what that rests on:
    places, the `names` of all tools (0 for a uid), and the kits where they could matter.
    """

    tool: Tool | None
    places: Held
    names: int
    with_kits: bool


class OpenProject:
    """The configuration, kits, names, tools and approvals of one project, for many calls from
    several threads.

    What was read is believed while the stamps of all that it rests on hold; what changed within the
    last tenth of a second is read again each time, since a second change could hide in it. Of a
    change in any file that an answer rests on the next answer knows. Where Linux tells of no
    changes, one is seen late: that another tool's config.json is rewritten in place and takes a
    name that was called before. The next look at all tools sees it, after at most 32 times as long
    as such a look takes.
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
        self._opened = (fingerprint(workspace), workspace)
        self._kits: tuple[Workspace | None, str | None, Held] = None, "", Held((), self.watch)
        self._indexed: int | None = None
        self.tools = WatchedTools(self.watch)
        self.tools.take(_searched(workspace))

    @property
    def workspace(self) -> Workspace:
        """The project as it is now, opened anew only where its configuration or a kit changed;
        raises as `open_workspace` does.
        """
        with self._lock:
            if not self._kits_hold():
                opened = open_workspace(self.root)
                if opened.root != self.root:
                    raise ProjectNotFound(self.root)
                self._opened = (fingerprint(opened), opened)
                self.tools.take(_searched(opened))
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
        known = self._kept(name)
        return self._find(name) if known is None or known.tool is None else known.tool

    def has(self, name: str) -> bool:
        """Say whether a tool has that name, uid or `scope/name` now; raises as `tool` does, but for
        ToolNotFound.
        """
        if (known := self._kept(name)) is not None:
            return known.tool is not None
        with self._lock:
            near = project.config_path(self.root), *_searched(self.workspace)
            places = tuple((path, stamp(path)) for path in near)
            firm, names = self.tools.refresh(), self.tools.names
            try:
                self._find(name)
            except ToolNotFound:
                is_name = "/" not in name and not name.startswith("tool-")
                if firm and is_name and self.tools.names == names:
                    self._keep(name, None, places, names=names, with_kits=True)
                return False
            return True

    def _kept(self, name: str) -> _Known | None:
        """Return what was found before, where all that it rests on is as it was then."""
        if (known := self._known.get(name)) is None:
            return None
        seen = self.watch.number()
        holds = (
            known.places.hold(seen)
            and (not known.with_kits or self._kits_hold())
            and (
                not known.names
                or (self.tools.refresh(seen=seen) and self.tools.names == known.names)
            )
        )
        return known if holds else None

    def _kits_hold(self) -> bool:
        """Say what `_is_open` says, for the price of asking Linux."""
        now, listed = self._opened[1], os.environ.get(defaults.ENV_KITS_PATH)
        workspace, before, held = self._kits
        if workspace is not now or listed != before or not held.hold():
            held = Held(watched_places(now), self.watch)  # first: what changes then is seen
            if not self._is_open():
                return False
            self._kits = now, listed, held
        return True

    def _is_open(self) -> bool:
        before, workspace = self._opened
        now = fingerprint(workspace)
        return now == before and are_settled(found for _, found in now)

    def _find(self, name: str) -> Tool:
        with self._lock:
            workspace = self.workspace
            active = [scope.directory for scope in workspace.scopes if scope.active]
            near = [(path, stamp(path)) for path in (project.config_path(self.root), *active)]
            firm, names = self.tools.refresh(), self.tools.names
            changed = self._changed_in_place()
            entry = workspace.resolve(name, complete=False, changed=changed).entry
            config = f"{entry.path}/{defaults.CONFIG_FILE}"
            near.append((config, stamp(config)))
            tool = workspace.load(entry)
            if tool.implementation is not None and tool.implementation.path:
                script = f"{entry.path}/{tool.implementation.path}"
                near.append((script, stamp(script)))
            by_name = entry.uid != name.rpartition("/")[2]
            # a kit that comes before it may be missing now, and come back
            leads = workspace.config.tool_resolution_order[:1] == (defaults.PROJECT_TOOLS,)
            first = leads and by_name and active[0] == os.path.dirname(entry.path)
            places = tuple(near[:2] + near[1 + len(active) :] if first else near)
            if firm or not by_name:
                names = names if by_name else 0
                self._keep(name, tool, places, names=names, with_kits=not first)
            return tool

    def _changed_in_place(self) -> Mapping[str, Sequence[str]]:
        """Name the tools that changed since this process first looked, by the directory that they
        are in: one may have taken a name that the kept index of names has for another alone.
        """
        if self._indexed is None:
            self._indexed = self.tools.version
        changed = self.tools.changed_since(self._indexed)
        found: dict[str, list[str]] = {}
        if changed is None:  # any may have
            self._indexed = self.tools.version
            for directory in _searched(self._opened[1]):
                name_index.forget(directory)
        for path in changed or ():
            directory, _, uid = path.rpartition("/")
            found.setdefault(directory, []).append(uid)
        return found

    def _keep(
        self,
        name: str,
        tool: Tool | None,
        places: tuple[tuple[str, Stamp], ...],
        *,
        names: int,
        with_kits: bool,
    ) -> None:
        if are_settled(found for _, found in places):
            if len(self._known) >= _MAX_KNOWN:
                self._known = {}
            with_kits = with_kits and bool(self._opened[1].config.active_kits)
            self._known[name] = _Known(tool, Held(places, self.watch), names, with_kits)


def _searched(workspace: Workspace) -> tuple[str, ...]:
    return tuple(scope.directory for scope in workspace.scopes if scope.ordered)
