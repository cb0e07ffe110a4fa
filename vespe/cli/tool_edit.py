"""`vespe tool edit`: open a project tool's files in the editor, then check them."""

import os

import click

from vespe import defaults, errors, tooldir
from vespe.cli import options, report
from vespe.workspace import open_workspace, project_entry


@click.command("edit", epilog="Example: EDITOR=nano vespe tool edit greet")
@click.argument("name")
@options.project_option
@options.json_option
def command(name: str, project_dir: str | None, as_json: bool) -> int:
    """Open a project tool's files in your editor ($VISUAL, $EDITOR), then check them; a broken tool can be edited too."""
    entry = project_entry(open_workspace(project_dir), name)
    if not (os.isatty(0) and os.isatty(1)):
        raise errors.Refused("an editor needs a terminal", hint=f"the files are in {entry.path}")
    edit(entry.path)
    _, problems = tooldir.check(entry.path)
    found = [f"{problem.file}{problem.pointer and ' at ' + problem.pointer}: {problem.message}" for problem in problems]
    if as_json:
        report.emit_json({"uid": entry.uid, "path": entry.path, "problems": found})
    elif found:
        report.error(f"{entry.path} is not a tool that runs: {'; '.join(found)}", "edit it again")
    else:
        report.say(f"{entry.path} is fine")
    return 4 if found else 0


def edit(directory: str) -> None:
    """Open every file of a tool directory in the user's editor, config.json and description.md first."""
    first = {defaults.CONFIG_FILE: 0, defaults.DESCRIPTION_FILE: 1}
    names = sorted(os.listdir(directory), key=lambda name: (first.get(name, 2), name))
    paths = [path for path in (os.path.join(directory, name) for name in names) if os.path.isfile(path) and not os.path.islink(path)]
    click.edit(filename=paths)
