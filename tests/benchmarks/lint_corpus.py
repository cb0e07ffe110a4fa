"""What lint finds in real definitions, and how long it takes:
`python -m tests.benchmarks.lint_corpus [DIR] [--write]`.

DIR holds one folder a collection, of files of definitions; `--write` keeps the figures for
docs/lint.md.
"""

import argparse
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

from vespe.features.lint import foreign
from vespe.features.lint.audit import Audit
from vespe.features.lint.paths import SUFFIXES
from vespe.features.lint.settings import Settings

HERE = Path(__file__).resolve().parent
FIGURES = HERE / "lint_figures.json"
CORPUS = HERE.parent.parent.parent / "shared" / "corpus" / "tooldefs"
LEFT_OUT = ("FINDINGS.jsonl",)
"""Files of a collection that are about definitions and hold none."""


def files(folder: Path) -> list[Path]:
    """Give the files of definitions of one collection."""
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name.endswith(SUFFIXES) and path.name not in LEFT_OUT
    ]


def measure(folder: Path) -> dict[str, Any]:
    """Lint one collection with every rule."""
    paths = [str(path) for path in files(folder)]
    places = {
        path: [definition.pointers[""] for definition in foreign.read(path).definitions]
        for path in paths
    }
    start = time.perf_counter()
    findings = list(Audit(Settings()).findings(paths))
    seconds = time.perf_counter() - start
    wrong = {
        (f.path, at)
        for f in findings
        if f.severity == "error"
        for at in places[f.path]
        if f"{f.pointer}/".startswith(f"{at}/")
    }
    rules = Counter(f"{f.rule} ({f.severity})" for f in findings)
    return {
        "collection": folder.name,
        "files": len(paths),
        "definitions": sum(map(len, places.values())),
        "with_errors": len(wrong),
        "seconds": round(seconds, 2),
        "findings": dict(sorted(rules.items(), key=lambda item: (-item[1], item[0]))),
    }


def main() -> None:
    """Read the options, lint each collection, print or write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "corpus", nargs="?", type=Path, default=CORPUS, help=f"the folder of collections ({CORPUS})"
    )
    parser.add_argument("--write", action="store_true", help=f"write {FIGURES.name}")
    options = parser.parse_args()
    rows = [measure(folder) for folder in sorted(options.corpus.iterdir()) if folder.is_dir()]
    text = json.dumps(rows, indent=2) + "\n"
    if options.write:
        FIGURES.write_text(text, encoding="utf-8")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
