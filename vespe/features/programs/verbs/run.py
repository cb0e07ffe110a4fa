"""`vespe program run`: check a program over the project's tools, and run it."""

from dataclasses import replace

import click

from vespe.calls.path import open_path
from vespe.cli import boundary, options, outcomes, questions, report
from vespe.cli.waiting import waiting
from vespe.defaults import MAX_TIMEOUT_S
from vespe.features.programs.own_calls import run_code
from vespe.features.programs.running import MAX_CALLS, TIMEOUT_S
from vespe.features.programs.verbs.programs import explain, read_code
from vespe.models import Outcome
from vespe.projects.workspace import open_workspace


@click.command("run", epilog="Example: vespe program run count_words.py")
@click.argument("file", metavar="FILE|-")
@click.option(
    "--timeout",
    type=click.FloatRange(0, MAX_TIMEOUT_S, min_open=True),
    metavar="SECONDS",
    default=TIMEOUT_S,
    show_default=True,
    help="The time limit of the program, including its calls.",
)
@click.option(
    "--max-calls",
    type=click.IntRange(0),
    metavar="N",
    default=MAX_CALLS,
    show_default=True,
    help="The maximum number of calls.",
)
@click.option(
    "--log-arguments",
    is_flag=True,
    help="Write the program and the arguments of its calls to the log, not only their digests.",
)
@options.trust_option
@options.project_option
@options.json_option
def command(
    file: str,
    timeout: float,
    max_calls: int,
    log_arguments: bool,
    trusted: bool,
    project_dir: str | None,
    as_json: bool,
) -> int:
    """Check a Python program whose functions are the project's tools, then run it.

    The value of the last expression is printed to stdout, and the program's own output to stderr.
    If the check finds an error, nothing runs and the exit code is 5. The program itself has no
    access to files or the network. Its calls count as your own, like those of `vespe tool run`.
    """
    code = read_code(file)
    workspace = open_workspace(project_dir)
    for warning in workspace.warnings:
        report.warn(warning)
    path = open_path(workspace, trusted=trusted, keep_arguments=log_arguments)
    path = replace(path, progress=report.note, asker=questions.asker())
    with waiting("running the program"):
        outcome = run_code(path, code, timeout_s=timeout, max_calls=max_calls)
    return _answer(outcome, file, as_json=as_json)


def _answer(outcome: Outcome, file: str, *, as_json: bool) -> int:
    if as_json:
        report.emit_json(outcome.to_dict())
    else:
        if outcome.logs:
            report.say(outcome.logs.removesuffix("\n"))
        for note in outcome.notes:
            report.warn(note)
        if outcome.error is None:
            report.emit_result(outcome.result)
        elif problems := outcome.error.details.get("problems"):
            explain(problems, file)
        else:
            hint = "raise the limit with --max-calls" if outcome.error.code == "max_calls" else ""
            report.error(outcome.error.message, outcome.error.hint or hint)
        if outcome.output_file:
            report.note(f"{outcomes.kept(outcome)} is in {outcome.output_file}")
    return boundary.CODES.get(outcome.error.code, boundary.EXIT_FAILED) if outcome.error else 0
