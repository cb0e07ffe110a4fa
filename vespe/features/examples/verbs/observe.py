"""`vespe tool observe`: the smallest permissions that a tool's examples pass under."""

import os

import click

from vespe import errors
from vespe.calls.log import CallLog
from vespe.calls.path import CallPath
from vespe.calls.registry import ToolRegistry
from vespe.calls.sandboxing import machine
from vespe.cli import options, report
from vespe.cli.waiting import waiting
from vespe.defaults import CONFIG_FILE
from vespe.features.examples import observing
from vespe.projects.workspace import open_workspace
from vespe.tools import authoring


@click.command("observe", epilog="Example: vespe tool observe word_count --write")
@click.argument("name")
@click.option("--write", is_flag=True, help="Write them into the tool's config.json.")
@options.trust_option
@options.project_option
@options.json_option
def command(name: str, write: bool, trusted: bool, project_dir: str | None, as_json: bool) -> int:
    """Run a tool's examples with fewer and fewer permissions, each time in a fresh directory, and
    show the minimal permissions under which they pass. Examples that need the project's files run
    in a copy of the project.

    Permissions that no example needs are not found; add them by hand. Protected places are never
    proposed.
    """
    if machine().level == "off":
        raise errors.Refused(
            "observing needs a sandbox, which this machine does not have",
            hint="`vespe doctor` shows how to get one",
        )
    workspace = open_workspace(project_dir)
    tool = workspace.tool(name)
    path = CallPath(
        workspace=workspace,
        registry=ToolRegistry(),
        trusted=trusted,
        log=CallLog(workspace.root, purpose="observe"),
    )
    with waiting(f"trying what {tool.name} needs"):
        found = observing.observe(path, tool)
    if write:
        authoring.write_config(tool, {**tool.document, "permissions": found.permissions})
    if as_json:
        said = {
            "permissions": found.permissions,
            "needed_by": found.needed_by,
            "spare": list(found.spare),
            "written": write,
        }
        report.emit_json({"tool": tool.name, "uid": tool.uid, **said})
        return 0
    report.emit(f'"permissions": {report.json_line(found.permissions)}')
    if found.in_copy:
        report.say("the examples ran in a copy of the project: they need its files")
    for key, index in found.needed_by.items():
        report.say(f"{key}: example {index} fails with less")
    for key in found.spare:
        report.say(f"note: {key} allows more than the examples need")
    if write:
        config = os.path.join(tool.directory or "", CONFIG_FILE)
        report.say(f"wrote the permissions to {os.path.relpath(config)}")
    return 0
