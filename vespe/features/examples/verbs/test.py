"""`vespe tool test`: the examples in config.json as tests."""

import contextlib
import gc
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

import click

from vespe import errors
from vespe.calls.log import CallLog
from vespe.calls.path import CallPath
from vespe.calls.registry import ToolRegistry
from vespe.cli import options, report
from vespe.cli.tool import owner
from vespe.cli.waiting import waiting
from vespe.features.examples import examples, tested
from vespe.features.examples.examples import ExampleResult
from vespe.features.examples.verbs import junit
from vespe.files import atomic
from vespe.models import Tool
from vespe.processes.workers import Workers
from vespe.projects.workspace import open_workspace

_GIVEN: Final = 48
"""Letters of an example's arguments that a person is shown of it."""


@click.command("test", epilog="Example: vespe tool test write_file read_file --junit results.xml")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--against",
    metavar="NAME",
    help="Run the examples of this other tool (KIT/NAME if it is shadowed) with the tested tool.",
)
@click.option(
    "--update",
    is_flag=True,
    help="Record the actual outputs in config.json where they differ or are missing, and add a "
    "first example where there is none.",
)
@click.option("--junit", "junit_file", metavar="FILE", help="Also write the results as JUnit XML.")
@click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    metavar="N",
    help="How many tools to test at the same time; default: the number of processors.",
)
@owner.kit_to_run_option
@options.trust_option
@options.project_option
@options.json_option
def command(
    names: tuple[str, ...],
    against: str | None,
    update: bool,
    junit_file: str | None,
    jobs: int | None,
    kit: str | None,
    trusted: bool,
    project_dir: str | None,
    as_json: bool,
) -> int:
    """Run the examples of tools as tests; without a name, of every available tool.

    An example states the exact `output`, an `output_schema` or `output_pattern` that the result
    must match, or the code of the `error` that the call must end with. The examples of a tool run
    one after another in the same fresh directory; different tools run at the same time. The exit
    code is 1 if an example fails.
    """
    gc.enable()  # unlike most commands, this one lives
    if update and against:
        raise errors.UsageError(
            "--update records a tool's own examples, so it cannot be used with --against"
        )
    workspace = open_workspace(owner.root_to_run_in(kit, project_dir, trusted=trusted))
    log = CallLog(workspace.root, purpose="test")
    path = CallPath(
        workspace=workspace, registry=ToolRegistry(), trusted=trusted, progress=report.note, log=log
    )
    if not against:
        for warning in workspace.warnings:
            report.warn(warning)
    tools, results = tested.chosen(workspace, names, against=against)
    tools = [examples.begun(tool) for tool in tools] if update else tools
    if not as_json:
        _show(results)
    with waiting(f"testing {report.count(len(tools), 'tool')}") as tell, Workers() as workers:
        path = replace(path, workers=workers)
        with contextlib.closing(
            examples.run_all(path, tools, jobs=jobs or os.cpu_count() or 1)
        ) as run:
            for done, (tool, found) in enumerate(zip(tools, run, strict=True), 1):
                left = _recorded(tool, found) if update else found
                results += left
                tell(f"tested {done} of {report.count(len(tools), 'tool')}")
                if not as_json:
                    _show(left, tool, before={one.index: one.problem for one in found})
    if junit_file is not None:
        atomic.write_atomic(
            junit_file, junit.junit_xml("vespe tool test", junit.cases(results)), durable=False
        )
    _summarise(tools, results, as_json=as_json)
    return 1 if any(not result.passed for result in results) else 0


def _recorded(tool: Tool, found: Sequence[ExampleResult]) -> list[ExampleResult]:
    left, said = tested.recorded(tool, found)
    if said:
        report.note(said)
    return left


def _show(
    found: Sequence[ExampleResult],
    tool: Tool | None = None,
    *,
    before: Mapping[int, str | None] = MappingProxyType({}),
) -> None:
    """Print a line for each example: its pointer for a script, its arguments and its time for a
    person. `before` has the problems by index before outputs were recorded: an example that passes
    only since then is `new`, and its line says what was recorded.
    """
    for result in found:
        problem = result.problem or before.get(result.index)
        mark = "FAIL" if result.problem else "new " if problem else "ok  "
        if sys.stdout.isatty():
            _show_styled(result, tool, mark, problem)
            continue
        said = f"{mark} {result.tool} {result.pointer}".rstrip()
        report.emit_sentence(said + (f": {problem}" if problem else ""))


def _show_styled(result: ExampleResult, tool: Tool | None, mark: str, problem: str | None) -> None:
    styled = (
        click.style(mark, fg="red", bold=True)
        if mark == "FAIL"
        else click.style(mark, fg="green" if mark == "ok  " else "yellow")
    )
    said = f"{styled} {click.style(report.one_line(result.tool), bold=True)}"
    if tool is not None and result.index >= 0:
        given = report.json_line(tool.examples[result.index].get("input", {}))
        took = click.style(f"{result.duration_ms:.0f} ms", dim=True)
        said += f" {given if len(given) <= _GIVEN else given[: _GIVEN - 1] + '…'}  {took}"
    report.emit_styled(said + (f"\n     {report.one_line(problem)}" if problem else ""))


def _summarise(tools: Sequence[Tool], results: Sequence[ExampleResult], *, as_json: bool) -> None:
    if as_json:
        report.emit_json(tested.report_of(tools, results))
        return
    failed = [result for result in results if not result.passed]
    without = [tool.name for tool in tools if not tool.examples]
    # A person who saw each result's line as it came has read why; a log of stderr alone has not.
    for result in () if sys.stdout.isatty() and sys.stderr.isatty() else failed:
        report.error(f"{result.tool} {result.why}")
    untested = f"; {len(without)} without examples: {', '.join(without)}" if without else ""
    report.note(
        f"{len(results) - len(failed)} passed, {len(failed)} failed, "
        f"{report.count(len(tools), 'tool')}{untested}"
    )
    if without and not results:
        report.next_step(
            "`vespe tool run NAME KEY=VALUE --save-example` saves a call as an example"
        )
