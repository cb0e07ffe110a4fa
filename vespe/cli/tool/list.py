"""`vespe tool list`: the tools that a model would see here; with --all every other one, and why
not.
"""

import sys
from collections.abc import Sequence

import click

from vespe import errors
from vespe.cli import options, report, tables
from vespe.cli.signature import signature
from vespe.cli.tool import listed
from vespe.projects.resolver import Row
from vespe.projects.workspace import Workspace, open_workspace
from vespe.tools import directory


@click.command("list", epilog="Example: vespe tool list --all")
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Also list shadowed, inactive and broken tools, with the reason.",
)
@click.option(
    "--kit",
    "kit_id",
    metavar="KIT",
    help="Only the tools of this kit (project_tools: only the project's own).",
)
@click.option(
    "--as-models",
    "seen",
    is_flag=True,
    help="Show the names, arguments and exposure that models see in this project.",
)
@click.option(
    "--size",
    "sized",
    is_flag=True,
    help="Show the size of each definition, in characters and tokens.",
)
@click.option(
    "--as", "shape", metavar="API", help="With --size: measure only the format of this API."
)
@options.project_option
@options.json_option
def command(
    everything: bool,
    kit_id: str | None,
    seen: bool,
    sized: bool,
    shape: str | None,
    project_dir: str | None,
    as_json: bool,
) -> None:
    """List the tools that a model would see here.

    With --size, tokens are counted if tiktoken and its data are installed (nothing is downloaded).
    Otherwise they are estimated as one token per 4 characters of the definition in compact JSON.
    """
    if shape is not None and not sized:
        raise errors.UsageError(
            "--as goes with --size",
            hint="`vespe export --as openai` prints the definitions themselves",
        )
    if seen and sized:
        raise errors.UsageError("--as-models and --size cannot be combined", hint="use one of them")
    workspace = open_workspace(project_dir)
    rows, broken = listed.listing(workspace, scope=kit_id, everything=everything)
    if kit_id is not None and not everything and not listed.is_active(workspace, kit_id):
        report.note(
            f"the kit {kit_id} is not active: `vespe kit activate {kit_id}`, "
            "or --all to see its tools"
        )
    for warning in workspace.warnings:
        report.warn(warning)
    if broken:
        report.warn(
            f"{report.count(broken, 'broken tool')} left out; `vespe tool list --all` says why"
        )
    if seen:
        _as_models(workspace, rows, as_json)
        return
    if sized:
        from vespe.cli.tool import size

        size.tell(workspace, rows, shape=shape, as_json=as_json)
        return
    if as_json:
        report.emit_json({"tools": [listed.document_of(row) for row in rows]})
        return
    if not rows and kit_id is None:
        report.note(
            "no tools here yet: `vespe kit list` shows kits to activate, "
            "`vespe tool create NAME --type python_script` makes one"
        )
    if everything:
        cells = [(*_cells(row)[:3], row.status, _why(row)) for row in rows]
        tables.show(("NAME", "SCOPE", "TYPE", "STATUS", "WHY OR WHAT"), cells)
    elif sys.stdout.isatty():
        _for_a_person(workspace, rows)
    else:
        tables.show(("NAME", "SCOPE", "TYPE", "DESCRIPTION"), [_cells(row) for row in rows])


def _as_models(workspace: Workspace, rows: Sequence[Row], as_json: bool) -> None:
    from vespe.cli.tool.seen import seen_by_models

    found, left_out = seen_by_models(workspace, rows)
    for sentence in left_out:
        report.warn(sentence)
    if as_json:
        report.emit_json({"tools": [one.to_json() for one in found]})
        return
    cells = [
        (
            one.tool.name,
            one.itself,
            signature(one.tool.input_schema),
            one.exposed,
            ", ".join(one.effects) or "-",
            one.tool.description,
        )
        for one in found
    ]
    tables.show(("NAME", "IS", "TAKES", "EXPOSED", "EFFECTS", "DESCRIPTION"), cells, one_line=True)


def _for_a_person(workspace: Workspace, rows: Sequence[Row]) -> None:
    asks, found = listed.asking(workspace), []
    for row in rows:
        tool = directory.load_judged(row.entry.path, scope=row.entry.scope, kit_id=row.entry.kit_id)
        found.append(
            (
                tool.name,
                "!" if asks(tool) else "",
                signature(tool.input_schema),
                tool.scope.replace("project_tools", "project"),
            )
        )
    tables.show(("NAME", "", "TAKES", "FROM"), found, text=2)
    if found:
        mark = ["! asks before a model runs it"] if any(cells[1] for cells in found) else []
        report.emit_sentence(
            " · ".join([report.count(len(found), "tool"), *mark, "vespe tool show NAME"])
        )


def _why(row: Row) -> str | None:
    return row.entry.problem or (
        f"shadowed by {row.shadowed_by}" if row.shadowed_by else row.entry.description
    )


def _cells(row: Row) -> tuple[str | None, ...]:
    entry = row.entry
    return (entry.name or entry.uid, entry.scope, entry.type or "-", entry.description)
