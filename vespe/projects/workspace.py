"""A project opened on this machine: its configuration, the user's own, the kits, and the scopes in
which names are looked for.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from vespe import defaults
from vespe.errors import AmbiguousTool, InvalidDocument, StorageError, ToolNotFound
from vespe.files import locations
from vespe.files.stamps import Stamp, stamp
from vespe.kits import roots as kit_roots
from vespe.models import Entry, ProjectConfig, Resolution, Row, Tool
from vespe.projects import project, resolver
from vespe.projects.resolver import Scope
from vespe.projects.view import Shown, View, view_of
from vespe.records import dataclass
from vespe.tools import catalog, directory
from vespe.tools.directory import Judged


@dataclass(frozen=True, slots=True)
class ReadEntry:
    """An available tool, what its entry was made from, and the digest of its config.json; None and
    "" where that could not be read.
    """

    entry: Entry
    judged: Judged | None
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """A project as it was when it was opened; tools are looked up on disk each time.

    `root` is the directory that holds `.vespe/`; `scopes` are all of them, in order; `warnings` are
    sentences on what the configuration names and the machine does not have, or may not say, and on
    active scopes that cannot be listed.
    """

    root: str
    config: ProjectConfig
    scopes: tuple[Scope, ...]
    warnings: tuple[str, ...] = ()

    def resolve(
        self,
        name: str,
        *,
        complete: bool = True,
        changed: Mapping[str, Sequence[str]] | None = None,
    ) -> Resolution:
        """Say which tool a name means here; raises ToolNotFound, AmbiguousTool or InvalidTool.

        `changed` names tools that may have another name than the kept index of names says, by the
        directory that they are in. InvalidDocument where a scope that may have it, and would come
        first, cannot be listed.
        """
        try:
            return resolver.resolve(
                name,
                self.scopes,
                lookup=partial(_found, changed=changed) if changed else _found,
                names=self._names,
                complete=complete,
            )
        except ToolNotFound as error:
            if not (renamed := self.view.named(name, self.available())):
                raise
            own = f"{renamed[0].scope}/{renamed[0].name}"
            raise ToolNotFound(
                name,
                searched=error.searched,
                reason=f"models know {own} by that name",
                hint=f"call it {own}",
            ) from None

    def resolve_to_copy(self, name: str) -> Resolution:
        """Resolve a name as `resolve` does; `KIT/TOOL` also means a tool of a kit that is not
        active, because a copy belongs to no kit.
        """
        scope, slash, _ = name.partition("/")
        scopes = [
            replace(one, active=True) if slash and one.name == scope else one for one in self.scopes
        ]
        return resolver.resolve(name, scopes, lookup=_found, names=self._names)

    def resolve_seen(self, name: str) -> Resolution:
        """Resolve a name as `resolve` does; one that only models know means the tool that the
        project calls so.
        """
        try:
            return self.resolve(name)
        except ToolNotFound:
            if not (renamed := self.view.named(name, self.available())):
                raise
            return replace(self.resolve(f"{renamed[0].scope}/{renamed[0].uid}"), name=name)

    def tool(self, name: str) -> Tool:
        """Resolve a name, a uid or `scope/name`, and load the tool."""
        return self.load(self.resolve(name, complete=False).entry)

    def load(self, entry: Entry) -> Tool:
        """Load the tool of an entry; raises InvalidTool with all that is wrong with it."""
        return directory.load(entry.path, scope=entry.scope, kit_id=entry.kit_id)

    def load_listed(self, entry: Entry, judged: Judged | None = None) -> Tool:
        """Load the tool of an entry that was just listed, and so was judged; raises as `load` does.

        `judged` is what was judged, as `read_available` returns it.
        """
        try:
            return directory.load_judged(
                entry.path, scope=entry.scope, kit_id=entry.kit_id, judged=judged
            )
        except (InvalidDocument, StorageError, LookupError, TypeError, AttributeError):
            return self.load(entry)  # it has changed since

    def rows(self) -> tuple[Row, ...]:
        """List every tool with its status, by name: shadowed, inactive and broken ones too.

        A scope that cannot be listed hides none of the others' tools.
        """
        return resolver.rows(self.scopes, _entries)

    def ordered_rows(self) -> tuple[Row, ...]:
        """List the tools of the scopes that plain names are looked for in: available, shadowed and
        broken ones.
        """
        return resolver.rows([scope for scope in self.scopes if scope.ordered], _entries)

    def available(self) -> list[Entry]:
        """Return the tools that a model would see, by name."""
        return [row.entry for row in self.ordered_rows() if row.status == "available"]

    def read_available(self) -> list[ReadEntry]:
        """Return what `available` does, with what each entry was made from.

        To load 10,000 tools from these takes a fifth less processor time than from their files.
        """
        read: dict[str, tuple[dict[str, Judged], dict[str, str]]] = {}

        def entries(scope: Scope) -> Iterable[Entry]:
            judged, digests = read[scope.name] = ({}, {})
            return _entries(scope, digests=digests, judged=judged)

        rows = resolver.rows([scope for scope in self.scopes if scope.ordered], entries)
        found = []
        for row in rows:
            if row.status == "available":
                (judged, digests), uid = read[row.entry.scope], row.entry.uid
                found.append(ReadEntry(row.entry, judged.get(uid), digests.get(uid, "")))
        return found

    @property
    def view(self) -> View:
        """How models see the project's tools."""
        return view_of(self.config)

    def shown(self, tools: Iterable[Tool] | None = None) -> Shown:
        """Return the available tools, or these, as models see them. Raises InvalidTool where one
        cannot be loaded.
        """
        if tools is None:
            tools = (self.load_listed(read.entry, read.judged) for read in self.read_available())
        return self.view.shown(tools)

    def shown_tool(self, name: str) -> Tool:
        """Load a tool as models see it, by any of its names, the one that models know too; raises
        as `tool` does.

        One that is never shown is not found.
        """
        view = self.view
        try:
            tool = self.tool(name)
        except ToolNotFound:
            if not (renamed := view.named(name, self.available())):
                raise
            tool = self.load(renamed[0])
        if view.exposure(tool) == "never":
            reason = f"{view.path}#{view.said(tool, 'expose')[1]} never shows it to models"
            raise ToolNotFound(
                name,
                searched=(tool.scope,),
                reason=reason,
                hint=f"`vespe tool expose {name} --always` shows it",
            )
        return view.of(tool)

    def _names(self) -> Iterable[str]:
        return [entry.name or entry.uid for entry in self.available()]


