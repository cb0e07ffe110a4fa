"""`vespe prepare`: make every environment that the tools here need, so that no call installs
anything.
"""

import click

from vespe import errors
from vespe.calls import sandboxing
from vespe.calls.path import CallPath
from vespe.calls.registry import ToolRegistry
from vespe.cli import options, report
from vespe.cli.waiting import waiting
from vespe.projects.workspace import open_workspace
from vespe.records import json_of
from vespe.tool_types import type_of
from vespe.types.python_script import execution as python_script


@click.command("prepare", epilog="Example: vespe prepare")
@options.trust_option
@options.project_option
@options.json_option
def command(trusted: bool, project_dir: str | None, as_json: bool) -> int:
    """Create the environments of all available Python tools. The exit code is 1 if one cannot be
    created.
    """
    workspace = open_workspace(project_dir)
    path = CallPath(
        workspace=workspace, registry=ToolRegistry(), trusted=trusted, progress=report.note
    )
    path.check_trust()
    done, failed = [], []
    for entry in workspace.available():
        if not entry.type or not type_of(entry.type).is_python:
            continue
        try:
            tool = workspace.load(entry)
            with (
                path.approved(tool) as approved,
                waiting(f"making the environment of {tool.name}"),
                sandboxing.confine(
                    approved, path.context(approved), setting=path.user.sandbox
                ) as held,
            ):
                python = python_script.prepare(approved, held)
        except errors.VespeError as error:
            failed.append(error)
            report.error(f"{entry.name}: {error}", error.hint)
            continue
        if python is not None:
            done.append(json_of(tool, "name", "uid", "scope", name="tool") | {"python": python})
    if as_json:
        report.emit_json({"environments": done, "failed": len(failed)})
    else:
        report.say(
            f"{report.count(len(done), 'tool')} ready" + (f", {len(failed)} not" if failed else "")
        )
    return 1 if failed else 0
