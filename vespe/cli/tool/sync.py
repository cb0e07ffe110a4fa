"""`vespe tool sync`: bring Python tools in step with their functions again."""

import os
from typing import Final

import click

from vespe.cli import options, report
from vespe.cli.tool import owner
from vespe.defaults import DESCRIPTION_FILE
from vespe.documents import strict_json
from vespe.documents.near import join_words
from vespe.errors import InvalidDocument, UsageError
from vespe.files import atomic
from vespe.lazy import difflib, shlex
from vespe.models import Tool
from vespe.schemas.explain import shorten
from vespe.tools import authoring, origins, syncing
from vespe.tools.syncing import Synced

_MOST: Final = 80
_MOST_NAMES: Final = 5


@click.command("sync", epilog="Example: vespe tool sync calc")
@click.argument("name", required=False)
@click.option(
    "--from",
    "source",
    metavar="FILE.py:function",
    help="Use this file as the tool's source from now on.",
)
@click.option("--check", is_flag=True, help="Change nothing; exit code 1 if a tool would change.")
@owner.kit_option
@options.project_option
@options.json_option
def command(
    name: str | None,
    source: str | None,
    check: bool,
    kit: str | None,
    project_dir: str | None,
    as_json: bool,
) -> int:
    """Update a Python tool from its function and show the difference; without NAME, update every
    one.

    A file that `tool create --from` copied is copied again if it has changed. The schema is derived
    from the function. The description for models is updated if it was the old docstring. What you
    added to an input by hand (a pattern, bounds, a description that the docstring lacks) is kept as
    long as the input's type does not change.
    """
    own = owner.ToolOwner(kit, project_dir)
    found = [_synced(tool, source, kit) for tool in _tools(own, name, source)]
    changed = [
        one for one in found if (one.is_behind if check else one.is_other) and not one.conflict
    ]
    for one in changed:
        if not as_json:
            _show(one)
        if not check:
            authoring.write_config(one.tool, one.document, files=one.files)
            report.say(f"updated {one.tool.name}{_new_place(one)}")
    apart = [one for one in found if one.gone or one.conflict]
    for one in apart:
        report.warn(_apart(one, kit))
    for note in (note for one in changed for note in syncing.notes_of(one)):
        report.warn(note)
    for one in found:
        if one.docstring and (one in changed or name is not None):
            report.note(_kept_description(one, kit))
    if source is None:
        for one in found:
            if one.edited:
                report.note(_edited_copy(one, kit))
    if as_json:
        report.emit_json({"tools": [_document(one) for one in changed]})
    elif not changed and not apart:
        report.say("every schema matches its function")
        _tell_of_copies(found)
    is_broken = any(one.conflict or syncing.is_in_place(one.tool) for one in apart)
    return 1 if (check and changed) or is_broken else 0


def _synced(tool: Tool, source: str | None, kit: str | None) -> Synced:
    try:
        return syncing.synced(tool, source=source)
    except InvalidDocument as error:
        if others := error.details.get("functions"):
            of = shlex.quote(f"{os.path.relpath(error.details['path'])}:{others[0]}")
            command = f"`vespe tool sync {tool.name}{_place(kit)} --from {of}`"
            error.hint = f"{error.hint}; {command} makes the tool from another function"
        raise


def _place(kit: str | None) -> str:
    return f" --kit {shlex.quote(kit)}" if kit else ""


def _tell_of_copies(found: list[Synced]) -> None:
    """Say which tools were only compared with their own file: where that came from is not known."""
    names = [one.tool.name for one in found if not syncing.has_known_source(one.tool)]
    if names:
        kept = "its own file" if len(names) == 1 else "their own files"
        report.note(f"{join_words(names, most=_MOST_NAMES)}: compared with {kept}")


def _tools(own: owner.ToolOwner, name: str | None, source: str | None) -> list[Tool]:
    if name is not None:
        return [own.load(own.find(name))]
    if source is not None:
        raise UsageError("--from goes with the NAME of one tool")
    return [tool for tool in map(own.load, own.list()) if syncing.is_synced(tool)]


