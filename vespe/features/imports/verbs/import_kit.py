"""`vespe kit import`: a description of an API, a manual, a directory of tools or a skill as a
kit.
"""

import os
from typing import Any

import click

from vespe.cli import kit_facts, options, report, tables
from vespe.cli.waiting import waiting
from vespe.errors import Refused
from vespe.features.imports import recognition, told, writing
from vespe.features.imports.made import Imported, Selection
from vespe.features.imports.writing import Written
from vespe.files import locations
from vespe.kits import compared_versions, edited, roots
from vespe.kits.private_files import find_private

_MOST_TOLD = 20
_DEAR = 10_000
"""Tokens of definitions above which an import says how to have fewer of them in each request."""


@click.command("import", epilog="Example: vespe kit import openapi.yaml --id pets --tag pet")
@click.argument("source", metavar="SOURCE")
@click.option("--id", "kit_id", metavar="KIT", help="The id of the new kit.")
@click.option(
    "--kind",
    metavar="KIND",
    help=f"The format of SOURCE: {', '.join(recognition.KINDS)}; detected by default.",
)
@click.option(
    "--tag",
    "tags",
    multiple=True,
    metavar="TAG",
    help="Import only operations with this tag; repeatable.",
)
@click.option(
    "--path",
    "paths",
    multiple=True,
    metavar="GLOB",
    help="Import only matching paths, such as '/repos/*'; repeatable.",
)
@click.option(
    "--max",
    "most",
    type=click.IntRange(min=1),
    metavar="N",
    help="Import at most N tools, the first ones.",
)
@click.option(
    "--into",
    "parent",
    metavar="DIR",
    help="Where to create the kit; default: your own kits directory.",
)
@click.option("--server", metavar="URL", help="The URL of the API; default: the one in SOURCE.")
@click.option(
    "--fetch",
    is_flag=True,
    help="Also fetch the URLs that SOURCE refers to.",
)
@click.option(
    "--update",
    is_flag=True,
    help="Update the kit of an earlier import, after showing what changes. Without --into, this is "
    "the kit that your projects find, such as a linked one.",
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
    """Create a kit from SOURCE, for example with one tool for each operation of an OpenAPI document
    (2.0 to 3.2, JSON or YAML).

    SOURCE is a file, a directory or a URL. References in it are only followed within its own
    directory, and only the URL that you name is fetched. Operations that cannot be imported are
    listed with the reason. The same source always produces the same bytes.
    """
    kit_id = recognition.checked_id(kit_id, source, kind=said["kind"])
    target = _target(kit_id, parent, update=update)
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
            fetch=told.fetch,
            follow=said["fetch"],
        )
        made = writing.written(imported, kit_id)
    changes: list[compared_versions.Comparison] = []
    with writing.staged(made, os.path.dirname(target)) as path:
        if update:
            changes = compared_versions.compare(target, path)
            _show_changes([] if as_json else changes)
        else:
            writing.place(path, target)
    changed = _update(made, target, changes, yes=yes) if update else len(made.files)
    _warn_of_private(made)
    if as_json:
        report.emit_json(told.report_of(imported, made, target=target, changes=changes))
    else:
        _tell(imported, made, target, changed=changed if update else None)


def _target(kit_id: str, parent: str | None, *, update: bool) -> str:
    """Return the directory of the kit. An update without a place is of the kit that projects find,
    such as a linked one.
    """
    if parent:
        return os.path.join(os.path.abspath(parent), kit_id)
    found = edited.found_directory(kit_id) if update else None
    return found or os.path.join(locations.user_data_dir(), roots.KITS_DIR, kit_id)


def _warn_of_private(made: Written) -> None:
    """Tell of files that were copied although their author may not have meant to give them away."""
    files = {path: file.data for path, file in made.files.items()}
    # Each tool has a copy of its own, which is told once.
    found = {
        path.partition("/")[2] if path.partition("/")[0] in made.tools else path: why
        for path, why in find_private(files)
    }
    for path, why in list(found.items())[:_MOST_TOLD]:
        report.warn(
            f"{report.one_line(path)} {why}: it was copied into the kit, and everyone who gets the "
            "kit can read it"
        )
    if (more := len(found) - _MOST_TOLD) > 0:
        report.warn(f"{report.count(more, 'file')} more like these were copied")


def _update(
    made: Written, target: str, changes: list[compared_versions.Comparison], *, yes: bool
) -> int:
    if changes:
        try:
            what = report.count(len(changes), "tool")
            options.confirm(f"Change {what}?", yes=yes, listed=True)
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


def _tell(imported: Imported, made: Written, target: str, *, changed: int | None) -> None:
    done = (
        "made the kit"
        if changed is None
        else "updated the kit"
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
            f"  {report.count(noted, 'difference')} from the source in "
            f"{report.count(len(made.notes), 'tool')}:"
        )
        report.say('  see "Differences from the source" in each description.md, or --json')
    if imported.unselected:
        report.say(f"  {report.count(imported.unselected, 'operation')} not selected")
    if made.tools:
        _tell_cost(made)
    if hidden := kit_facts.hidden(made.kit_id, target):
        report.warn(hidden)
    else:
        report.next_step(told.next_step(made.kit_id, target))


def _tell_cost(made: Written) -> None:
    size = told.size(made)
    report.say(f"  the definitions cost a model about {size.tokens:,} tokens in each request")
    if size.tokens > _DEAR:
        tags = told.tokens_by_tag(made)
        if len(tags) > 1:
            report.say("  by tag: " + ", ".join(f"{tag} {tokens:,}" for tag, tokens in tags))
        report.say(
            "  take a part: --tag TAG, --path GLOB or --max N; or let models search: "
            f"vespe tool expose '{made.kit_id}/*' --search"
        )
