"""The library's ways to serve a project: its tools, with implementations that live in the caller's
process.
"""

import logging
import os
import re
from typing import Final

from vespe import errors
from vespe.calls.registry import ToolRegistry
from vespe.features.mcp.server import stdio
from vespe.features.mcp.server.selection import Selection
from vespe.features.mcp.server.tools import ServedTools
from vespe.library.project import Project
from vespe.projects.workspace import open_workspace

_ADDRESS: Final = re.compile(r"(127\.0\.0\.1|localhost|\[::1\]):([0-9]{1,5})")


def serve_stdio(
    project: Project | str | os.PathLike[str] | None = None,
    *,
    registry: ToolRegistry | None = None,
    trusted: bool = False,
    selection: Selection | None = None,
) -> None:
    """Serve a project's tools to one MCP client over this process's stdin and stdout, until stdin
    ends.

    `project` is a Project, the directory that contains `.vespe/`, or one below it. None searches
    from the working directory upwards. Functions that are registered with a Project are served too.
    If `project` is a path or None, `registry` contains the in-process implementations; they
    implement tools whose config.json names no implementation, without a process for each call. With
    `trusted=True` the caller vouches for the project. `selection` limits which tools are served.
    While the server runs, prints to stdout go to stderr, and stdin is empty for other code.

    Raises ProjectNotFound, InvalidDocument, NotTrusted if the project is not trusted, and
    StorageError if stdin or stdout is closed. KeyboardInterrupt is raised after all calls have been
    stopped.

    ```python
    import json, subprocess, sys

    program = \"""
    from vespe import Project, serve_stdio

    project = Project.init(".")
    project.register(lambda n: 2 * n, name="twice")
    serve_stdio(project)
    \"""
    call = {"name": "twice", "arguments": {"n": 21}}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    said = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps(asked),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert '"text":"42"' in said.stdout
    ```
    """
    with _served(project, registry, trusted, selection) as tools:
        stdio.serve(tools)


def serve_http(
    project: Project | str | os.PathLike[str] | None = None,
    *,
    address: str = "127.0.0.1:8000",
    token: str | None,
    registry: ToolRegistry | None = None,
    trusted: bool = False,
    selection: Selection | None = None,
) -> None:
    """Serve a project's tools to MCP clients over Streamable HTTP, at `http://ADDRESS/mcp`, until a
    signal ends it.

    Like `serve_stdio`, for many clients. `address` is HOST:PORT on this machine (127.0.0.1,
    localhost or [::1]). Clients send `token` as `Authorization: Bearer TOKEN`; with None, every
    program on this machine can call the tools. Internal failures are logged to the logger `vespe`.
    Needs the extra `vespe[mcp]`; raises MissingExtra without it.

    Raises UsageError for another address, StorageError if the address is in use, and the errors of
    `serve_stdio`.
    """
    found = _ADDRESS.fullmatch(address)
    if found is None or int(found[2]) > 65_535:
        raise errors.UsageError(
            f"serve_http only listens on HOST:PORT of this machine, not {address!r}",
            hint="127.0.0.1:8000",
        )
    try:
        from vespe.features.mcp.server import http_gate, http_server
        from vespe.http import server
    except ImportError as error:
        raise errors.MissingExtra(
            "serving over HTTP", extra="mcp", module=error.name or "mcp"
        ) from None
    with _served(project, registry, trusted, selection) as tools:
        listener = server.bind(found[1].strip("[]"), int(found[2]))
        http_server.serve_http(
            tools,
            listener,
            http_gate.AccessPolicy(token=token),
            tell=logging.getLogger("vespe").error,
        )


def _served(
    project: Project | str | os.PathLike[str] | None,
    registry: ToolRegistry | None,
    trusted: bool,
    selection: Selection | None,
) -> ServedTools:
    if not isinstance(project, Project):
        return ServedTools(
            open_workspace(project), registry=registry, trusted=trusted, selection=selection
        )
    if registry is not None:
        raise errors.UsageError(
            "a Project has its own registry",
            hint="pass one of the two, or `Project(path, registry=registry)`",
        )
    path = project.call_path()
    if path.live is None:
        raise errors.UsageError(
            "a Project whose configuration is not on disk cannot be served",
            hint="pass a project's directory",
        )
    return ServedTools(
        path.workspace,
        registry=project.registry,
        trusted=trusted or path.trusted,
        selection=selection,
    )
