"""Every figure that is published, in one run, by the clock: `python -m tests.benchmarks [PART ...]`.

What stands in one row was measured in turn, with Vespe's default settings unless the row says
otherwise. With `--all` every part is measured and kept in docs/figures/performance.json, with the
command, the commit and the date; `./dev docs` makes docs/performance.md and the README of it.
"""

import argparse
import datetime
import importlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from tests.benchmarks.axes import Axis, make_home
from tests.support.render_performance import FIGURES, HEAD, row_of

PARTS = (
    *("commands", "calls", "agents", "workers", "sandboxes", "compiled", "batches"),
    *("serving", "freshness", "many", "kits", "streams", "adapters", "programs"),
)
COMMAND = "python -m tests.benchmarks --all"


def measured(part: str) -> list[dict[str, Any]]:
    """Measure a part and print its rows as they come; return them."""
    rows = []
    with tempfile.TemporaryDirectory() as directory:
        make_home(Path(directory))
        for axis in importlib.import_module(f"tests.benchmarks.{part}").axes(Path(directory)):
            rows.append(_plain(part, axis))
            print(row_of(rows[-1]), flush=True)
    return rows


def _plain(part: str, axis: Axis) -> dict[str, Any]:
    ours, theirs, ratio = (float(f"{one:.4g}") for one in (axis.ours, axis.theirs, axis.ratio))
    axis = replace(axis, ours=ours, theirs=theirs, ratio=ratio)
    return {"part": part, **asdict(axis), "met": axis.met}


def about(seconds: float) -> dict[str, Any]:
    """Return what a reader must know of a run."""
    root = Path(__file__).resolve().parents[2]
    said = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12"]
    commit = subprocess.run(said, capture_output=True, text=True, encoding="utf-8", check=False)
    return {
        "command": COMMAND,
        "commit": commit.stdout.strip(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "system": platform.system(),
        "load": [round(one, 1) for one in os.getloadavg()],
        "seconds": round(seconds),
    }


def main() -> int:
    """Measure the parts that are named, or all; with `--all` keep what was measured. Return 1 where
    a part could not be measured.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"one of {', '.join(PARTS)}; all by default"
    )
    parser.add_argument("--all", action="store_true", help=f"keep every row in {FIGURES.name}")
    given = parser.parse_args()
    chosen = PARTS if given.all else given.parts or PARTS
    load, began, rows, failed = os.getloadavg()[0], time.monotonic(), [], []
    if load > 0.5:
        print(f"the machine is not idle (load {load:.1f}): ratios may hold, times do not")
    print(*HEAD, sep="\n", flush=True)
    for part in chosen:
        try:
            rows += measured(part)
        except (
            Exception,
            SystemExit,
        ) as error:  # the other parts are measured, and this one is named
            failed.append(part)
            print(f"{part} was not measured: {type(error).__name__}: {error}", file=sys.stderr)
    for one in [one for one in rows if one["met"] == "no"]:
        print(f"misses its goal: {one['name']} ({one['ratio']:.2f}, beside {one['peer']})")
    if given.all and not failed:
        kept = {**about(time.monotonic() - began), "load": load, "rows": rows}
        text = json.dumps(kept, indent=1, ensure_ascii=False) + "\n"
        FIGURES.parent.mkdir(exist_ok=True)
        FIGURES.write_text(text, encoding="utf-8")
        print(f"kept in {FIGURES}; `./dev docs` makes the pages of it")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
