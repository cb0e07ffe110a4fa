"""`vespe tool build`: compile the source of tools to the modules that run."""

import os
import shlex
from collections.abc import Sequence

import click

from vespe import defaults
from vespe.cli import options, report
from vespe.cli.tool import owner
from vespe.cli.waiting import waiting
from vespe.files import atomic
from vespe.models import Tool
from vespe.projects.workspace import open_workspace, project_entry
from vespe.tool_types import type_of
from vespe.tools import building, built
from vespe.trust import gate


@click.command("build", epilog="Example: vespe tool build word_count")
@click.argument("name", required=False)
@owner.kit_option
@click.option(
    "--compiler",
    metavar="COMMAND",
    default="",
    help='The compiler to use, with optional arguments: "rustc -C linker=lld".',
)
@click.option(
    "--check", is_flag=True, help="Write nothing; exit code 1 if the module would change."
)
@options.project_option
@options.trust_option
@options.json_option
def command(
    name: str | None,
    kit: str | None,
    compiler: str,
    check: bool,
    project_dir: str | None,
    trusted: bool,
    as_json: bool,
) -> int:
    """Compile a tool's source (Rust or C) to a WebAssembly module and record the digests of both in
    build.json; without NAME, compile every tool.

    The module is what runs and what you commit. Users of the tool need no compiler.
    """
    tools = _of_kit(kit, name) if kit else _of_project(project_dir, name, trusted=trusted)
    rows, differ = [], 0
    for tool in tools:
        with waiting(f"compiling {tool.name}"):
            made = building.build(tool, compiler=shlex.split(compiler))
        if made.said and not as_json:
            report.note(made.said)
        path = os.path.join(tool.directory or "", made.path)
        same = os.path.isfile(path) and next(iter(made.record["module"].values())) == _digest(path)
        differ += not same
        if not check:
            building.write(tool, made)
        rows.append(
            {
                "tool": tool.name,
                "uid": tool.uid,
                "path": path,
                "bytes": len(made.module),
                "same": same,
                **made.record,
            }
        )
        if not as_json:
            report.say(
                f"{tool.name}: {_told(same, check=check)}, "
                f"{len(made.module)} bytes ({made.record['compiler']})"
            )
    if as_json:
        report.emit_json({"tools": rows})
    elif not tools:
        report.say("there is no tool here whose source is compiled")
    return 1 if check and differ else 0


def _told(same: bool, *, check: bool) -> str:
    if same:
        return "the module is up to date with its source"
    return "the module differs from what its source compiles to" if check else "compiled"


def _digest(path: str) -> str:
    return built.digest_of(atomic.read_bytes(path, limit=built.MAX_MODULE_BYTES))


def _of_kit(kit: str, name: str | None) -> Sequence[Tool]:
    own = owner.ToolOwner(kit, None)
    entries = own.list() if name is None else [own.find(name)]
    return _chosen([own.load(entry) for entry in entries], name)


def _of_project(project_dir: str | None, name: str | None, *, trusted: bool) -> Sequence[Tool]:
    """Return tools of the project that may run: a build runs what a Cargo.toml names, so that it
    asks for no less.
    """
    workspace = open_workspace(project_dir)
    if name is None:
        rows = [
            row.entry
            for row in workspace.rows()
            if row.entry.scope == defaults.PROJECT_TOOLS and row.entry.problem is None
        ]
        entries = [entry for entry in rows if entry.type and type_of(entry.type).compiled]
    else:
        entries = [project_entry(workspace, name)]
    tools = _chosen([workspace.load(entry) for entry in entries], name)
    for tool in tools:
        gate.check(workspace.config, tool.directory, environ=os.environ, trusted=trusted)
    return tools


def _chosen(tools: Sequence[Tool], name: str | None) -> Sequence[Tool]:
    """Return those that have a source; one that was named is asked for whatever it is."""
    return [
        tool
        for tool in tools
        if name is not None or built.source_of(tool.document.get("implementation_details", {}))
    ]
