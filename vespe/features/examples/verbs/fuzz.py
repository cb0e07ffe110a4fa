"""`vespe tool fuzz`: run a tool with generated arguments, to find what breaks it."""

import gc
import random
from dataclasses import replace

import click

from vespe.calls.log import CallLog
from vespe.calls.path import CallPath
from vespe.calls.registry import ToolRegistry
from vespe.cli import options, report
from vespe.cli.tool import owner
from vespe.cli.waiting import waiting
from vespe.features.examples import examples, fuzzing
from vespe.features.examples.fuzzing import Fuzzed
from vespe.models import Call, JsonObject, Tool
from vespe.processes.workers import Workers
from vespe.projects.workspace import open_workspace
from vespe.records import json_of


@click.command("fuzz", epilog="Example: vespe tool fuzz read_file --seconds 20 --seed 1")
@click.argument("name")
@click.option(
    "--seconds",
    type=click.FloatRange(0.1, 86_400),
    default=10.0,
    metavar="S",
    help="How long to run; default: 10.",
)
@click.option(
    "--seed",
    type=int,
    metavar="N",
    help="Make the calls of an earlier run in the same order, as far as the time allows; default: "
    "a new seed, which is printed.",
)
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(0.01, 86_400),
    metavar="S",
    help="Calls that take longer count as hanging; default: the tool's time limit.",
)
@owner.kit_to_run_option
@options.yes_option
@options.trust_option
@options.project_option
@options.json_option
def command(
    name: str,
    seconds: float,
    seed: int | None,
    timeout_s: float | None,
    kit: str | None,
    yes: bool,
    trusted: bool,
    project_dir: str | None,
    as_json: bool,
) -> int:
    """Run a tool with arguments generated from its input schema, to find failures. Each finding has
    a command that reproduces it.

    Findings are crashes, calls that hang, results that violate the output schema or are too large,
    tracebacks in results, and a tool that fails with the same error for all arguments. The calls
    are real and run in one empty directory. A tool that reaches other machines or is marked as
    destructive needs your approval first. The exit code is 1 if there are findings.
    """
    gc.enable()  # unlike most commands, this one lives
    workspace = open_workspace(owner.root_to_run_in(kit, project_dir, trusted=trusted))
    tool = workspace.tool(name)
    if examples.acts_outside(tool):
        options.confirm(
            f"Call {tool.name}, which may change other machines or destroy data, many times?",
            yes=yes,
        )
    seed = random.SystemRandom().getrandbits(32) if seed is None else seed
    log = CallLog(workspace.root, purpose="fuzz")
    path = CallPath(
        workspace=workspace, registry=ToolRegistry(), trusted=trusted, progress=report.note, log=log
    )
    with (
        waiting(f"trying {tool.name} with generated arguments"),
        examples.staged(path, tool) as directory,
        Workers() as workers,
    ):
        at = replace(path, directory=directory, workers=workers)
        found = fuzzing.fuzz(
            tool,
            lambda arguments: at.run_tool(
                tool, Call(tool=tool.uid, arguments=arguments, timeout_s=timeout_s)
            ),
            seconds=seconds,
            seed=seed,
        )
    if as_json:
        report.emit_json(document_of(tool, found))
    else:
        for finding in found.findings:
            report.emit(f"{finding.kind}: {finding.message}\n  {finding.command}")
        report.note(
            f"{report.count(len(found.findings), 'finding')} in "
            f"{report.count(found.calls, 'call')}, {found.seconds:.1f} s; --seed {found.seed} "
            "makes the same calls in the same order, as far as the time allows"
        )
    return 1 if found.findings else 0


def document_of(tool: Tool, found: Fuzzed) -> JsonObject:
    """Return what was found as `tool fuzz --json` prints it."""
    shown = json_of(found) | {"seconds": round(found.seconds, 3)}
    return {"tool": tool.name, "uid": tool.uid} | shown
