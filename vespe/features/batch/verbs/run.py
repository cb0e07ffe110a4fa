"""`vespe batch`: one tool, many inputs, one line of output for each."""

import os
import sys
import time
from dataclasses import replace
from itertools import islice
from typing import Final

import click

from vespe import errors
from vespe.calls.path import open_path
from vespe.cli import options, report
from vespe.defaults import MAX_TIMEOUT_S
from vespe.documents import strict_json
from vespe.features.batch import engines
from vespe.features.batch.items import ItemOutcome, is_repeatable
from vespe.features.batch.local import Plan
from vespe.features.batch.outcomes_file import OutcomesFile
from vespe.features.batch.verbs import inputs as batch_inputs
from vespe.features.batch.verbs.inputs import Inputs
from vespe.lazy import shlex
from vespe.projects.workspace import open_workspace

_EVERY_S: Final = 10.0
_EVERY_ON_A_TERMINAL_S: Final = 0.2


@click.command(
    "batch", epilog="Example: vespe batch get_forecast cities.csv -o forecasts.jsonl --jobs 8"
)
@click.argument("tool_name", metavar="TOOL")
@click.argument("source", metavar="[IN.jsonl|IN.csv|-]", default="-")
@click.option(
    "-o", "--output", metavar="OUT.jsonl", help="Write the outcomes to this file; default: stdout."
)
@click.option(
    "--on",
    "engine",
    metavar="ENGINE",
    default="local",
    help="local, dask[://HOST:PORT] or ray[://HOST:PORT]; default: local.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="The number of parallel calls; default: one per core.",
)
@click.option(
    "--id",
    "id_field",
    metavar="FIELD",
    help="The field of each input that is its id, not an argument; default: the line number.",
)
@click.option(
    "--retries",
    type=click.IntRange(0, 100),
    metavar="N",
    default=0,
    help="How often to retry a failed call, if the tool is read-only or idempotent.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="Continue an interrupted batch: inputs that already have a line in the output are "
    "skipped.",
)
@click.option(
    "--insecure",
    is_flag=True,
    help="Use a cluster on other machines that does not authenticate its users, without asking.",
)
@click.option("--ordered", is_flag=True, help="Write the outcomes in the order of the inputs.")
@click.option(
    "--limit", type=click.IntRange(1), metavar="N", help="Process only the first N inputs."
)
@click.option(
    "--csv",
    "is_csv",
    is_flag=True,
    default=None,
    help="Read the input as CSV even if its name does not end in .csv.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, MAX_TIMEOUT_S, min_open=True),
    metavar="S",
    help="The time limit of each call.",
)
@options.trust_option
@options.project_option
def command(
    tool_name: str,
    source: str,
    output: str | None,
    engine: str,
    jobs: int | None,
    id_field: str | None,
    retries: int,
    resume: bool,
    insecure: bool,
    ordered: bool,
    limit: int | None,
    is_csv: bool | None,
    timeout: float | None,
    trusted: bool,
    project_dir: str | None,
) -> int:
    """Call one tool with many inputs, and write one line of output for each.

    The input is JSON lines, with one object of arguments per line, or CSV with the arguments' names
    in the first line. CSV values are converted to the types in the tool's schema. A line of output
    is {"id", "ok", "result" or "error", "duration_ms"}. An invalid input produces a line with an
    error and does not end the batch. The exit code is 1 if a call failed.
    """
    if resume and output is None:
        raise errors.UsageError("--resume continues a file", hint="name it with -o OUT.jsonl")
    _confirm_cluster(engine, insecure=insecure)
    workspace = open_workspace(project_dir)
    path = replace(open_path(workspace, trusted=trusted), progress=report.note)
    tool = path.tool(tool_name)
    path.check_trust()
    if retries and not is_repeatable(tool):
        report.warn(
            f"--retries has no effect here: {tool.name} is neither read-only nor idempotent"
        )
    plan = Plan(jobs=jobs or 0, ordered=ordered, retries=retries, timeout_s=timeout)
    with batch_inputs.open_inputs(source, tool, id_field=id_field, is_csv=is_csv) as inputs:
        progress = Progress(inputs, limit)
        batch = engines.Batch(engine, islice(inputs.items(), limit), tool, path, plan)
        if output is None:
            _print(batch, progress)
        else:
            _refuse_way_out(output, workspace.root)
            _write(batch, output, resume, progress)
    progress.end()
    return 1 if progress.failed or progress.failed_before else 0


