"""The library's way to serve a project: its tools, with implementations that live in the caller's process."""

import os

from vespe.calls.registry import ToolRegistry
from vespe.mcp_server import stdio
from vespe.mcp_server.selection import Selection
from vespe.mcp_server.tools import ServedTools
from vespe.projects.workspace import open_workspace


def serve_stdio(
    project: str | os.PathLike[str] | None = None,
    *,
    registry: ToolRegistry | None = None,
    trusted: bool = False,
    selection: Selection | None = None,
) -> None:
    """Serve a project's tools to one MCP client over this process's stdin and stdout, until stdin ends.

    `project` is the directory that holds `.vespe/`, or one below it; None looks up from the working directory. `registry`
    holds in-process implementations: tools whose config.json says none run there, without a process for each call.
    `trusted=True` is the caller's word that the project may run. `selection` narrows what is shown. While this serves,
    what prints to stdout goes to stderr, and whoever reads stdin finds it empty.

    Raises ProjectNotFound, InvalidDocument, NotTrusted where nothing of the project may run, and StorageError where stdin
    or stdout is closed. KeyboardInterrupt passes through once every call has been ended.
    """
    with ServedTools(open_workspace(project), registry=registry, trusted=trusted, selection=selection) as tools:
        stdio.serve(tools)
