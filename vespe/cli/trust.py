"""`vespe trust`: show every command, URL and script that a project would run, then approve exactly that."""

import click

from vespe.cli import options, report, tool_review
from vespe.projects import project
from vespe.projects.workspace import find_root
from vespe.trust import review
from vespe.trust.review import Review


@click.command("trust", epilog="Example: vespe trust")
@click.option("--develop", is_flag=True, help="Trust the place and not the bytes: any later change is fine too.")
@options.yes_option
@options.project_option
@options.json_option
def command(develop: bool, yes: bool, project_dir: str | None, as_json: bool) -> None:
    """Show every command, URL and script that this project would run, then ask for your approval.

    The approval is of the bytes under .vespe/tools in this place, and of the active kits: a changed, added, renamed or
    re-moded file and one more kit revoke it.
    """
    shown = review.review(project.read_config(find_root(project_dir)))
    _show(shown)
    if shown.approved and not (develop and shown.approved != "place"):
        report.say(f"{shown.root} is trusted already")
    else:
        options.confirmed(_question(shown, develop=develop), yes=yes)
        review.approve(shown, develop=develop)
        report.say(f"approved {shown.root}")
    if as_json:
        tools = [tool_review.document_of(tool) for tool in shown.tools]
        report.emit_json({"path": shown.root, "digest": shown.digest, "scopes": list(shown.scopes), "tools": tools})


def _question(shown: Review, *, develop: bool) -> str:
    if develop:
        return "Approve this place, even if its contents change?"
    return "Approve the same here too?" if shown.former.same_at else "Approve exactly this?"


def _show(shown: Review) -> None:
    """Print the whole review on stderr, inert and untruncated: it is what the question is about."""
    root = report.one_line(shown.root)
    report.say(f"{root} would run, with your rights:" if shown.tools else f"{root} has no tools of its own yet")
    if shown.former.same_at:
        report.say(f"\n{report.count(len(shown.tools), 'tool')}, the same as you approved in {report.one_line(shown.former.same_at)}")
        report.say(f"  {report.one_line(', '.join(tool.name or tool.uid for tool in shown.tools))}")
    for tool in shown.tools if not shown.former.same_at else ():
        tool_review.show(tool)
    report.say(f"\ntools are taken from, in this order: {report.one_line(', '.join(shown.scopes))}")
    for path in shown.others:
        report.say(f"\nbelongs to no tool: {report.one_line(path)}")
    for path, why in shown.odd.items():
        report.say(f"\ncannot be approved: {report.one_line(path)} ({why})")
    if shown.former.changes:
        report.say("\nSince the last approval:")
        for change in shown.former.changes:
            report.say(f"  {report.one_line(change)}")
    report.say("")
