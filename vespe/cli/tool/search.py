"""`vespe tool search`: the tools that fit what somebody wants to do; `--eval` judges how well
queries find them.
"""

import click

from vespe import errors
from vespe.cli import options, report, tables
from vespe.documents import strict_json
from vespe.documents.near import join_words
from vespe.models import JsonObject, Tool
from vespe.projects import searched
from vespe.projects.workspace import open_workspace
from vespe.records import json_of
from vespe.tools import search
from vespe.tools.search import Document, Evaluation

_MAX_FILE_BYTES = 64 * 1024 * 1024


@click.command("search", epilog='Example: vespe tool search "append a line to a file"')
@click.argument("query", required=False)
@click.option(
    "--limit",
    type=click.IntRange(1, 1000),
    metavar="N",
    default=search.LIMIT,
    show_default=True,
    help="How many tools to show.",
)
@click.option(
    "--eval",
    "cases",
    metavar="FILE",
    help="Evaluate the search with a file of queries and the right tools for each.",
)
@options.project_option
@options.json_option
def command(
    query: str | None, limit: int, cases: str | None, project_dir: str | None, as_json: bool
) -> None:
    """Search tools by what you want to do.

    The search covers names, titles, tags, descriptions, arguments, examples and the `queries` of a
    tool's config.json, and compares words by their stems.

    --eval reads `{"queries": [{"query": …, "gold": [[NAME, …], …]}]}`, where `gold` has one list of
    acceptable tools for each need in the query. If the file contains `"tools": [{"name",
    "description", "input_schema", "queries"}]`, these are searched instead of the project's.
    """
    if (query is None) == (cases is None):
        raise errors.UsageError(
            "give either a query or --eval FILE", hint='vespe tool search "append a line to a file"'
        )
    if cases is not None:
        _evaluate(cases, project_dir, as_json)
        return
    workspace = open_workspace(project_dir)
    found = searched.find(workspace, query or "", limit=limit + 1)
    found, is_cut = found[:limit], len(found) > limit
    if as_json:
        report.emit_json({"tools": [_row(tool, score) for tool, score in found]})
    elif found:
        tables.show(
            ("NAME", "SCOPE", "DESCRIPTION"),
            [(tool.name, tool.scope, tool.description) for tool, _ in found],
            one_line=True,
        )
        report.further(
            f"the best {report.count(len(found), 'tool')}: "
            f"--limit {min(10 * limit, 1000)} shows more",
            when=is_cut,
        )
    else:
        report.note("no tool here has any of these words: `vespe tool list` shows all of them")
    left = sum(scope.kit_id is not None and not scope.active for scope in workspace.scopes)
    if left and not as_json:
        kits = (
            "1 kit that is not active was" if left == 1 else f"{left} kits that are not active were"
        )
        said = f"{kits} not searched: `vespe kit list` shows what each is for"
        # A script that finds nothing is told too: the tool may be in one of these kits.
        (report.next_step if found else report.note)(said)


def _row(tool: Tool, score: float) -> JsonObject:
    return json_of(tool, "name", "uid", "scope", "description") | {"score": round(score, 3)}


def _evaluate(path: str, project_dir: str | None, as_json: bool) -> None:
    document = strict_json.read_object(path, limit=_MAX_FILE_BYTES)
    try:
        cases = search.read_cases(document)
        given = _given_tools(document)
    except ValueError as error:
        raise errors.InvalidDocument(str(error), path=path) from None
    named = given or [
        (tool.name, search.document_of(tool))
        for tool in searched.available(open_workspace(project_dir))
    ]
    names = [name for name, _ in named]
    if unknown := sorted(
        {name for _, needs in cases for need in needs for name in need} - set(names)
    ):
        report.warn(
            f"{path} names tools that are not among the {report.count(len(names), 'tool')}: "
            f"{join_words(unknown, most=5, see=f'see {path}')}"
        )
    judged = search.evaluate(search.ToolIndex([known for _, known in named]), names, cases)
    if as_json:
        report.emit_json(_facts(judged, len(names)))
        return
    shares = "  ".join(f"R@{most} {share:.3f}" for most, share in judged.recall.items())
    report.emit_sentence(
        f"{report.count(len(names), 'tool')}, {report.count(judged.queries, 'need')} of queries: "
        f"{shares}  MRR {judged.mrr:.3f}"
    )
    if judged.confused:
        tables.show(
            ("WANTED", "FOUND FIRST", "TIMES"),
            [(pair.wanted, pair.found, str(pair.times)) for pair in judged.confused],
        )


def _given_tools(document: JsonObject) -> list[tuple[str, Document]]:
    rows = document.get("tools", [])
    if not isinstance(rows, list) or not all(
        isinstance(row, dict) and isinstance(row.get("name"), str) for row in rows
    ):
        raise ValueError('/tools must be a list of objects with a "name"')
    return [(row["name"], search.document_of(_given_tool(row))) for row in rows]


def _given_tool(row: JsonObject) -> Tool:
    schemas = (row.get(key) for key in ("input_schema", "inputSchema", "parameters"))
    title, examples, tags = row.get("title"), row.get("examples"), row.get("tags")
    return Tool(
        uid="",
        name=row["name"],
        description=str(row.get("description") or ""),
        input_schema=next((one for one in schemas if isinstance(one, dict)), {}),
        annotations={"title": title} if isinstance(title, str) else {},
        examples=tuple(one for one in examples if isinstance(one, dict))
        if isinstance(examples, list)
        else (),
        tags=tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
        document=row,
    )


def _facts(judged: Evaluation, tools: int) -> JsonObject:
    recall = {f"recall_at_{most}": round(share, 4) for most, share in judged.recall.items()}
    confused = [json_of(pair, "wanted", "found", "times") for pair in judged.confused]
    return {
        "tools": tools,
        "queries": judged.queries,
        **recall,
        "mrr": round(judged.mrr, 4),
        "confused": confused,
    }
