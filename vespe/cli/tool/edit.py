"""`vespe tool edit`: open a project tool's files in the editor, then check them."""

import os

import click

from vespe import errors
from vespe.cli import options, report
from vespe.cli.tool import editor, owner
from vespe.defaults import CONFIG_FILE
from vespe.documents import strict_json
from vespe.models import JsonObject
from vespe.tools import authoring, directory


@click.command("edit", epilog="Example: EDITOR=nano vespe tool edit greet")
@click.argument("name")
@owner.kit_option
@options.project_option
@options.json_option
def command(name: str, kit: str | None, project_dir: str | None, as_json: bool) -> int:
    """Open a project tool's files in your editor ($VISUAL, $EDITOR), then check them. This also
    works for a broken tool. If you change config.json, the parts of description.md that Vespe wrote
    are updated.
    """
    entry = owner.ToolOwner(kit, project_dir).find(name)
    if not (os.isatty(0) and os.isatty(1)):
        raise errors.Refused("an editor needs a terminal", hint=f"the files are in {entry.path}")
    before = _config(entry.path)
    editor.edit(entry.path, name)
    _, problems = directory.check(entry.path, kit_id=entry.kit_id)
    if before is not None and not problems:
        authoring.update_page(entry.path, before)
    found = [
        f"{problem.file}{problem.pointer and ' at ' + problem.pointer}: {problem.message}"
        for problem in problems
    ]
    if as_json:
        report.emit_json({"uid": entry.uid, "path": entry.path, "problems": found})
    elif found:
        report.error(f"{entry.path} is not a tool that runs: {'; '.join(found)}", "edit it again")
    else:
        report.say(f"{entry.path} has no problems")
    return 4 if found else 0


def _config(path: str) -> JsonObject | None:
    try:
        return strict_json.read_object(os.path.join(path, CONFIG_FILE))
    except (errors.InvalidDocument, errors.StorageError):
        return None
