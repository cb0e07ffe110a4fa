"""Which tools `vespe tool test` tests, what is recorded of them, and how results are told."""

from collections.abc import Sequence
from dataclasses import replace

from vespe import errors
from vespe.documents import strict_json
from vespe.features.examples import examples
from vespe.features.examples.examples import ExampleResult
from vespe.models import JsonObject, Tool
from vespe.projects.workspace import Workspace
from vespe.records import json_of


def chosen(
    workspace: Workspace, names: Sequence[str], *, against: str | None = None
) -> tuple[list[Tool], list[ExampleResult]]:
    """Return the tools to test, and a failed result for each one that is broken: it never hides the
    others. They have the examples of the tool `against`, where one is named.
    """
    if against:
        return _with_examples_of(workspace, against, names), []
    if names:
        return [workspace.tool(name) for name in dict.fromkeys(names)], []
    rows = workspace.ordered_rows()
    broken = [row.entry for row in rows if row.status == "broken"]
    failed = [
        ExampleResult(tool=entry.name or entry.uid, uid=entry.uid, index=-1, problem=entry.problem)
        for entry in broken
    ]
    return [workspace.load(row.entry) for row in rows if row.status == "available"], failed


def _with_examples_of(workspace: Workspace, other: str, names: Sequence[str]) -> list[Tool]:
    """Return the tested tools with the examples of another, by default the tool that is called what
    the other is called.
    """
    source = workspace.tool(other)
    tested = [workspace.tool(name) for name in names or (source.name,)]
    if any(tool.uid == source.uid and tool.scope == source.scope for tool in tested):
        raise errors.UsageError(
            f"{other} cannot be tested against itself", hint="name the shadowed tool as KIT/NAME"
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


def recorded(tool: Tool, found: Sequence[ExampleResult]) -> tuple[list[ExampleResult], str]:
    """Record what the examples of a tool gave, and return the results that this leaves, with a
    sentence on what was done ("" for nothing).

    An example that was only tried, and whose call failed, is not kept.
    """
    first = "examples" not in tool.document and tool.examples
    if first and not found[0].ok:
        given = strict_json.compact_json(tool.examples[0]["input"])
        return [], f"{tool.name} has no example yet: with {given} it {found[0].problem}"
    changed = examples.record(tool, found)
    said = (
        f"recorded {changed} output{'' if changed == 1 else 's'} of {tool.name} in {tool.directory}"
    )
    left = [
        replace(one, problem=None, place="")
        if examples.recordable(tool.examples[one.index], one)
        else one
        for one in found
    ]
    return left, said if changed else ""


def report_of(tools: Sequence[Tool], results: Sequence[ExampleResult]) -> JsonObject:
    """Return the results as `tool test --json` prints them."""
    failed = sum(not result.passed for result in results)
    return {
        "results": [document_of(result) for result in results],
        "summary": {
            "passed": len(results) - failed,
            "failed": failed,
            "tools": len(tools),
            "without_examples": [tool.name for tool in tools if not tool.examples],
        },
    }


def document_of(result: ExampleResult) -> JsonObject:
    """Return one result as `tool test --json` prints it; `at` is the pointer to what failed, in the
    tool's config.json.
    """
    return json_of(result, "tool", "uid", "pointer", "passed", "problem") | {
        "at": None if result.passed else result.pointer + result.place,
        "duration_ms": round(result.duration_ms, 3),
    }