def find_root(path: str | os.PathLike[str] | None = None) -> str:
    """Return the root of the project at or above `path`, else VESPE_PROJECT, else the working
    directory; raises ProjectNotFound.
    """
    return locations.find_project(explicit=path)


def open_workspace(path: str | os.PathLike[str] | None = None) -> Workspace:
    """Open the project at or above `path`; raises ProjectNotFound, and InvalidDocument for a
    configuration that cannot be read.
    """
    return workspace_of(project.read_config(find_root(path)))


def workspace_of(config: ProjectConfig) -> Workspace:
    """Lay a configuration over the kits of this machine, whatever stands on disk; one without a
    root has kits alone.
    """
    scopes = resolver.scopes_of(
        config, kit_roots.find_kits(count_tools=False, project=config.root or None)
    )
    warnings = (
        *scopes.warnings,
        *_unlistable(scopes.every),
        *project.restricted_keys(config.document),
        *project.misspelt_keys(config.document),
    )
    return Workspace(root=config.root, config=config, scopes=scopes.every, warnings=warnings)


def fingerprint(workspace: Workspace) -> tuple[tuple[str, Stamp], ...]:
    """Return what changes when the workspace should be opened anew: the configuration, the kit
    roots and each kit's own file.

    It costs a few calls of the system, where opening reads every kit's kit_config.json.
    """
    roots = [path for path, _ in (*kit_roots.kit_roots(), *kit_roots.lock_paths(workspace.root))]
    roots.append(kit_roots.mcp_kits_dir())
    own = [
        os.path.join(scope.directory, defaults.KIT_CONFIG_FILE)
        for scope in workspace.scopes
        if scope.kit_id is not None
    ]
    return tuple(
        (path, stamp(path)) for path in (project.config_path(workspace.root), *roots, *own)
    )


def watched_places(workspace: Workspace) -> tuple[tuple[str, Stamp], ...]:
    """Return the fingerprint, and what would change it by being made: to be watched, in place of
    being looked at each time.
    """
    absent = kit_roots.lock_paths(workspace.root, absent=True)
    return (*fingerprint(workspace), *((path, None) for path, _ in absent))


def project_entry(workspace: Workspace, name: str) -> Entry:
    """Return the project's own tool of that name or uid, a broken one too; raises ToolNotFound and
    AmbiguousTool.

    One whose name cannot be read is found by its directory's. The sentence names the kit where it
    is a kit's tool.
    """
    entries = catalog.find_to_change(
        project.tools_dir(workspace.root),
        name.removeprefix(f"{defaults.PROJECT_TOOLS}/"),
        scope=defaults.PROJECT_TOOLS,
        kit_id=None,
    )
    if len(entries) == 1:
        return entries[0]
    if entries:
        uids, paths = [entry.uid for entry in entries], [entry.path for entry in entries]
        raise AmbiguousTool(name, scope=defaults.PROJECT_TOOLS, uids=uids, paths=paths)
    from vespe.kits import edited

    other = workspace.resolve(name).entry
    reason = f"it belongs to {other.scope}, which the project cannot change"
    hint = f"`vespe tool copy {name}` copies it into the project"
    if edited.is_edited(other.scope):
        hint = f"`--kit {other.scope}` changes it there, and {hint}"
    raise ToolNotFound(name, searched=(defaults.PROJECT_TOOLS,), reason=reason, hint=hint)


def project_has(root: str, name: str) -> bool:
    """Say whether a tool of that name stands among the project's own now."""
    found = catalog.find(project.tools_dir(root), name, scope=defaults.PROJECT_TOOLS, kit_id=None)
    return any(entry.name == name for entry in found)


def _unlistable(scopes: Iterable[Scope]) -> Iterator[str]:
    for scope in scopes:
        reason = catalog.why_unlistable(scope.directory) if scope.active else None
        if reason is not None:
            yield f"the tools of {scope.name} cannot be listed: {scope.directory}: {reason}"


def _found(
    scope: Scope, wanted: str, *, changed: Mapping[str, Sequence[str]] | None = None
) -> Sequence[Entry]:
    try:
        return catalog.find(
            scope.directory,
            wanted,
            scope=scope.name,
            kit_id=scope.kit_id,
            beside=changed.get(scope.directory, ()) if changed else (),
        )
    except StorageError as error:
        reason = (
            f"cannot be listed ({os.strerror(error.details['errno'])}), "
            f"so whether {scope.name} has {wanted!r} is not known"
        )
        raise InvalidDocument(
            reason,
            path=scope.directory,
            hint="repair it, or select another scope's tool as scope/name",
        ) from None


def _entries(
    scope: Scope,
    *,
    digests: dict[str, str] | None = None,
    judged: dict[str, Judged] | None = None,
) -> Iterable[Entry]:
    try:
        return catalog.scan(
            scope.directory,
            scope=scope.name,
            kit_id=scope.kit_id,
            digests=digests,
            judged=judged,
        ).values()
    except StorageError:
        return ()  # one of the warnings says so
