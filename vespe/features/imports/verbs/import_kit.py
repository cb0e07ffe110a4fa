"""`vespe kit import`: a description of an API, a manual, a directory of tools or a skill as a
kit.
"""

import os
from typing import Any

import click

from vespe.adapters import SHAPES, cost
from vespe.cli import options, report, tables
from vespe.cli.waiting import waiting
from vespe.documents.near import suggest
from vespe.errors import Refused, UsageError, VespeError
from vespe.features.imports import recognition, writing
from vespe.features.imports.made import Fetch, Imported, Selection
from vespe.features.imports.openapi.documents import MAX_BYTES
from vespe.features.imports.writing import Written
from vespe.files import locations
from vespe.http import client
from vespe.kits import compared_versions, roots
from vespe.lazy import shlex
from vespe.models import JsonObject, Tool
from vespe.projects import user_config

_DEAR = 10_000
"""Tokens of definitions above which an import says how to have fewer of them in each request."""
_FETCH_S = 60.0


@click.command("import", epilog="Example: vespe kit import openapi.yaml --id pets --tag pet")
@click.argument("source", metavar="SOURCE")
@click.option("--id", "kit_id", metavar="KIT", help="The id of the kit that is made.")
@click.option(
    "--kind",
    metavar="KIND",
    help=f"What SOURCE is: {', '.join(recognition.KINDS)}; default: found by looking.",
)
@click.option(
    "--tag",
    "tags",
    multiple=True,
    metavar="TAG",
    help="Take the operations with this tag alone; may be repeated.",
)
@click.option(
    "--path",
    "paths",
    multiple=True,
    metavar="GLOB",
    help="Take the paths that fit, such as '/repos/*'; may be repeated.",
)
@click.option(
    "--max",
    "most",
    type=click.IntRange(min=1),
    metavar="N",
    help="Take at most so many tools, the first ones.",
)
@click.option(
    "--into",
    "parent",
    metavar="DIR",
    help="Where to make the kit; default: your own kits directory.",
)
@click.option(
    "--server", metavar="URL", help="Where the API is, in place of what the description says."
)
@click.option(
    "--fetch",
    is_flag=True,
    help="Let the description's references lead to addresses, and fetch those.",
)
@click.option(
    "--update",
    is_flag=True,
    help="Bring a kit of an earlier import up to date, after showing what changes.",
)
@options.yes_option
@options.json_option
def command(
    source: str,
    kit_id: str | None,
    parent: str | None,
    update: bool,
    yes: bool,
    as_json: bool,
    **said: Any,
) -> None:
    """Make a kit of what SOURCE describes: a tool for each operation of an OpenAPI document (2.0 to
    3.2, JSON or YAML).

    SOURCE is a file, a directory or an address. Nothing it refers to is read outside its own
    directory, and nothing is fetched but what you name; what could not be taken over is listed with
    the reason. The same source makes the same bytes.
    """
    if said["kind"] is not None and said["kind"] not in recognition.KINDS:
        hint = (
            suggest(said["kind"], recognition.KINDS)
            or f"choose one of {', '.join(recognition.KINDS)}"
        )
        raise UsageError(f"there is no kind of import called {said['kind']!r}", hint=hint)
    if kit_id is None:
        if said["kind"] == "mcp-json":
            raise recognition.servers_of(source)
        raise UsageError(
            "say what the kit is to be called",
            hint=f"vespe kit import {shlex.quote(source)} --id NAME",
        )
    parent = (
        os.path.abspath(parent)
        if parent
        else os.path.join(locations.user_data_dir(), roots.KITS_DIR)
    )
    target = os.path.join(parent, kit_id)
    writing.check_target(target, update=update)
    selection = Selection(
        tags=said["tags"], paths=said["paths"], most=said["most"], server=said["server"]
    )
    with waiting(f"reading {source}"):
        imported = recognition.import_from(
            source,
            kit_id=kit_id,
            kind=said["kind"],
            selection=selection,
            fetch=_fetch(),
            follow=said["fetch"],
        )
        made = writing.written(imported, kit_id)
    changes: list[compared_versions.Comparison] = []
    with writing.staged(made, parent) as path:
        if update:
            changes = compared_versions.compare(target, path)
            _show_changes([] if as_json else changes)
        else:
            writing.place(path, target)
    changed = _update(made, target, changes, yes=yes) if update else len(made.files)
    if as_json:
        report.emit_json(_document(imported, made, target, changes))
    else:
        _tell(imported, made, target, changed=changed if update else None)


def _update(
    made: Written, target: str, changes: list[compared_versions.Comparison], *, yes: bool
) -> int:
    if changes:
        try:
            options.confirm(f"Change {report.count(len(changes), 'tool')}?", yes=yes)
        except Refused as error:
            error.details["changes"] = [one.to_json() for one in changes]
            raise
    return writing.bring_up_to_date(made, target)


