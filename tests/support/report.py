"""Tell the sizes of the package: `./dev report`. Nothing fails here; what is large is a place to
look.

Lines of code are lines that are neither blank, nor a comment, nor part of a docstring.
"""

import argparse
import ast
import io
import json
import statistics
import sys
import tokenize
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "vespe"


def docstring_lines(tree: ast.Module) -> set[int]:
    """Return the lines that hold docstrings, those of attributes too."""
    found: set[int] = set()
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            value = child.value if isinstance(child, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                found |= set(range(value.lineno, (value.end_lineno or value.lineno) + 1))
    return found


def counted(path: Path) -> Counter[str]:
    """Return how many lines of each kind a module has."""
    source = path.read_text(encoding="utf-8")
    documented = docstring_lines(ast.parse(source))
    comments = {
        token.start[0]: token.line.lstrip().startswith("#")
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    found: Counter[str] = Counter(comments=len(comments))
    for number, line in enumerate(source.splitlines(), start=1):
        found["lines"] += 1
        if number in documented:
            found["docstrings"] += 1
        elif line.strip() and not comments.get(number, False):
            found["code"] += 1
    return found


def functions(path: Path) -> list[tuple[int, str]]:
    """Return the lines of each function's body, and where it is."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
            lines = (node.end_lineno or node.lineno) - body[0].lineno + 1
            found.append((lines, f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"))
    return found


def report() -> dict[str, Any]:
    """Return every size as plain data: totals, packages, and the largest of each kind."""
    modules = {path: counted(path) for path in sorted(PACKAGE.rglob("*.py"))}
    packages: dict[str, Counter[str]] = {}
    for path, lines in modules.items():
        parts = path.relative_to(PACKAGE).parts
        name = "/".join(parts[:2] if parts[0] == "features" and len(parts) > 2 else parts[:1])
        packages.setdefault(name, Counter()).update(lines | Counter(modules=1))
    bodies = sorted((found for path in modules for found in functions(path)), reverse=True)
    folders = Counter(str(path.parent.relative_to(ROOT)) for path in modules)
    return {
        "total": dict(sum(modules.values(), Counter(modules=len(modules)))),
        "packages": {name: dict(lines) for name, lines in packages.items()},
        "largest_modules": [
            {"path": str(path.relative_to(ROOT)), "lines": lines["lines"]}
            for path, lines in sorted(modules.items(), key=lambda one: -one[1]["lines"])[:15]
        ],
        "fullest_folders": dict(folders.most_common(10)),
        "longest_functions": [{"at": at, "lines": lines} for lines, at in bodies[:15]],
        "functions": {
            "count": len(bodies),
            "median": statistics.median(lines for lines, _ in bodies),
            "at_most_20": round(statistics.mean(lines <= 20 for lines, _ in bodies), 3),
        },
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev report", description=__doc__)
    parser.add_argument("--json", action="store_true", help="Print one JSON document.")
    found = report()
    if parser.parse_args().json:
        print(json.dumps(found, indent=2))
        return 0
    total = found["total"]
    print(
        f"{total['modules']} modules, {total['lines']:,} lines: {total['code']:,} code,"
        f" {total['docstrings']:,} docstrings, {total['comments']:,} comments"
    )
    print(
        f"{found['functions']['count']:,} functions, median {found['functions']['median']:g} lines"
    )
    rows = sorted(found["packages"].items(), key=lambda one: -one[1]["code"])
    print("\n  code  modules  package")
    print("\n".join(f"{one['code']:6,} {one['modules']:8}  {name}" for name, one in rows))
    print("\n lines  largest modules")
    print("\n".join(f"{one['lines']:6}  {one['path']}" for one in found["largest_modules"]))
    print("\n files  fullest folders")
    print("\n".join(f"{count:6}  {name}" for name, count in found["fullest_folders"].items()))
    print("\n lines  longest functions")
    print("\n".join(f"{one['lines']:6}  {one['at']}" for one in found["longest_functions"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
