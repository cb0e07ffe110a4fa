"""`vespe mcp serve`: show the project's tools to every MCP client."""

import click

from vespe.cli import options
from vespe.serve.stdio import serve_stdio
from vespe.serve.tools import ServedTools
from vespe.workspace import open_workspace


@click.command("serve", epilog="Example: vespe mcp serve")
@options.trust_option
@options.project_option
def command(trusted: bool, project_dir: str | None) -> int:
    """Serve the project's tools over stdin and stdout."""
    serve_stdio(ServedTools(open_workspace(project_dir), trusted=trusted))
    return 0
