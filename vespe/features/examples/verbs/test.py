"""`vespe tool test`: the examples in config.json as tests."""

import contextlib
import gc
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import click

from vespe import errors
from vespe.calls.log import CallLog
from vespe.calls.path import CallPath
from vespe.calls.registry import ToolRegistry
from vespe.cli import options, report
from vespe.cli.waiting import waiting
from vespe.documents import strict_json
from vespe.features.examples import examples
from vespe.features.examples.examples import ExampleResult
from vespe.features.examples.verbs import junit
from vespe.files import atomic
from vespe.models import JsonObject, Tool
from vespe.processes.workers import Workers
from vespe.projects.workspace import Workspace, open_workspace

_GIVEN: Final = 48
"""Letters of an example's arguments that a person is shown of it."""


@click.command("test", epilog="Example: vespe tool test write_file read_file --junit results.xml")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--against",
    metavar="NAME",
    help="Run the examples of this tool (KIT/NAME of a shadowed one) on the tool that is tested.",
)
@click.option(
    "--update",
    is_flag=True,
    help="Record the outputs in config.json where they differ, or nothing is expected yet; "
    "begin where there is no example.",
)
@click.option("--junit", "junit_file", metavar="FILE", help="Write the results as JUnit XML too.")
@click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    metavar="N",
    help="Test so many tools at a time; default: the number of processors.",
)
@options.trust_option
@options.project_option
@options.json_option
def command(
    names: tuple[str, ...],
    against: str | None,
    update: bool,
    junit_file: str | None,
    jobs: int | None,
    trusted: bool,
    project_dir: str | None,
    as_json: bool,
) -> int:
    """Run the examples of tools as tests; without a name, of every available tool.

    An example expects its `output` exactly, what its `output_schema` or `output_pattern` says of
    it, or an `error` by its code. The examples of a tool run in order in one fresh directory, those
    of different tools at the same time. Exit code 1 where one fails.
    """
    gc.enable()  # unlike most commands, this one lives
    if update and against:
        raise errors.UsageError(
            "--update records a tool's own examples, and --against runs another's"
        )
    workspace = open_workspace(project_dir)
    log = CallLog(workspace.root, purpose="test")
    path = CallPath(
        workspace=workspace, registry=ToolRegistry(), trusted=trusted, progress=report.note, log=log
    )
    tools, results = (
        (_against(workspace, names, against), []) if against else _chosen(workspace, names)
    )
    tools = [examples.begun(tool) for tool in tools] if update else tools
    if not as_json:
        _show(results)
    with waiting(f"testing {report.count(len(tools), 'tool')}") as tell, Workers() as workers:
        path = replace(path, workers=workers)
        with contextlib.closing(
            examples.run_all(path, tools, jobs=jobs or os.cpu_count() or 1)
        ) as tested:
            for done, (tool, found) in enumerate(zip(tools, tested, strict=True), 1):
                results += _recorded(tool, found) if update else found
                tell(f"tested {done} of {report.count(len(tools), 'tool')}")
                if not as_json:
                    _show(found, tool)
    if junit_file is not None:
        atomic.write_atomic(
            junit_file, junit.junit_xml("vespe tool test", [*_cases(results)]), durable=False
        )
    _summarise(tools, results, as_json=as_json)
    return 1 if any(not result.passed for result in results) else 0


def document_of(result: ExampleResult) -> JsonObject:
    """Return one result as `tool test --json` prints it; `at` is the pointer to what failed, in the
    tool's config.json.
    """
    pointer = _pointer(result)
    return {
        "tool": result.tool,
        "uid": result.uid,
        "pointer": pointer,
        "passed": result.passed,
        "problem": result.problem,
        "at": None if result.passed else pointer + result.place,
        "duration_ms": round(result.duration_ms, 3),
    }


def _chosen(workspace: Workspace, names: tuple[str, ...]) -> tuple[list[Tool], list[ExampleResult]]:
    """Return the tools to test, and a failed result for each one that is broken: it never hides the
    others.
    """
    for warning in workspace.warnings:
        report.warn(warning)
    if names:
        return [workspace.tool(name) for name in dict.fromkeys(names)], []
    rows = workspace.ordered_rows()
    broken = [row.entry for row in rows if row.status == "broken"]
    failed = [
        ExampleResult(tool=entry.name or entry.uid, uid=entry.uid, index=-1, problem=entry.problem)
        for entry in broken
    ]
    return [workspace.load(row.entry) for row in rows if row.status == "available"], failed


