"""`vespe tool test`: the examples in config.json as tests."""

from itertools import chain

import click

from vespe.calls import CallPath
from vespe.cli import options, report
from vespe.examples import ExampleResult, run_examples
from vespe.models import JsonObject, Tool
from vespe.registry import ToolRegistry
from vespe.workspace import Workspace, open_workspace


@click.command("test", epilog="Example: vespe tool test write_file read_file")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@options.trust_option
@options.project_option
@options.json_option
def command(names: tuple[str, ...], trusted: bool, project_dir: str | None, as_json: bool) -> int:
    """Run the examples of tools as tests; without a name, of every available tool.

    The examples of a tool run in order in one fresh directory. Exit code 1 where one fails.
    """
    workspace = open_workspace(project_dir)
    path = CallPath(workspace=workspace, registry=ToolRegistry(), trusted=trusted, progress=report.note)
    tools, broken = _chosen(workspace, names)
    results = [*broken, *(result for tool in tools for result in run_examples(path, tool))] if as_json else _shown(path, tools, broken)
    failed = [result for result in results if not result.passed]
    without = [tool.name for tool in tools if not tool.examples]
    if as_json:
        summary = {"passed": len(results) - len(failed), "failed": len(failed), "tools": len(tools), "without_examples": without}
        report.emit_json({"results": [document_of(result) for result in results], "summary": summary})
    else:
        untested = f"; {len(without)} without examples: {', '.join(without)}" if without else ""
        report.note(f"{len(results) - len(failed)} passed, {len(failed)} failed, {report.count(len(tools), 'tool')}{untested}")
    return 1 if failed else 0


def document_of(result: ExampleResult) -> JsonObject:
    """Give one result as `tool test --json` prints it."""
    return {
        "tool": result.tool,
        "uid": result.uid,
        "pointer": f"/examples/{result.index}" if result.index >= 0 else "",
        "passed": result.passed,
        "problem": result.problem,
        "duration_ms": round(result.duration_ms, 3),
    }


def _chosen(workspace: Workspace, names: tuple[str, ...]) -> tuple[list[Tool], list[ExampleResult]]:
    """Give the tools to test, and a failed result for each one that is broken: it never hides the others."""
    for warning in workspace.warnings:
        report.warn(warning)
    if names:
        return [workspace.tool(name) for name in dict.fromkeys(names)], []
    rows = workspace.ordered_rows()
    broken = [row.entry for row in rows if row.status == "broken"]
    failed = [ExampleResult(tool=entry.name or entry.uid, uid=entry.uid, index=-1, problem=entry.problem) for entry in broken]
    return [workspace.load(row.entry) for row in rows if row.status == "available"], failed


def _shown(path: CallPath, tools: list[Tool], broken: list[ExampleResult]) -> list[ExampleResult]:
    """Run the examples and print each result as it comes."""
    results = []
    for result in chain(broken, *(run_examples(path, tool) for tool in tools)):
        results.append(result)
        place = f" /examples/{result.index}" if result.index >= 0 else ""
        said = f"{'ok  ' if result.passed else 'FAIL'} {result.tool}{place}"
        report.emit(said + (f": {result.problem}" if result.problem else ""))
    return results