def _show_changes(changes: list[compared_versions.Comparison]) -> None:
    rows = [
        (one.verdict, change.tool, one.part, one.pointer or "/", one.message)
        for change in changes
        for one in change.changes
    ]
    if rows:
        tables.show(("VERDICT", "TOOL", "PART", "WHERE", "WHY"), rows)


def _fetch() -> Fetch:
    def fetch(address: str) -> bytes:
        request = client.Request(
            method="GET",
            url=address,
            headers=(("Accept", "application/json, application/yaml, */*"),),
        )
        allowed = user_config.load_user_config().allow_hosts
        answer = client.exchange(
            request,
            timeout_s=_FETCH_S,
            max_bytes=MAX_BYTES,
            allow_hosts=allowed,
            redirects=client.MAX_REDIRECTS,
        )
        if answer.status != 200:
            raise UsageError(f"{address} answered with status {answer.status}")
        return answer.body

    return fetch


def _document(
    imported: Imported, made: Written, target: str, changes: list[compared_versions.Comparison]
) -> JsonObject:
    return {
        "kit_id": made.kit_id,
        "path": target,
        "kind": imported.kind,
        "tools": [
            {
                "uid": uid,
                "name": tool["name"],
                "from": tool[writing.MARK]["from"],
                "notes": list(made.notes.get(str(tool["name"]), ())),
            }
            for uid, tool in made.tools.items()
        ],
        "left_out": [{"from": one.what, "reason": one.reason} for one in made.left_out],
        "not_selected": imported.unselected,
        "notes": list(imported.notes),
        "hosts": list(imported.hosts),
        "secrets": sorted(
            {name for tool in made.tools.values() for name in tool.get("secrets", ())}
        ),
        "tokens": _size(made).to_json(),
        "changes": [one.to_json() for one in changes],
    }


def _size(made: Written) -> cost.Size:
    """Measure the definitions as a request to OpenAI holds them, all at once."""
    return cost.total(
        cost.size_of(SHAPES["openai"].definition(_tool(tool))) for tool in made.tools.values()
    )


def _tool(document: JsonObject) -> Tool:
    return Tool(
        uid=document["uid"],
        name=document["name"],
        description=document.get("description", ""),
        input_schema=document["schema"]["input"],
    )


def _tell(imported: Imported, made: Written, target: str, *, changed: int | None) -> None:
    done = (
        "made the kit"
        if changed is None
        else "brought up to date the kit"
        if changed
        else "nothing changed in the kit"
    )
    report.say(f"{done} {made.kit_id} with {report.count(len(made.tools), 'tool')} in {target}")
    for note in imported.notes:
        report.say(f"  {report.one_line(note)}")
    for one in made.left_out:
        report.warn(report.one_line(f"{one.what} is left out: {one.reason}"))
    noted = sum(map(len, made.notes.values()))
    if noted:
        report.say(
            f"  {report.count(noted, 'note')} on {report.count(len(made.notes), 'tool')}: "
            "what was not taken over as it is said,"
        )
        report.say('  in each description.md under "Not as its source says", and in --json')
    if imported.unselected:
        report.say(f"  {report.count(imported.unselected, 'operation')} not selected")
    if made.tools:
        _tell_cost(made)
    report.next_step(_next(made.kit_id, target))


def _next(kit_id: str, target: str) -> str:
    """Say what makes the kit available; one that was made elsewhere than among the user's own is
    not found by its id.
    """
    activate = f"`vespe kit activate {kit_id}` makes it available in a project"
    try:
        is_found = os.path.realpath(roots.find_kit(kit_id).path) == os.path.realpath(target)
    except VespeError:
        is_found = False
    link = f"`vespe kit link {shlex.quote(os.path.relpath(target))}` makes your projects find it"
    return activate if is_found else f"{link}, then {activate}"


def _tell_cost(made: Written) -> None:
    size = _size(made)
    report.say(f"  all of them cost a model about {size.tokens:,} tokens in each request")
    if size.tokens > _DEAR:
        tags: dict[str, int] = {}
        for tool in made.tools.values():
            for tag in tool.get("tags", ())[:1]:
                tags[tag] = (
                    tags.get(tag, 0) + cost.size_of(SHAPES["openai"].definition(_tool(tool))).tokens
                )
        if len(tags) > 1:
            dearest = sorted(tags.items(), key=lambda one: -one[1])
            report.say("  by tag: " + ", ".join(f"{tag} {tokens:,}" for tag, tokens in dearest))
        report.say(
            "  take a part: --tag TAG, --path GLOB or --max N; or let models search: "
            f"vespe tool expose '{made.kit_id}/*' --search"
        )
