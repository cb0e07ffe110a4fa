"""Whose tools a verb changes: the project's, or those of a kit that the user edits."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import click

from vespe import defaults
from vespe.kits import edited
from vespe.models import Entry, JsonObject, Tool
from vespe.projects import project
from vespe.projects.workspace import open_workspace, project_entry, project_has
from vespe.tools import directory
from vespe.tools.secret_items import names_in
from vespe.trust import gate

_Written = Callable[[Mapping[str, bytes], JsonObject], None]

kit_option = click.option(
    "--kit",
    metavar="KIT",
    help="Use the tool of a kit that you edit, given as directory or id, instead of the project's.",
)


class ToolOwner:
    """The project, or the kit that `--kit` names."""

    def __init__(self, kit: str | None, project_dir: str | None) -> None:
        self.kit = None if kit is None else edited.directory_of(kit)
        self._workspace = open_workspace(project_dir) if kit is None else None

    @property
    def tools_dir(self) -> str:
        """The directory that its tools are in."""
        if self._workspace is not None:
            return project.tools_dir(self._workspace.root)
        return str(self.kit)

    def find(self, name: str) -> Entry:
        """Return its tool of a name or uid; raises ToolNotFound and AmbiguousTool."""
        if self._workspace is not None:
            return project_entry(self._workspace, name)
        return edited.find_tool(self.tools_dir, name)

    @contextmanager
    def keeping_trust(self, uid: str) -> Iterator[_Written]:
        """Let the project's approval hold with another content of files of one tool; see
        `gate.carrying_over_files`. A kit that is edited has none.
        """
        if self._workspace is None:
            yield lambda files, document: None
            return
        with gate.carrying_over_files(self._workspace.config) as keep:

            def written(files: Mapping[str, bytes], document: JsonObject) -> None:
                own = {f"{uid}/{name}": data for name, data in files.items()}
                keep(own, names_in(document.get("secrets")))

            yield written

    def list(self) -> list[Entry]:
        """Return its tools that are not broken."""
        if self._workspace is None:
            return [one for one in edited.list_tools(self.tools_dir) if one.problem is None]
        rows = (row.entry for row in self._workspace.rows())
        return [one for one in rows if one.scope == defaults.PROJECT_TOOLS and one.problem is None]

    def load(self, entry: Entry) -> Tool:
        """Load one of its tools."""
        if self._workspace is not None:
            return self._workspace.load(entry)
        return directory.load(entry.path, scope=entry.scope, kit_id=entry.kit_id)

    def has(self, name: str) -> bool:
        """Say whether a tool of that name stands there now."""
        if self._workspace is not None:
            return project_has(self._workspace.root, name)
        return edited.has_tool(self.tools_dir, name)
