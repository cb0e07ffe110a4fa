"""`vespe inspect`: serve a project's pages to the browser that opens the link."""

import click

from vespe import errors
from vespe.cli import options, report
from vespe.features.inspector import gate
from vespe.projects.workspace import open_workspace


@click.command("inspect", epilog="Example: vespe inspect talk.json")
@click.argument(
    "recordings", nargs=-1, metavar="[RECORDING]...", type=click.Path(exists=True, dir_okay=False)
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=0,
    metavar="N",
    help="The port on 127.0.0.1; default: a free one.",
)
@options.project_option
def command(recordings: tuple[str, ...], port: int, project_dir: str | None) -> None:
    """Open the project in a browser: its tools, whether they can run, their sizes, and their calls.

    A RECORDING is a file written by `vespe agent run --record`. The printed link works once. Only
    the browser that opened it can see the pages. Ctrl-C stops the inspector.
    """
    workspace = open_workspace(project_dir)
    try:
        import vespe.features.inspector.rendering  # noqa: F401  # a missing extra is reported before the server starts
        from vespe.http import server
    except ImportError as error:
        raise errors.MissingExtra(
            "the inspector", extra="inspect", module=error.name or "jinja2"
        ) from None
    listener = server.bind("127.0.0.1", port)
    authority, secrets = f"127.0.0.1:{listener.getsockname()[1]}", gate.Secrets()
    report.say(f"Open this link in your browser: http://{authority}/{secrets.link}")
    report.note(
        "the link works once, and only that browser can see the project; Ctrl-C stops the inspector"
    )
    from vespe.calls.path import open_path  # who has the link connects meanwhile
    from vespe.features.inspector.inspected import Inspected
    from vespe.features.inspector.site import Site

    site = Site(Inspected(open_path(workspace), recordings), secrets)
    server.serve(gate.Gate(site, authority, secrets), listener, life=site, tell=report.warn)
