"""Every figure that is published, as one table: `python -m tests.benchmarks [PART ...]`.

What stands in one row was measured in one run, in turn: on a machine that does other work too, only
the ratios mean something.
"""

import argparse
import importlib
import tempfile
from pathlib import Path

from tests.benchmarks.axes import Axis, make_home

PARTS = (
    *("calls", "workers", "sandboxes", "compiled", "serving", "freshness"),
    *("agents", "commands", "batches"),
)
HEAD = (
    "| axis | unit | Vespe | beside it | its figure | ratio | goal | met |",
    "|---|---|---|---|---|---|---|---|",
)


def row(axis: Axis) -> str:
    """Return an axis as a row of a Markdown table."""
    if axis.peer == "-":
        return f"| {axis.name} | {axis.unit} | {axis.ours:,.0f} | | | | | |"
    goal = "" if axis.goal is None else f"{'≥' if axis.more else '≤'} {axis.goal:g}"
    return (
        f"| {axis.name} | {axis.unit} | {axis.ours:,.0f} | {axis.peer} | {axis.theirs:,.0f} | "
        f"{axis.ratio:.2f} | {goal} | {axis.met} |"
    )


def main() -> None:
    """Measure the parts that are named, or all, and print each row as it comes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"one of {', '.join(PARTS)}; all by default"
    )
    chosen = parser.parse_args().parts or PARTS
    print(*HEAD, sep="\n", flush=True)
    for part in chosen:
        with tempfile.TemporaryDirectory() as directory:
            make_home(Path(directory))
            for axis in importlib.import_module(f"tests.benchmarks.{part}").axes(Path(directory)):
                print(row(axis), flush=True)


if __name__ == "__main__":
    main()
