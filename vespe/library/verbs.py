"""The library's verbs as functions: each takes the project however the caller has it."""

import os
from typing import TYPE_CHECKING, TypeAlias, Unpack

from vespe.errors import UsageError
from vespe.library.project import Project
from vespe.models import JsonObject, Outcome, ProjectConfig, Resolution, Tool

if TYPE_CHECKING:
    from vespe.library.new_tools import ToolDraft

ProjectLike: TypeAlias = Project | ProjectConfig | str | os.PathLike[str] | None
"""A project however the caller has it: itself, a configuration, its directory, or None for the one
that is found from here.
"""


def create_tool(
    name: str,
    schema: JsonObject | None = None,
    implementation_details: JsonObject | None = None,
    *,
    project: ProjectLike = None,
    **draft: "Unpack[ToolDraft]",
) -> Tool:
    """Create a tool in a project; see `Project.create_tool`.

    ```python
    from vespe import Project, create_tool

    project = Project.init(".")
    create_tool("words", type="python_script", project=project)
    assert project.call("words", text="one two").unwrap()["words"] == 2
    ```
    """
    return _on_disk(project).create_tool(name, schema, implementation_details, **draft)


def load_tool(uid: str, *, project: ProjectLike = None) -> Tool:
    """Load a tool by its uid; see `Project.load_tool`.

    ```python
    from vespe import ProjectConfig, load_tool

    config = ProjectConfig(active_kits=("file_io_without_git",))
    assert load_tool("read_file", project=config).input_schema["required"] == ["path"]
    ```
    """
    return project_of(project).load_tool(uid)


def resolve_tool(project_config: ProjectLike, name: str) -> Resolution:
    """Return which tool a name resolves to in a project, or with a configuration; see
    `Project.resolve_tool`.

    ```python
    from vespe import ProjectConfig, resolve_tool

    config = ProjectConfig(active_kits=("git_and_programs",))
    assert resolve_tool(config, "git_log").entry.kit_id == "git_and_programs"
    ```
    """
    return project_of(project_config).resolve_tool(name)


def list_available_tools(project_config: ProjectLike = None) -> list[Tool]:
    """Load all available tools of a project, or of a configuration; see `Project.list_tools`.

    ```python
    from vespe import ProjectConfig, list_available_tools

    config = ProjectConfig(active_kits=("file_io_without_git",))
    assert "read_file" in [tool.name for tool in list_available_tools(config)]
    ```
    """
    return project_of(project_config).list_available_tools()


def execute_tool(
    uid: str, args: JsonObject | str | bytes | None = None, *, project: ProjectLike = None
) -> Outcome:
    """Run a tool of a project; see `Project.execute_tool`. Raises UsageError for a configuration
    without a root.

    ```python
    from vespe import Project, execute_tool

    project = Project.init(".")
    project.create_tool("lines", type="python_script")
    assert execute_tool("lines", {"text": "one"}, project=project).unwrap()["words"] == 1
    ```
    """
    return _on_disk(project).execute_tool(uid, args)


def project_of(given: ProjectLike) -> Project:
    """Return the project that is meant."""
    return given if isinstance(given, Project) else Project(given)


def _on_disk(given: ProjectLike) -> Project:
    if isinstance(given, ProjectConfig) and not given.root:
        raise UsageError(
            "this configuration has no root directory, so it is not a project on disk",
            hint="pass its directory as `root`",
        )
    return project_of(given)
