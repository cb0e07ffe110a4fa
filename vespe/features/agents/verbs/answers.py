"""`vespe agent answers`: the answers on calls that hold for this project, listed or forgotten."""

import click

from vespe import errors
from vespe.calls import policy_answers
from vespe.cli import options, report, tables
from vespe.projects.workspace import find_root
from vespe.records import json_of


@click.command("answers", epilog="Example: vespe agent answers --forget write_file")
@click.option(
    "--forget",
    metavar="TOOL",
    help="Forget the answers for this tool, so that you are asked again.",
)
@click.option("--forget-all", is_flag=True, help="Forget all answers for this project.")
@options.project_option
@options.json_option
def command(forget: str | None, forget_all: bool, project_dir: str | None, as_json: bool) -> None:
    """List your approvals and denials for this project.

    An approval of a tool applies until the tool's files change. A denial applies until you forget
    it.
    """
    root = find_root(project_dir)
    gone = policy_answers.forget(root, forget) if forget is not None or forget_all else ()
    if forget is not None and not gone:
        raise errors.NotFound(
            f"no answer is stored for {forget!r} here", hint="`vespe agent answers` lists them"
        )
    kept = policy_answers.load(root)
    if as_json:
        report.emit_json({"answers": [json_of(one, "tool", "allowed", "rule") for one in kept]})
        return
    if gone:
        report.say(f"forgot {report.count(len(gone), 'answer')}")
    elif not kept:
        report.note("no answers are stored for this project")
    if not gone:
        tables.show(
            ("TOOL", "ANSWER", "RULE"),
            [(one.tool, "allowed" if one.allowed else "denied", one.rule or "-") for one in kept],
        )