def _confirm_cluster(engine: str, *, insecure: bool) -> None:
    """Ask before the inputs go to a cluster that anybody may use; raises Refused."""
    if insecure or not engines.is_open(engine):
        return
    risk = (
        f"{engine} is not encrypted and does not authenticate its users: anyone who can reach it "
        "can read the inputs and run code as the users of its workers"
    )
    if not options.interactive():
        raise errors.Refused(
            f"{risk}; there is no terminal to confirm this",
            hint="use it anyway with --insecure; docs/batches.md explains how to secure a cluster",
        )
    report.say(risk)
    options.confirm("use it?", yes=False)


def _print(batch: engines.Batch, progress: "Progress") -> None:
    for outcome in engines.run_on(batch.engine, batch.items, batch.tool, batch.path, batch.plan):
        report.emit(strict_json.compact_json(outcome.to_line()))
        progress.tell(outcome)


def _refuse_way_out(output: str, root: str) -> None:
    """Raise Refused where a name in the project leads out of it: a link that came with the project
    chooses another file of the user's.
    """
    top, place = os.path.realpath(root), os.path.abspath(output)
    for base in (os.path.join(os.path.abspath(root), ""), os.path.join(top, "")):
        real = os.path.realpath(place)
        if place.startswith(base) and os.path.commonpath((real, top)) != top:
            raise errors.Refused(
                f"{output} leads out of the project, to {real}, and Vespe does not write through "
                "links",
                hint=f"name the target itself: -o {shlex.quote(real)}",
            )


def _write(batch: engines.Batch, output: str, resume: bool, progress: "Progress") -> None:
    with OutcomesFile(output, resume=resume, journal=not is_repeatable(batch.tool)) as file:
        progress.failed_before, progress.done_before = file.failed, file.done
        try:
            for outcome in batch.run_to(file):
                progress.tell(outcome)
        except KeyboardInterrupt:
            progress.end()
            report.note(
                f"the finished calls are in {output}; continue with the same command and --resume"
            )
            raise


class Progress:
    """Tells on stderr how far a batch is: a line that is written anew on a terminal, else one every
    ten seconds.
    """

    def __init__(self, inputs: Inputs, limit: int | None = None) -> None:
        self._inputs, self._limit = inputs, limit
        self._started = self._told = time.monotonic()
        self._on_terminal = sys.stderr.isatty()
        self.done = self.failed = self.done_before = self.failed_before = 0

    def tell(self, outcome: ItemOutcome) -> None:
        """Count an outcome, and say so if it is time."""
        self.done += 1
        self.failed += not outcome.outcome.ok
        now = time.monotonic()
        if now - self._told >= (_EVERY_ON_A_TERMINAL_S if self._on_terminal else _EVERY_S):
            self._told = now
            self._say(self._line(now - self._started))

    def end(self) -> None:
        """Say the last figures."""
        line = self._line(time.monotonic() - self._started, ended=True)
        report.say(line) if self._on_terminal else report.note(line)

    def _line(self, seconds: float, *, ended: bool = False) -> str:
        rate = self.done / seconds if seconds else 0.0
        left = "" if ended else self._left(rate)
        failed = f", {self.failed:,} failed" if self.failed else ""
        failed += f", {self.failed_before:,} failed before" if self.failed_before and ended else ""
        return f"{self.done:,} done{failed}, {rate:,.0f}/s{left}" + (
            f", {_clock(seconds)}" if ended else ""
        )

    def _left(self, rate: float) -> str:
        """What is to be done yet. What was read is more than what was done: calls are under way."""
        total = self._inputs.total
        if self._limit is not None:
            total = min(total, self._limit) if total else 0
        if not total or not rate:
            return ", of a number that is not known"
        done = self.done_before + self.done
        return f", {min(done / total, 1):.0%}, {_clock(max(total - done, 0) / rate)} left"

    def _say(self, line: str) -> None:
        report.progress.show(line) if self._on_terminal else report.note(line)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
