"""`vespe mcp serve`: show the project's tools to every MCP client."""

import click

from vespe.cli import mcp_http, options
from vespe.serve.stdio import serve_stdio
from vespe.serve.tools import ServedTools
from vespe.workspace import open_workspace


@click.command("serve", epilog="Example: vespe mcp serve")
@mcp_http.http_options
@options.trust_option
@options.project_option
def command(http: mcp_http.HttpSettings | None, trusted: bool, project_dir: str | None) -> int:
    """Serve the project's tools over stdin and stdout."""
    tools = ServedTools(open_workspace(project_dir), trusted=trusted)
    if http is not None:
        mcp_http.serve(tools, http)
        return 0
    serve_stdio(tools)
    return 0
