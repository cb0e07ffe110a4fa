"""`vespe init`: make a directory a project."""

import click

from vespe.cli import options, report
from vespe.lazy import shlex
from vespe.projects.init import found_project


@click.command("init", epilog="Example: vespe init")
@click.argument("directory", default=".", metavar="[DIR]", type=click.Path(file_okay=False))
@options.json_option
def command(directory: str, as_json: bool) -> None:
    """Make DIR (default: this directory) a project.

    A new project is yours, so it is trusted. If DIR already contains .vespe/, nothing changes and
    nothing is approved.
    """
    founded = found_project(directory)
    where = "this directory" if directory == "." else directory
    if as_json:
        report.emit_json({"path": founded.root, "made": founded.made})
    elif founded.made:
        report.say(f"made .vespe/ in {where}; it is yours, so it is trusted")
        enter = "" if directory == "." else f"`cd {shlex.quote(directory)}`; then "
        report.next_step(
            f"{enter}`vespe kit list` shows kits to activate, "
            "`vespe tool create NAME --type python_script` makes a tool"
        )
    else:
        report.say(f"there is a project in {where} already; nothing changed")
