"""`vespe program check`: what is wrong with a program, without running any of it."""

import click

from vespe import errors
from vespe.calls.path import open_path
from vespe.cli import boundary, options, report
from vespe.features.programs.own_calls import check_code
from vespe.features.programs.verbs.programs import explain, read_code
from vespe.projects.workspace import open_workspace


@click.command("check", epilog="Example: vespe program check count_words.py")
@click.argument("file", metavar="FILE|-")
@options.project_option
@options.json_option
def command(file: str, project_dir: str | None, as_json: bool) -> int:
    """Check a program against the project's tools, without running it.

    The check finds syntax errors, unknown names, and arguments whose types do not match a tool's
    schema. The exit code is 5 if there is an error.
    """
    code = read_code(file)
    path = open_path(open_workspace(project_dir))
    try:
        checked = check_code(path, code)
    except errors.InvalidProgram as error:
        if as_json or not (problems := error.details["problems"]):
            raise
        explain(problems, file)
        return boundary.exit_code(error)
    if as_json:
        report.emit_json({"ok": True, "tools": [tool.name for tool in checked.tools.values()]})
    else:
        used = ", ".join(tool.name for tool in checked.tools.values())
        report.say(f"{file}: no problems found" + (f"; it calls {used}" if used else ""))
    return 0
