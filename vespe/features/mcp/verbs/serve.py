"""`vespe mcp serve`: show the project's tools to every MCP client."""

import contextlib
import gc
import os
from typing import Final

import click
from click.core import ParameterSource

from vespe import errors
from vespe.adapters.modes import MODES
from vespe.cli import options, report
from vespe.features.mcp.server import stdio
from vespe.features.mcp.server.calls_in_flight import MAX_CALLS
from vespe.features.mcp.server.selection import ASKS, Selection
from vespe.features.mcp.server.tools import ServedTools
from vespe.features.mcp.verbs import http as mcp_http
from vespe.projects.workspace import open_workspace

_WITH_REPLAY: Final = frozenset(("replay", "address", "token_file", "no_token", "allow_remote"))
"""The options that go together with --replay."""


@click.command("serve", epilog="Example: vespe mcp serve --kit file_io_without_git --read-only")
@click.option(
    "--kit",
    "kits",
    multiple=True,
    metavar="KIT",
    help="Serve only tools of this kit (project_tools: the project's own); repeatable.",
)
@click.option(
    "--tool", "names", multiple=True, metavar="NAME", help="Serve only this tool; repeatable."
)
@click.option(
    "--read-only", is_flag=True, help="Serve only tools with the annotation readOnlyHint: true."
)
@click.option(
    "--tools-mode",
    "mode",
    type=click.Choice(MODES),
    default="auto",
    show_default=True,
    help="all: list every tool; bridge: list search_tools, describe_tool, call_tool and the "
    "tools that are always exposed; code: list search_tools, describe_tool and run_code, "
    "which runs programs that call the tools; native: list every tool and mark those "
    "that are always exposed, for clients that search themselves; auto: all, unless the "
    "tools exceed the project's tool_budget.",
)
@click.option(
    "--ask",
    type=click.Choice(ASKS),
    default="client",
    show_default=True,
    help="What to do with calls that need your approval. client: ask through clients that "
    "support elicitation, and deny them for other clients; deny: deny them; allow: run "
    "them.",
)
@click.option(
    "--results",
    type=click.Choice(["whole", "bounded"]),
    default="whole",
    show_default=True,
    help="whole: never cut the structured content of tools with an output schema, because "
    "clients validate it; bounded: declare no output schemas and cut structured content "
    "like text, for clients that show it to their model.",
)
@click.option(
    "--max-calls",
    type=click.IntRange(1, 256),
    metavar="N",
    default=MAX_CALLS,
    show_default=True,
    help="The maximum number of parallel calls.",
)
@click.option(
    "--log-arguments",
    is_flag=True,
    help="Write the arguments of calls to the log, not only their digest.",
)
@click.option(
    "--kit-dir",
    metavar="DIR",
    type=click.Path(file_okay=False, exists=True),
    help="Serve only the kit in DIR, without a project. Its tools start in the working "
    "directory. For plugins and bundles.",
)
@click.option(
    "--replay",
    metavar="FILE",
    help="Answer only from a recording of `vespe mcp wrap --record`, without a project.",
)
@mcp_http.http_options
@options.trust_option
@options.project_option
def command(
    http: mcp_http.HttpSettings | None,
    kits: tuple[str, ...],
    names: tuple[str, ...],
    read_only: bool,
    mode: str,
    ask: str,
    results: str,
    max_calls: int,
    log_arguments: bool,
    kit_dir: str | None,
    replay: str | None,
    trusted: bool,
    project_dir: str | None,
) -> int:
    """Serve the project's tools over the Model Context Protocol: to one client over stdin and
    stdout, or over HTTP.

    The server offers all available tools of a trusted project, except those that your configuration
    denies. Tools that are left out, and the reasons, are printed on stderr. Changes on disk are
    passed on to the client. The server ends when stdin closes, at Ctrl-C and at SIGTERM, together
    with all processes of its tools.
    """
    if replay is not None:
        return _replay(replay, http)
    selection = Selection(
        kits=kits, names=names, read_only=read_only, ask=ask, mode=mode, results=results
    )
    directory = None
    if kit_dir is not None:
        if project_dir is not None:
            raise errors.UsageError(
                "--kit-dir serves a kit without a project", hint="leave out --project"
            )
        from vespe.projects.kit_project import project_of_kit  # 4 ms that few servers need

        project_dir, directory = project_of_kit(kit_dir), os.getcwd()
    workspace = open_workspace(project_dir)
    with ServedTools(
        workspace,
        trusted=trusted,
        selection=selection,
        keep_arguments=log_arguments,
        directory=directory,
    ) as tools:
        _serve(tools, http, max_calls=max_calls)
    return 0


def _replay(path: str, http: mcp_http.HttpSettings | None) -> int:
    """Serve a recording; raises UsageError for options that are about a project's tools."""
    context = click.get_current_context()
    given = [
        name
        for name in context.params
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    ]
    if not _WITH_REPLAY.issuperset(given):
        raise errors.UsageError(
            "--replay serves a recording, over stdin and stdout or --http",
            hint="leave out the options for a project's tools",
        )
    from vespe.features.mcp.recordings import server_recording  # few servers need it

    recording = server_recording.read(path)
    if http is None:
        from vespe.features.mcp.recordings import replay

        replay.serve(recording, warn=_warn)
        return 0
    with mcp_http.listening(http) as (listener, policy):
        from vespe.features.mcp.recordings import http_replay

        http_replay.serve(recording, listener, policy, warn=_warn)
    return 0


def _serve(tools: ServedTools, http: mcp_http.HttpSettings | None, *, max_calls: int) -> None:
    gc.freeze()
    gc.enable()  # unlike a command, a server lives
    for sentence in (*tools.warnings, *tools.left_out):
        _warn(sentence)
    if http is not None:
        return mcp_http.serve(tools, http, max_calls=max_calls)
    if os.isatty(0):
        report.note(
            f"serving {report.count(len(tools.names), 'tool')} over stdin and stdout, "
            "for an MCP client to start; Ctrl-D ends it"
        )
    return stdio.serve(tools, max_calls=max_calls, warn=_warn)


def _warn(sentence: str) -> None:
    """Warn whoever reads stderr: a client that closed it still wants to be served."""
    with contextlib.suppress(OSError):
        report.warn(sentence)
