"""Render the figures of docs/performance.md and README.md from docs/figures/performance.json, which
`python -m tests.benchmarks --all` writes; `python -m tests.support.render_performance` writes the
pages.
"""

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FIGURES = ROOT / "docs" / "figures" / "performance.json"
PAGE, README = ROOT / "docs" / "performance.md", ROOT / "README.md"
HEAD = (
    "| axis | unit | Vespe | beside it | its figure | ratio | goal | met |",
    "|---|---|---|---|---|---|---|---|",
)
_BLOCK = re.compile(r"(?<=<!-- figures -->\n).*?(?=<!-- end of figures -->)", re.DOTALL)
_SHOWN = (
    ("a command (`--version`)", "vespe --version", ""),
    ("an MCP server, from start to the list of tools", "MCP stdio, start to list", ""),
    ("MCP calls one at a time, in-process tools", "MCP stdio, calls, one at a time", " /s"),
)
"""README's rows: what they are called there, the row of the run, and the unit where it is not
ms.
"""
_TOOL = "Python tool in the sandbox, nothing stated"


def figure(value: float) -> str:
    """Return a figure with as many digits as mean something."""
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}".rstrip("0").rstrip(".")


def row_of(row: dict[str, Any]) -> str:
    """Return a row of the run as one of a Markdown table."""
    goal = ""
    if row["goal"] is not None:
        goal = f"{'≥' if row['more'] else '≤'} {row['goal']:g}"
    peer, ratio = row["peer"], f"{row['ratio']:.2f}"
    if peer == "the bound":
        goal, peer, ratio = f"≤ {figure(row['theirs'])} {row['unit']}".strip(), "", ""
    theirs = figure(row["theirs"]) if peer else ""
    cells = (row["name"], row["unit"], figure(row["ours"]), peer, theirs, ratio if peer else "")
    return "| " + " | ".join((*cells, goal, row["met"])) + " |"


def table(kept: dict[str, Any]) -> str:
    """Return the block of docs/performance.md: the run, its rows, and what misses its goal."""
    rows = kept["rows"]
    missed = [row for row in rows if row["met"] == "no"]
    lines = [
        f"`{kept['command']}` at commit {kept['commit']}, on {kept['date']}: {_machine(kept)}.",
        *([kept["note"]] if "note" in kept else []),
        "",
        *HEAD,
        *map(row_of, rows),
        "",
        f"{len(rows)} rows, of which {sum(row['met'] == 'yes' for row in rows)} meet their goal and "
        f"{len(missed)} miss it{':' if missed else '.'}",
        *[""] * bool(missed),
        *(f"- {row['name']}: {_missed(row)}" for row in missed),
    ]
    return "\n".join(lines) + "\n"


def _missed(row: dict[str, Any]) -> str:
    ours = f"{figure(row['ours'])} {row['unit']}".strip()
    if row["peer"] == "the bound":
        return f"{ours}, and at most {figure(row['theirs'])} is the goal"
    least = "at least" if row["more"] else "at most"
    return f"{row['ratio']:.2f} × {row['peer']} ({ours}), and {least} {row['goal']:g} is the goal"


def _machine(kept: dict[str, Any]) -> str:
    load = kept.get("load")
    busy = "" if load is None else f", with a load of {load:.1f} at the start"
    return f"{kept['cores']} cores, CPython {kept['python']}, {kept['system']}{busy}"


def in_readme(kept: dict[str, Any]) -> str:
    """Return the block of README.md."""
    lines = ["| | Vespe | others |", "|---|---|---|"]
    for said, name, unit in _SHOWN:
        rows = [row for row in kept["rows"] if row["name"] == name]
        others = " · ".join(f"{row['peer']} {figure(row['theirs'])}{unit or ' ms'}" for row in rows)
        lines.append(f"| {said} | {figure(rows[0]['ours'])}{unit or ' ms'} | {others} |")
    tool = next(row for row in kept["rows"] if row["name"] == _TOOL)
    lines += [
        "",
        f"Medians of wall-clock times, measured on {kept['date']} ({_machine(kept)}).",
        f"`{kept['command']}` repeats the measurement on your machine.",
        "[Performance](docs/performance.md) has all figures and lists the goals that are missed.",
        "In a program that keeps the project open, a call of a Python tool",
        f"takes about {figure(round(tool['ours']))} ms in the sandbox and about "
        f"{figure(round(tool['theirs']))} ms without it.",
    ]
    return "\n".join(lines) + "\n"


def pages() -> dict[Path, str]:
    """Return both pages as they are to be."""
    kept = json.loads(FIGURES.read_text(encoding="utf-8"))
    blocks = {PAGE: table(kept), README: in_readme(kept)}
    made = {}
    for path, block in blocks.items():
        before = path.read_text(encoding="utf-8")
        made[path], count = _BLOCK.subn(lambda _, block=block: block, before)  # type: ignore[misc]  # a default binds it
        if count != 1:
            raise ValueError(f"{path} has {count} blocks of figures")
    return made


def main() -> None:
    """Write the pages."""
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
