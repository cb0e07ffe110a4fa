"""Whose tools a verb changes: the project's, or those of a kit that the user edits."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import click

from vespe import defaults
from vespe.errors import ProjectNotFound, Refused, UsageError
from vespe.kits import edited
from vespe.lazy import shlex
from vespe.models import Entry, JsonObject, Tool
from vespe.projects import project
from vespe.projects.workspace import find_root, open_workspace, project_entry, project_has
from vespe.tools import directory
from vespe.tools.secret_items import names_in
from vespe.trust import gate

_Written = Callable[[Mapping[str, bytes], JsonObject], None]

kit_option = click.option(
    "--kit",
    metavar="KIT",
    help="Use the tool of a kit that you edit, given as directory or id, instead of the project's.",
)


kit_to_run_option = click.option(
    "--kit",
    metavar="KIT",
    help="Use the tools of a kit that you edit, given as directory or id, without a project. Link "
    "the kit first (`vespe kit link`).",
)


def root_to_run_in(kit: str | None, project_dir: str | None, *, trusted: bool) -> str | None:
    """Return the project in which tools are tried: the given one, or for a kit one that has nothing
    but this kit.

    Raises UsageError where both are given, Refused for a kit that its user has not put among theirs
    unless they vouch for it.
    """
    if kit is None:
        return project_dir if project_dir is not None else _found_root()
    if project_dir is not None:
        raise UsageError("--kit runs a kit without a project", hint="leave out --project")
    directory = edited.directory_of(kit)
    kit_id = os.path.basename(directory)
    if not trusted and edited.found_directory(kit_id) != directory:
        place = shlex.quote(os.path.relpath(directory))
        raise Refused(
            f"the kit {kit_id} in {directory} is not linked, so its tools do not run",
            hint=f"`vespe kit link {place}` trusts it and all later changes, --trust only once",
        )
    from vespe.projects.kit_project import project_of_kit  # 4 ms that few commands need

    return project_of_kit(directory)


def _found_root() -> str:
    try:
        return find_root()
    except ProjectNotFound as error:
        if os.path.isfile(defaults.KIT_CONFIG_FILE):
            command = click.get_current_context().command_path
            error.hint = f"this directory is a kit: `{command} --kit .` uses it without a project"
        raise


class ToolOwner:
    """The project, or the kit that `--kit` names."""

    def __init__(self, kit: str | None, project_dir: str | None) -> None:
        self.kit = None if kit is None else edited.directory_of(kit)
        self._workspace = open_workspace(project_dir) if kit is None else None

    @property
    def root(self) -> str | None:
        """The root of the project, None for a kit."""
        return None if self._workspace is None else self._workspace.root

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
