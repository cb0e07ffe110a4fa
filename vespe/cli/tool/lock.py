"""`vespe tool lock`: write down which files a Python tool's dependencies are, with their hashes."""

import os
from collections.abc import Iterator

import click

from vespe import defaults, errors
from vespe.calls.path import CallPath
from vespe.calls.registry import ToolRegistry
from vespe.cli import options, report
from vespe.cli.waiting import waiting
from vespe.files import atomic
from vespe.kits import store
from vespe.models import JsonObject, Tool
from vespe.projects.workspace import Workspace, open_workspace
from vespe.tool_types import type_of
from vespe.tools.python.script_lock import MAX_BYTES, SUFFIX, read_requirements
from vespe.tools.python.script_metadata import Metadata, read_metadata
from vespe.types.python_script import locking as script_locking


@click.command("lock", epilog="Example: vespe tool lock fetch_page")
@click.argument("name", required=False)
@click.option(
    "--check",
    is_flag=True,
    help="Write nothing; exit code 4 if a lock is missing or does not match its script.",
)
@options.trust_option
@options.project_option
@options.json_option
def command(
    name: str | None, check: bool, trusted: bool, project_dir: str | None, as_json: bool
) -> None:
    """Lock the dependencies of a Python tool's script, with hashes; without NAME, of every project
    tool.

    The lock file is next to the script (`main.py.lock`), in uv's format. It is created with uv if
    that is on PATH, otherwise with pip. With a lock, every machine installs exactly the same files.
    """
    workspace = open_workspace(project_dir)
    path = CallPath(
        workspace=workspace, registry=ToolRegistry(), trusted=trusted, progress=report.note
    )
    done: list[tuple[str, int, JsonObject]] = []
    for tool, script, source, metadata in _scripts(workspace, name):
        with path.approved(tool):
            place = script + SUFFIX
            if check and not os.path.lexists(place):
                raise errors.InvalidDocument(
                    "is not there", path=place, hint=f"`vespe tool lock {tool.name}` makes it"
                )
            if check:
                read_requirements(atomic.read_bytes(place, limit=MAX_BYTES), metadata, path=place)
            else:
                report.note(f"locking {', '.join(metadata.dependencies)} for {tool.name}")
                with waiting(f"locking the packages of {tool.name}"):
                    made = script_locking.lock_of(
                        source, metadata, environment=os.environ, sandbox=path.user.sandbox
                    )
                atomic.write_atomic(place, made)
                packages = len(read_requirements(made, metadata, path=place))
                done.append(
                    (
                        place,
                        packages,
                        {"tool": tool.name, "uid": tool.uid, "lock": place, "packages": packages},
                    )
                )
    if as_json:
        report.emit_json({"locked": [said for _, _, said in done]})
    for place, packages, _ in () if as_json else done:
        report.say(f"{place}: locked {report.count(packages, 'package')}")
    if not done and not as_json:
        report.say(
            "every lock matches its script"
            if check
            else "no script here declares dependencies, so there is nothing to lock"
        )


def _scripts(workspace: Workspace, name: str | None) -> Iterator[tuple[Tool, str, bytes, Metadata]]:
    """Yield the Python tools whose scripts ask for packages."""
    rows = [
        row.entry
        for row in workspace.rows()
        if row.entry.scope == defaults.PROJECT_TOOLS and row.entry.problem is None
    ]
    for tool in (
        [workspace.tool(name)]
        if name
        else [
            workspace.load(entry) for entry in rows if entry.type and type_of(entry.type).is_python
        ]
    ):
        if (
            tool.implementation is None
            or not type_of(tool.implementation.type).is_python
            or not tool.implementation.path
        ):
            raise errors.UsageError(
                f"{tool.name} is not a Python script, so it has no packages to lock"
            )
        if tool.implementation.environment == "project":
            if name:
                raise errors.UsageError(
                    f"{tool.name} runs in the project's own .venv, so its dependencies are locked "
                    "by the project"
                )
            continue
        script = os.path.join(tool.directory or "", tool.implementation.path)
        if store.owner_of(script) is not None:
            raise errors.Refused(
                f"{tool.name} belongs to an installed kit, which is pinned and cannot be changed",
                hint=f"`vespe tool copy {tool.name}` copies it into the project",
            )
        source = atomic.read_bytes(script)
        metadata = read_metadata(source, path=script)
        if metadata.dependencies:
            yield tool, script, source, metadata
