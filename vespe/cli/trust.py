"""`vespe trust`: show every command, URL and script that a project would run, then approve exactly
that.
"""

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import click

from vespe import defaults
from vespe.cli import options, report, review_words, tool_review
from vespe.documents.near import join_words
from vespe.lazy import tempfile
from vespe.projects import project
from vespe.projects.workspace import find_root
from vespe.records import json_of
from vespe.trust import approvals, gate, review
from vespe.trust.review import Review, ToolReview

if TYPE_CHECKING:
    from vespe.kits.changes import ToolChange


@click.command("trust", epilog="Example: vespe trust")
@click.option(
    "--develop",
    is_flag=True,
    help="Trust the directory instead of its current files, so that later changes need no new "
    "approval.",
)
@options.yes_option
@options.project_option
@options.json_option
def command(develop: bool, yes: bool, project_dir: str | None, as_json: bool) -> None:
    """Show every command, URL and script that this project would run, then ask for your approval.
    The first review also shows the code.

    The approval covers the files under .vespe/tools in this directory and the active kits. It is
    revoked when a file there is changed, added, removed or renamed, when a file's mode changes, or
    when a kit is added.
    """
    shown = review.review(project.read_config(find_root(project_dir)))
    is_trusted = bool(shown.approved) and not (develop and shown.approved != "place")
    if is_trusted:
        report.say(f"{shown.root} is trusted already")
    if not (is_trusted and yes):
        asks = shown.new or not is_trusted
        _show(shown, paged=not yes, then="Vespe then asks for your approval." if asks else "")
    elif shown.new:
        tool_review.show_lines([*_lines_of_new(shown), ""])
    if is_trusted:
        if shown.new and (yes or options.interactive()):
            options.confirm(
                "Have you reviewed the new files, and do you want to keep them?", yes=yes
            )
            review.note_reviewed(shown)
            report.say("noted: Vespe will not warn about it again")
    else:
        _ask(shown, _question(shown, develop=develop), yes=yes)
        review.approve(shown, develop=develop)
        review.note_reviewed(shown)
        report.say(f"approved {_approved(shown)}")
    if as_json:
        tools = [tool_review.document_of(tool) for tool in shown.tools]
        report.emit_json(
            {
                "path": shown.root,
                "digest": shown.digest,
                "scopes": list(shown.scopes),
                "tools": tools,
                "new": [json_of(one.new) | {"text": one.text} for one in shown.new],
            }
        )


def _approved(shown: Review) -> str:
    """Say what an approval is of: tools, secrets and kits, by their names."""
    tools = sorted(tool.name or tool.uid for tool in shown.tools)
    kits = [
        name
        for name in shown.scopes
        if name != defaults.PROJECT_TOOLS and not name.startswith(gate.VIEW)
    ]
    parts = [
        f"{report.count(len(names), what)} ({join_words(names)})"
        for what, names in (("tool", tools), ("secret", shown.secrets), ("kit", kits))
        if names
    ]
    return report.one_line(f"{shown.root}: {', '.join(parts) or 'no tool yet'}")


def _is_first(shown: Review) -> bool:
    return shown.former.approval is None and not shown.approved


def _ask(shown: Review, question: str, *, yes: bool) -> None:
    """Ask for the approval. Before they answer, people can look at single files, unless they have
    approved the same elsewhere.
    """
    files = [
        f"{tool.uid}/{path}"
        for tool in _in_order(shown)
        for path in tool.files
        if f"{tool.uid}/{path}" in shown.texts
    ]
    offered = [] if shown.former.same_at else files
    tool_review.confirm(question, offered, lambda path: shown.texts[path], yes=yes)


def _in_order(shown: Review) -> list[ToolReview]:
    """Return the tools as the project lists them: first those that its `tools` name, in that order,
    then the others by name.
    """
    named = [pattern.rpartition("/")[2] for pattern in shown.views]
    return sorted(
        shown.tools,
        key=lambda tool: (
            next(
                (at for at, one in enumerate(named) if fnmatchcase(tool.name or "", one)),
                len(named),
            ),
            tool.name or tool.uid,
        ),
    )


def _question(shown: Review, *, develop: bool) -> str:
    if develop:
        return "Trust this directory, even if its contents change?"
    return "Approve the same here too?" if shown.former.same_at else "Approve exactly this?"


