"""The library's calls: a Project, and the same verbs as functions."""

import os
import threading
from collections.abc import Mapping
from typing import Any, TypeAlias

from vespe import errors
from vespe.calls.path import CallPath, open_path
from vespe.calls.registry import ToolRegistry
from vespe.models import Call, JsonObject, Outcome, ProjectConfig, Resolution, Tool
from vespe.projects import project as projects
from vespe.projects import project_tools
from vespe.projects.init import found_project
from vespe.projects.workspace import Workspace, open_workspace, workspace_of
from vespe.tools import drafts

ProjectLike: TypeAlias = "Project | ProjectConfig | str | os.PathLike[str] | None"
"""A project however the caller has it: itself, its configuration, its directory, or None for the one that is found from here."""


class Project:
    """A project on disk: its own tools, its active kits, and one call path for all of them.

    `path` is the directory that holds `.vespe/`, or one below it; None looks up from the working directory (or
    `VESPE_PROJECT`). `registry` holds in-process implementations. `trusted=True` is the caller's word that this
    project may run, as `--trust` is on the command line. What is on disk is read
    again when it changed. Raises ProjectNotFound where there is no project, InvalidDocument for a configuration
    that cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, *, registry: ToolRegistry | None = None, trusted: bool = False) -> None:
        workspace = open_workspace(path)
        self.root = workspace.root
        self.registry = registry if registry is not None else ToolRegistry()
        self._path = open_path(workspace, registry=self.registry, trusted=trusted)

    def __repr__(self) -> str:
        return f"Project({self.root!r})"

    @classmethod
    def init(cls, path: str | os.PathLike[str] = ".", *, registry: ToolRegistry | None = None) -> "Project":
        """Make a directory a project and trust it, since it is the caller's own; one that is there already is only opened."""
        return cls(found_project(path).root, registry=registry)

    @property
    def config(self) -> ProjectConfig:
        """The project's configuration as it is on disk now."""
        return projects.read_config(self.root)

    def create_tool(
        self, name: str, schema: JsonObject | None = None, implementation_details: JsonObject | None = None, **draft: Any
    ) -> Tool:
        """Make a project tool; the arguments are those of `create_tool`."""
        return create_tool(name, schema, implementation_details, project=self, **draft)

    def load_tool(self, uid: str) -> Tool:
        """Load a tool by its uid, name or `scope/name`; raises ToolNotFound, AmbiguousTool or InvalidTool."""
        return self._workspace().tool(uid)

    def resolve_tool(self, name: str) -> Resolution:
        """Say which tool a name means here and why; raises ToolNotFound, AmbiguousTool or InvalidTool."""
        return self._workspace().resolve(name)

    def list_available_tools(self) -> list[Tool]:
        """Load every tool that a model would see, by name; broken, shadowed and inactive ones are left out."""
        workspace = self._workspace()
        return [workspace.load(entry) for entry in workspace.available()]

    def execute_tool(
        self,
        uid: str,
        args: JsonObject | str | bytes | None = None,
        *,
        timeout_s: float | None = None,
        cancel: threading.Event | None = None,
    ) -> Outcome:
        """Check the arguments (an object, or JSON text) and run a tool, by its uid, name or `scope/name`.

        A call that fails or is refused is an Outcome with an error; only where there is no call to make (NotFound,
        InvalidTool, NotTrusted) this raises. `timeout_s` is the deadline in seconds; `cancel` ends the call.
        """
        call = Call(tool=uid, arguments={} if args is None else args, timeout_s=timeout_s)
        return self._path.run(call, cancel=cancel)

    def call_path(self) -> CallPath:
        """Return what runs calls in the project as it is now."""
        self._path = self._path.now()
        return self._path

    def _workspace(self) -> Workspace:
        return self.call_path().workspace


def create_tool(
    name: str,
    schema: JsonObject | None = None,
    implementation_details: JsonObject | None = None,
    *,
    project: ProjectLike = None,
    type: str | None = None,
    source: str | os.PathLike[str] | None = None,
    fields: Mapping[str, Any] | None = None,
) -> Tool:
    """Make a tool in a project: from its schema and its implementation, a template of `type`, or `source`, a `FILE.py:function`.

    `schema` is `{"input": …, "output": …}` or the schema of the inputs alone; without `implementation_details` the tool is run by
    what is registered under its name. `fields` are other keys of config.json (`description`, `secrets`, `annotations`, `limits`,
    `tags`, `examples`, ...), and `path`, `entrypoint` and `args` in place of a template's. Raises UsageError for a name that is
    taken or not allowed.
    """
    opened, given = _project(project), dict(fields or {})
    schema = given.pop("schema", None) if schema is None else schema
    if (type is not None and source is not None) or (implementation_details is not None and (type or source)):
        raise errors.UsageError("give one of a type, a source and implementation_details")
    if source is not None:
        draft = drafts.draft_from_function(os.fspath(source), name=name, fields={**given, "schema": schema})
    elif type is not None:
        draft = drafts.draft_tool(name, type, fields={**given, "schema": schema})
    elif schema is not None or implementation_details is not None:
        draft = drafts.draft_from_parts(name, schema, implementation_details, fields=given)
    else:
        raise errors.UsageError("give a schema, a type or a source")
    return project_tools.create_tool(opened.root, draft)


def load_tool(uid: str, *, project: ProjectLike = None) -> Tool:
    """Load a tool by its uid; see `Project.load_tool`."""
    return _project(project).load_tool(uid)


def resolve_tool(project_config: ProjectLike, name: str) -> Resolution:
    """Say which tool a name means in a project; see `Project.resolve_tool`.

    A ProjectConfig counts as it is, whatever stands on disk; without a root it has kits alone.
    """
    return _workspace(project_config).resolve(name)


def list_available_tools(project_config: ProjectLike = None) -> list[Tool]:
    """Load every tool that a model would see in a project, or by a configuration as `resolve_tool` takes it."""
    workspace = _workspace(project_config)
    return [workspace.load(entry) for entry in workspace.available()]


def execute_tool(uid: str, args: JsonObject | str | bytes | None = None, *, project: ProjectLike = None) -> Outcome:
    """Run a tool of a project; see `Project.execute_tool`."""
    return _project(project).execute_tool(uid, args)


def _project(given: ProjectLike) -> Project:
    if isinstance(given, Project):
        return given
    if isinstance(given, ProjectConfig) and not given.root:
        raise errors.UsageError("a configuration without a root is not a project on disk", hint="give its directory as `root`")
    return Project(given.root if isinstance(given, ProjectConfig) else given)


def _workspace(given: ProjectLike) -> Workspace:
    return workspace_of(given) if isinstance(given, ProjectConfig) else _project(given)._workspace()