def _against(workspace: Workspace, names: tuple[str, ...], other: str) -> list[Tool]:
    """Return the tested tools with the examples of another, by default the tool that is called what
    the other is called.
    """
    source = workspace.tool(other)
    tested = [workspace.tool(name) for name in names or (source.name,)]
    if any(tool.uid == source.uid and tool.scope == source.scope for tool in tested):
        raise errors.UsageError(
            f"{other} would be tested against itself", hint="name the shadowed tool as KIT/NAME"
        )
    given: JsonObject = {
        key: source.document[key]
        for key in ("example_files", "example_git")
        if key in source.document
    }
    return [
        replace(tool, examples=source.examples, document={**tool.document, **given})
        for tool in tested
    ]


def _recorded(tool: Tool, found: list[ExampleResult]) -> list[ExampleResult]:
    first = "examples" not in tool.document and tool.examples
    if first and not found[0].ok:
        report.note(
            f"{tool.name} has no example yet: "
            f"with {strict_json.compact_json(tool.examples[0]['input'])} it {found[0].problem}"
        )
        return []
    changed = examples.record(tool, found)
    if changed:
        report.note(
            f"recorded {report.count(changed, 'output')} of {tool.name} in {tool.directory}"
        )
    return [
        replace(one, problem=None, place="")
        if examples.recordable(tool.examples[one.index], one)
        else one
        for one in found
    ]


def _pointer(result: ExampleResult) -> str:
    """The place of an example in its config.json; the whole of it where the tool itself is
    broken.
    """
    return f"/examples/{result.index}" if result.index >= 0 else ""


def _show(found: Sequence[ExampleResult], tool: Tool | None = None) -> None:
    """Print a line for each example: its pointer for a script, its arguments and its time for a
    person.
    """
    for result in found:
        if sys.stdout.isatty():
            _show_styled(result, tool)
            continue
        said = f"{'ok  ' if result.passed else 'FAIL'} {result.tool} {_pointer(result)}".rstrip()
        report.emit_sentence(said + (f": {result.problem}" if result.problem else ""))


def _show_styled(result: ExampleResult, tool: Tool | None) -> None:
    mark = (
        click.style("ok  ", fg="green")
        if result.passed
        else click.style("FAIL", fg="red", bold=True)
    )
    said = f"{mark} {click.style(report.one_line(result.tool), bold=True)}"
    if tool is not None and result.index >= 0:
        given = report.json_line(tool.examples[result.index].get("input", {}))
        took = click.style(f"{result.duration_ms:.0f} ms", dim=True)
        said += f" {given if len(given) <= _GIVEN else given[: _GIVEN - 1] + '…'}  {took}"
    report.emit_styled(
        said + (f"\n     {report.one_line(result.problem)}" if result.problem else "")
    )


def _cases(results: Sequence[ExampleResult]) -> Iterator[junit.Case]:
    for result in results:
        name = _pointer(result) or "config.json"
        yield junit.Case(
            f"{result.scope}.{result.tool}",
            name,
            result.duration_ms / 1000,
            _why(result) if result.problem else None,
        )


def _why(result: ExampleResult) -> str:
    return f"{_pointer(result)}{result.place}: {result.problem}"


def _summarise(tools: Sequence[Tool], results: Sequence[ExampleResult], *, as_json: bool) -> None:
    failed = [result for result in results if not result.passed]
    without = [tool.name for tool in tools if not tool.examples]
    if as_json:
        summary = {
            "passed": len(results) - len(failed),
            "failed": len(failed),
            "tools": len(tools),
            "without_examples": without,
        }
        report.emit_json(
            {"results": [document_of(result) for result in results], "summary": summary}
        )
        return
    for result in failed:
        report.error(f"{result.tool} {_why(result)}")
    untested = f"; {len(without)} without examples: {', '.join(without)}" if without else ""
    report.note(
        f"{len(results) - len(failed)} passed, {len(failed)} failed, "
        f"{report.count(len(tools), 'tool')}{untested}"
    )
    if without and not results:
        report.next_step(
            "`vespe tool run NAME KEY=VALUE --save-example` keeps a call as an example"
        )
