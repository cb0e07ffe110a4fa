"""What `vespe doctor` checks of serving: what `vespe mcp serve` shows, and what it leaves out."""

from collections.abc import Iterator
from typing import Final

from vespe import errors
from vespe.cli import report
from vespe.cli.diagnosis import Diagnosis
from vespe.features.mcp.server.selection import broken
from vespe.features.mcp.server.tools import ServedTools
from vespe.projects.workspace import open_workspace


def _served(project_dir: str | None) -> Iterator[Diagnosis]:
    """What `vespe mcp serve` shows, and what it leaves out beside the broken tools, which have been
    named.
    """
    try:
        workspace = open_workspace(project_dir)
        tools = ServedTools(workspace)
    except errors.ProjectNotFound:
        return
    except errors.NotTrusted:
        yield Diagnosis(
            about="mcp",
            state="warning",
            message="`vespe mcp serve` serves nothing until the project is trusted",
        )
        return
    yield Diagnosis(
        about="mcp",
        state="ok",
        message=f"`vespe mcp serve` shows {report.count(len(tools.names), 'tool')}",
    )
    named = {broken(row) for row in workspace.ordered_rows() if row.status == "broken"}
    yield from (
        Diagnosis(about="mcp", state="warning", message=said)
        for said in tools.left_out
        if said not in named
    )


CHECKS: Final = (_served,)
"""The checks, in the order in which they are shown."""
