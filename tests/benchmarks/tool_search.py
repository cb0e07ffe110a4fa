"""How well and how fast tools are found, beside FastMCP's search, and what a bridge costs a model.

`python -m tests.benchmarks.tool_search FILE --fastmcp PYTHON`: FILE is a set as
`vespe tool search --eval` reads it, with tools; PYTHON an interpreter that has fastmcp, since it is
no dependency of the tests.
"""

import argparse
import json
import random
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from vespe.adapters import SHAPES, cost
from vespe.calls.bridge import Bridge
from vespe.models import Tool
from vespe.tools import bm25
from vespe.tools.search import Document, ToolIndex, document_of, evaluate, read_cases

FASTMCP = """
import asyncio, json, sys, time
from fastmcp.server.transforms.search.bm25 import BM25SearchTransform
from fastmcp.tools import Tool
given = json.load(sys.stdin)
def nothing() -> None: ...
tools = [Tool.from_function(nothing, name=row["name"], description=row["description"]) for row in given["tools"]]
search = BM25SearchTransform(max_results=10)
async def main():
    found, times = [], []
    for query in given["queries"]:
        began = time.process_time()
        hits = await search._search(tools, query)
        times.append(time.process_time() - began)
        found.append([tool.name for tool in hits])
    json.dump({"found": found, "times": times}, sys.stdout)
asyncio.run(main())
"""
WORDS = bm25.words(
    "invoice order customer ticket image branch email calendar contract sensor route recipe report "
    "account payment device session article "
    "comment playlist flight hotel weather forecast currency stock parcel address photo track "
    "library package release build"
)
VERBS = bm25.words(
    "read write list count merge split sort send fetch check draw move create delete update export "
    "import search convert archive"
)


def synthetic(count: int, *, seed: int = 1) -> list[Tool]:
    """Make so many tools of ordinary words, with arguments, as imported descriptions of APIs
    are.
    """
    chosen, made = random.Random(seed), []
    for number in range(count):
        verb, nouns = chosen.choice(VERBS), chosen.sample(WORDS, 3)
        text = (
            f"{verb.capitalize()} the {nouns[0]} of a {nouns[1]} by its {nouns[2]} in "
            f"department {number % 997}, and say what became of it."
        )
        arguments = {
            f"{noun}_id": {
                "type": "string",
                "description": f"The {noun} that is meant, as the list of them gives it.",
            }
            for noun in nouns
        }
        schema = {"type": "object", "properties": arguments, "required": [f"{nouns[0]}_id"]}
        made.append(
            Tool(uid="", name=f"{verb}_{nouns[0]}_{number}", description=text, input_schema=schema)
        )
    return made


def times_of(find: Callable[[str], object], queries: Sequence[str]) -> tuple[float, float]:
    """Return the median and the 95th percentile of a query in milliseconds of the processor, which
    other work does not count in.
    """
    took = []
    for query in queries:
        began = time.process_time()
        find(query)
        took.append((time.process_time() - began) * 1000)
    return percentiles(took)


def percentiles(took: Sequence[float]) -> tuple[float, float]:
    """Return the median and the 95th percentile."""
    return statistics.median(took), statistics.quantiles(took, n=20)[-1]


def recall(found: Sequence[Sequence[str]], cases: Sequence[tuple[str, Any]], most: int) -> float:
    """Return the share of needs of which one right name is among the first."""
    hits = [
        any(name in right for name in names[:most])
        for names, (_, needs) in zip(found, cases, strict=True)
        for right in needs
    ]
    return sum(hits) / len(hits)


def judged(
    rows: list[dict[str, str]], cases: list[tuple[str, Any]], python: str | None
) -> list[str]:
    """Return the rows on the set: ours, and FastMCP's where an interpreter with it was named."""
    queries = [query for query, _ in cases]
    index = ToolIndex([Document(row["name"], row["description"]) for row in rows])
    ours = evaluate(index, [row["name"] for row in rows], cases)
    lines = [
        _row(
            "Vespe",
            [ours.recall[1], ours.recall[5], ours.recall[10]],
            times_of(index.find, queries),
        )
    ]
    if python:
        given = json.dumps({"tools": rows, "queries": queries})
        ran = subprocess.run(
            [python, "-c", FASTMCP],
            input=given,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=True,
        )
        told = json.loads(ran.stdout)
        theirs = [recall(told["found"], cases, most) for most in (1, 5, 10)]
        lines.append(
            _row("FastMCP's BM25", theirs, percentiles([took * 1000 for took in told["times"]]))
        )
    return lines


def _row(name: str, shares: Sequence[float], times: tuple[float, float]) -> str:
    return (
        f"| {name} | {' | '.join(f'{share:.3f}' for share in shares)} | {times[0]:.3f} | "
        f"{times[1]:.3f} |"
    )


def sized(count: int) -> str:
    """Return the row on an index of so many synthetic tools."""
    documents = [document_of(tool) for tool in synthetic(count)]
    began = time.process_time()
    index = ToolIndex(documents)
    took = time.process_time() - began
    chosen = random.Random(2)
    queries = [
        f"{chosen.choice(VERBS)} the {chosen.choice(WORDS)} of department {chosen.randrange(997)}"
        for _ in range(300)
    ]
    half, most = times_of(index.find, queries)
    return f"| {count:,} | {took:.2f} | {half:.2f} | {most:.2f} |"


def bridged(tools: Sequence[Tool]) -> tuple[int, int]:
    """Return what all definitions cost in tokens, and what those of a bridge do."""
    shape = SHAPES["openai"]
    every = cost.total(cost.size_of(shape.definition(tool)) for tool in tools).tokens
    return every, cost.total(
        cost.size_of(shape.definition(tool))
        for tool in Bridge({tool.name: tool for tool in tools}).declared.values()
    ).tokens


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", help="a set of queries with the tools that are searched")
    parser.add_argument("--fastmcp", metavar="PYTHON", help="an interpreter that has fastmcp")
    asked = parser.parse_args()
    if asked.file:
        document = json.loads(Path(asked.file).read_text(encoding="utf-8"))
        rows = [
            {"name": row["name"], "description": row.get("description") or ""}
            for row in document["tools"]
        ]
        print(
            "| search | R@1 | R@5 | R@10 | p50 ms | p95 ms |", "|---|---|---|---|---|---|", sep="\n"
        )
        print(*judged(rows, read_cases(document), asked.fastmcp), sep="\n")
    print("\n| tools | index s | p50 ms | p95 ms |", "|---|---|---|---|", sep="\n")
    for count in (1_000, 5_000, 100_000):
        print(sized(count), flush=True)
    every, few = bridged(synthetic(1_000))
    print(f"\n1,000 tools cost {every:,} tokens, a bridge {few:,}: {100 * few / every:.2f} %")


if __name__ == "__main__":
    main()
