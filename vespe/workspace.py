"""A project opened on this machine: its configuration, the user's own, the kits, and the scopes in which names are looked for."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from vespe import catalog, configuration, defaults, file_walk, kits, locations, project, resolver, tooldir, trust
from vespe.errors import AmbiguousTool, ToolNotFound
from vespe.models import Entry, JsonObject, ProjectConfig, Resolution, Row, Tool
from vespe.resolver import Scope


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """A project as it was when it was opened; tools are looked up on disk each time.

    `root` is the directory that holds `.vespe/`; `scopes` are all of them, in order; `warnings` are sentences on what
    the configuration names and the machine does not have, or may not say.
    """

    root: str
    config: ProjectConfig
    scopes: tuple[Scope, ...]
    warnings: tuple[str, ...] = ()

    @cached_property
    def user(self) -> configuration.UserConfig:
        """The user's own configuration, as this project tightens it."""
        return configuration.narrowed(configuration.load_user_config(), self.config.document)

    def resolve(self, name: str, *, complete: bool = True) -> Resolution:
        """Say which tool a name means here; raises ToolNotFound, AmbiguousTool or InvalidTool."""
        return resolver.resolve(name, self.scopes, lookup=_found, names=self._names, complete=complete)

    def tool(self, name: str) -> Tool:
        """Resolve a name, a uid or `scope/name`, and load the tool."""
        return self.load(self.resolve(name, complete=False).entry)

    def load(self, entry: Entry) -> Tool:
        """Load the tool of an entry; raises InvalidTool with all that is wrong with it."""
        return tooldir.load(entry.path, scope=entry.scope, kit_id=entry.kit_id)

    def rows(self, *, everything: bool) -> tuple[Row, ...]:
        """List the available tools by name; with `everything` the shadowed, inactive and broken ones too."""
        return resolver.rows(self.scopes, _entries, everything=everything)

    def snapshot(self) -> JsonObject:
        """Map every available name to its uid, scope and the digest of its directory's bytes."""
        return resolver.snapshot(self.rows(everything=False), _digest)

    def _names(self) -> Iterable[str]:
        return [row.entry.name or row.entry.uid for row in self.rows(everything=False)]


def find_root(path: str | os.PathLike[str] | None = None) -> str:
    """Give the root of the project at or above `path`, else VESPE_PROJECT, else the working directory; raises ProjectNotFound."""
    return locations.find_project(explicit=path)


def open_workspace(path: str | os.PathLike[str] | None = None) -> Workspace:
    """Open the project at or above `path`; raises ProjectNotFound, and InvalidDocument for a configuration that cannot be read."""
    config = project.read_config(find_root(path))
    scopes = resolver.scopes_of(config, kits.find_kits(count_tools=False))
    warnings = (*scopes.warnings, *project.restricted_keys(config.document))
    return Workspace(root=config.root, config=config, scopes=scopes.every, warnings=warnings)


def project_entry(workspace: Workspace, name: str) -> Entry:
    """Give the project's own tool of that name or uid, a broken one too; raises ToolNotFound and AmbiguousTool.

    The sentence names the kit where it is a kit's tool.
    """
    entries = _project_entries(workspace.root, name.removeprefix(f"{defaults.PROJECT_TOOLS}/"))
    if len(entries) == 1:
        return entries[0]
    if entries:
        uids, paths = [entry.uid for entry in entries], [entry.path for entry in entries]
        raise AmbiguousTool(name, scope=defaults.PROJECT_TOOLS, uids=uids, paths=paths)
    other = workspace.resolve(name).entry
    reason = f"it is {other.scope}'s, which is not the project's to change"
    raise ToolNotFound(name, searched=(defaults.PROJECT_TOOLS,), reason=reason, hint=f"`vespe tool copy {name}` makes it yours")


def project_has(root: str, name: str) -> bool:
    """Say whether a tool of that name stands among the project's own now."""
    return any(entry.name == name for entry in _project_entries(root, name))


def trust_created(root: str, uid: str) -> None:
    """Trust a tool directory that its user has just made, where the project as a place is not trusted anyway."""
    if trust.approved_place(os.path.realpath(root)) is None:
        trust.trust_tool(root, uid)


def _project_entries(root: str, wanted: str) -> Sequence[Entry]:
    return catalog.find(project.tools_dir(root), wanted, scope=defaults.PROJECT_TOOLS, kit_id=None)


def _found(scope: Scope, wanted: str) -> Sequence[Entry]:
    return catalog.find(scope.directory, wanted, scope=scope.name, kit_id=scope.kit_id)


def _entries(scope: Scope) -> Iterable[Entry]:
    return catalog.scan(scope.directory, scope=scope.name, kit_id=scope.kit_id).values()


def _digest(entry: Entry) -> str:
    return file_walk.scan(entry.path).digest or "none"