def _document(one: Synced) -> dict[str, object]:
    said = {"tool": one.tool.name, "uid": one.tool.uid, "schema": one.document["schema"]}
    if _is_described_anew(one):
        said["description"] = one.document["description"]
    return said | ({"files": sorted(one.files)} if one.files else {})


def _apart(one: Synced, kit: str | None) -> str:
    """Say why a file was not taken over, and what its author can do."""
    name, place = one.tool.name, _place(kit)
    if one.gone and syncing.is_in_place(one.tool):
        return (
            f"{one.source}, which {name} runs in place, no longer exists: if it has moved, run "
            f"`vespe tool sync {name}{place} --from FILE.py:{one.source.rpartition(':')[2]}`"
        )
    if one.gone:
        return (
            f"{one.source}, which {name} was made from, no longer exists: if it has moved, run "
            f"`vespe tool sync {name}{place} --from NEW_FILE`; otherwise "
            f"`vespe tool set {name}{place} --unset {origins.KEY}` makes the copy the source"
        )
    return (
        f"{one.source} has changed, and so has the copy in {one.tool.directory}, so nothing was "
        f"copied. {_overwriting(one, kit)}"
    )


def _edited_copy(one: Synced, kit: str | None) -> str:
    """Say that a tool's copy was edited, so that it runs other code than its source."""
    return (
        f"the copy in {one.tool.directory} was edited, so {one.tool.name} does not run the code "
        f"in {one.source}. {_overwriting(one, kit)}"
    )


def _overwriting(one: Synced, kit: str | None) -> str:
    root = origins.project_of(one.tool.directory or "") or ""
    file = shlex.quote(os.path.relpath(os.path.join(root, one.source)))
    return (
        f"`vespe tool sync {one.tool.name}{_place(kit)} --from {file}` overwrites the copy, and "
        "its changes are lost"
    )


def _new_place(one: Synced) -> str:
    """Say which file the tool is made from now, if it was another."""
    before, now = (
        document.get(origins.KEY) or {} for document in (one.tool.document, one.document)
    )
    path = now.get("path") if isinstance(now, dict) else None
    is_new = isinstance(before, dict) and before.get("path") not in (None, path)
    return f", which is now made from {report.one_line(path)}" if is_new and path else ""


def _kept_description(one: Synced, kit: str | None) -> str:
    """Say that the description is not the docstring's, and how it becomes so."""
    place = _place(kit)
    name, said = one.tool.name, shorten(one.docstring, _MOST)
    is_whole = said == one.docstring and said.isprintable()
    given = shlex.quote(f"description={one.docstring}") if is_whole else "description=…"
    command = f"`vespe tool set {name}{place} {given}`"
    if not one.tool.description:
        return f"{name} has no description for models; {command} makes it the docstring's"
    kept = shorten(one.tool.description, _MOST)
    return (
        f"the description of {name} for models stays {kept!r}; the docstring now says "
        f"{said!r} ({command} changes it)"
    )


def _show(one: Synced) -> None:
    for name, data in one.files.items():
        place = os.path.join(one.tool.directory or "", name)
        before = atomic.read_bytes(place) if os.path.lexists(place) else b""
        _differ(
            before.decode("utf-8", "replace"),
            data.decode("utf-8", "replace"),
            f"{name} of {one.tool.name}",
            f"{name} (from the new schema)" if name == DESCRIPTION_FILE else one.source,
        )
    is_said_anew = _is_described_anew(one)
    old, new = (
        strict_json.dump_json(
            {"description": document.get("description", ""), "schema": document["schema"]}
            if is_said_anew
            else document["schema"]
        )
        for document in (one.tool.document, one.document)
    )
    _differ(old, new, f"{one.tool.name} (current)", f"{one.tool.name} (from its function)")


def _is_described_anew(one: Synced) -> bool:
    # a config.json need not have a description
    return bool(one.document.get("description", "") != one.tool.description)


def _differ(before: str, now: str, old: str, new: str) -> None:
    lines = difflib.unified_diff(before.splitlines(), now.splitlines(), old, new, lineterm="", n=2)
    if text := "\n".join(lines):
        report.emit(text)