def _show(shown: Review, *, paged: bool, then: str) -> None:
    """Print the whole review, inert and untruncated: it is what the question is about. What was
    approved already takes one line. `then` says what comes after it, to those who see it in a
    pager.
    """
    root, former = report.one_line(shown.root), shown.former.approval
    lines = [
        f"{root} can run the following with your permissions:"
        if shown.tools
        else f"{root} has no tools of its own yet"
    ]
    differing = _differing(shown)
    changes = changed_tools(shown)
    # Whoever is asked for the first time reads the code here; a script is told where it is.
    with_code = _is_first(shown) and paged and options.interactive()
    for tool in _in_order(shown):
        if tool.uid in differing or former is None:
            lines.append(tool_review.text_of(tool, place=tool.directory))
            lines += tool_review.lines_of_code(tool, shown.texts) if with_code else []
            lines += (
                tool_review.lines_of_change(changes.pop(tool.uid)) if tool.uid in changes else []
            )
    for change in changes.values():
        lines += tool_review.lines_of_change(change)
    if former and (
        same := [tool.name or tool.uid for tool in shown.tools if tool.uid not in differing]
    ):
        where = f"approved in {shown.former.same_at}" if shown.former.same_at else "approved before"
        lines.append(
            f"\n{report.count(len(same), 'tool')}, "
            f"the same as you {report.one_line(f'{where}: ' + ', '.join(same))}"
        )
    places = [name for name in shown.scopes if not name.startswith(gate.VIEW)]
    lines.append(f"\nnames are looked up in this order: {report.one_line(', '.join(places))}")
    lines += [
        report.one_line(f"{gate.VIEW}{review_words.view(name.removeprefix(gate.VIEW))}")
        for name in shown.scopes
        if name not in places
    ]
    lines += [f"\nbelongs to no tool: {report.one_line(path)}" for path in shown.others]
    lines += [
        f"\ncannot be approved: {report.one_line(path)} ({why})" for path, why in shown.odd.items()
    ]
    if shown.former.changes:
        lines += [
            "\nSince the last approval:",
            *(f"  {report.one_line(change)}" for change in shown.former.changes),
        ]
    tool_review.show_lines([*lines, *_lines_of_new(shown), ""], paged=paged, then=then)


def _lines_of_new(shown: Review) -> Iterator[str]:
    """Say what is new that other programs take commands from, with the text of each."""
    if shown.new:
        yield "\nNew in this project, and other programs take commands from it:"
    for one in shown.new:
        by = f", left by a call of {one.new.tool!r}, {one.new.when}" if one.new.tool else ""
        yield report.one_line(f"  {one.new.path}{by}")
        yield from (f"    | {report.one_line(line)}" for line in one.text.expandtabs().splitlines())


def changed_tools(shown: Review) -> "dict[str, ToolChange]":
    """Return what became of each tool, by its uid, since its text was approved; {} where nothing
    was, or the texts were not kept.
    """
    former, uids = shown.former.approval, _differing(shown)
    if former is None or not uids or not (texts := approvals.texts_of(former)):
        return {}
    from vespe.kits import changes

    with tempfile.TemporaryDirectory(prefix="vespe-") as scratch:
        old, new = (os.path.join(scratch, side) for side in ("approved", "now"))
        for side, found in ((old, texts), (new, shown.texts)):
            for path in (path for path in found if path.partition("/")[0] in uids):
                os.makedirs(os.path.dirname(os.path.join(side, path)), exist_ok=True)
                with open(os.path.join(side, path), "w", encoding="utf-8", newline="") as file:
                    file.write(found[path])
        compared = changes.compare("", old=(old, former.files or {}), new=(new, shown.files))
        return {change.uid: change for change in compared.tools}


def _differing(shown: Review) -> set[str]:
    """Return the uids of the tools of which a file is not as it was approved, or cannot be vouched
    for.
    """
    before = shown.former.approval.files or {} if shown.former.approval else {}
    paths = {
        path
        for path in before.keys() | shown.files.keys()
        if before.get(path) != shown.files.get(path)
    } | shown.odd.keys()
    return {path.partition("/")[0] for path in paths}
