"""`vespe tool list`: the tools that a model would see here; with --all every other one, and why
not.
"""

import sys
from collections.abc import Callable, Collection, Sequence

import click

from vespe import errors
from vespe.cli import options, report, tables
from vespe.cli.signature import signature
from vespe.documents.near import near
from vespe.models import JsonObject, Tool
from vespe.projects.resolver import Row
from vespe.projects.workspace import Workspace, open_workspace
from vespe.records import json_of
from vespe.tools import directory


@click.command("list", epilog="Example: vespe tool list --all")
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Shadowed, inactive and broken tools too, with the reason.",
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
    help="As models see them: the names, arguments and exposure that this project gives.",
)
@click.option(
    "--size",
    "sized",
    is_flag=True,
    help="What each definition costs a model, in characters and tokens.",
)
@click.option("--as", "shape", metavar="API", help="With --size: in the shape of this API only.")
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

    With --size, tokens are counted where tiktoken is installed and has its data (nothing is ever
    fetched), else estimated at one for every 4 characters of the definition as compact JSON.
    """
    if shape is not None and not sized:
        raise errors.UsageError(
            "--as goes with --size",
            hint="`vespe export --as openai` prints the definitions themselves",
        )
    workspace = open_workspace(project_dir)
    if kit_id is not None:
        _know(workspace, kit_id, everything)
    found = workspace.rows() if everything else workspace.ordered_rows()
    rows = [
        row
        for row in found
        if kit_id in (None, row.entry.scope) and (everything or row.status == "available")
    ]
    for warning in workspace.warnings:
        report.warn(warning)
    if not everything and (broken := sum(row.status == "broken" for row in found)):
        report.warn(
            f"{report.count(broken, 'broken tool')} left out; `vespe tool list --all` says why"
        )
    if seen:
        _as_models(workspace, [row for row in rows if row.status == "available"], as_json)
        return
    if sized:
        from vespe.cli.tool import size

        size.tell(workspace, rows, shape=shape, as_json=as_json)
        return
    if as_json:
        report.emit_json({"tools": [document_of(row) for row in rows]})
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
    """Print the tools as `tools` of the project's config.json shows them to models, `never` exposed
    ones left out.
    """
    shown = workspace.shown([workspace.load(row.entry) for row in rows])
    for sentence in shown.left_out:
        report.warn(sentence)
    view = workspace.view
    found = [(tool, view.exposure(tool.itself) or "-") for tool in shown.tools.values()]
    from vespe.calls.policy_rules import users_own_hosts

    own_hosts = users_own_hosts()
    if as_json:
        report.emit_json({"tools": [_seen(tool, exposed, own_hosts) for tool, exposed in found]})
        return
    from vespe.tools.effects import effects_of

    cells = [
        (
            tool.name,
            _behind(tool),
            signature(tool.input_schema),
            exposed,
            ", ".join(effects_of(tool, own_hosts=own_hosts)) or "-",
            tool.description,
        )
        for tool, exposed in found
    ]
    tables.show(("NAME", "IS", "TAKES", "EXPOSED", "EFFECTS", "DESCRIPTION"), cells, one_line=True)


def _behind(tool: Tool) -> str:
    return f"{tool.scope}/{tool.itself.name}"


def _seen(tool: Tool, exposed: str, own_hosts: Collection[str]) -> JsonObject:
    from vespe.tools.effects import effects_of

    preset = tool.behind.preset if tool.behind else {}
    hidden = sorted(tool.behind.hidden) if tool.behind else []
    known: JsonObject = {
        "name": tool.name,
        "is": _behind(tool),
        "uid": tool.uid,
        "description": tool.description,
    }
    known |= {"effects": effects_of(tool, own_hosts=own_hosts)}
    return known | {
        "input_schema": tool.input_schema,
        "preset": preset,
        "hidden": hidden,
        "expose": None if exposed == "-" else exposed,
    }


def _for_a_person(workspace: Workspace, rows: Sequence[Row]) -> None:
    asks, found = _asking(workspace), []
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
        report.emit(" · ".join([report.count(len(found), "tool"), *mark, "vespe tool show NAME"]))


def _asking(workspace: Workspace) -> Callable[[Tool], bool]:
    """Return a function that says whether a model's call of a tool needs a person's approval
    here.
    """
    from vespe.calls.path import CallPath
    from vespe.calls.policy import policy_of
    from vespe.calls.registry import ToolRegistry

    policy = policy_of(CallPath(workspace=workspace, registry=ToolRegistry()))
    return lambda tool: bool(policy.why_not(tool, {}))


def document_of(row: Row) -> JsonObject:
    """Return a row as `tool list --json` prints it."""
    return (
        json_of(row.entry, "name", "uid", "scope", "kit_id", "type", "description")
        | json_of(row, "status", "shadowed_by")
        | {"problem": row.entry.problem}
    )


def _know(workspace: Workspace, scope: str, everything: bool) -> None:
    """Raise KitNotFound for a scope that does not exist, and say where one is not active why
    nothing is listed.
    """
    names = [known.name for known in workspace.scopes]
    if scope not in names:
        raise errors.KitNotFound(scope, close=near(scope, names))
    if (
        not everything
        and not next(known for known in workspace.scopes if known.name == scope).active
    ):
        report.note(
            f"the kit {scope} is not active: `vespe kit activate {scope}`, "
            "or --all to see its tools"
        )


def _why(row: Row) -> str | None:
    return row.entry.problem or (
        f"shadowed by {row.shadowed_by}" if row.shadowed_by else row.entry.description
    )


def _cells(row: Row) -> tuple[str | None, ...]:
    entry = row.entry
    return (entry.name or entry.uid, entry.scope, entry.type or "-", entry.description)
