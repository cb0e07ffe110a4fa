"""Write docs/escapes.md from the escape table; `python -m tests.support.render_escapes`."""

from pathlib import Path
from typing import Final

from vespe.features.escapes.blind_ways import BLIND
from vespe.features.escapes.rows import ROWS, TITLES
from vespe.features.escapes.ways import Way

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "escapes.md"
_SAID: Final = {
    "default": "What it does not state has its [default](sandbox.md): "
    "it reads all but protected places, and writes the project.",
    "closed": "It reads `docs` and `out`, writes `out`, reaches no host, starts `cat` and `sh`, "
    "and has 256 MiB.",
    "hosts": "It reaches `example.org`, and what is not stated has its default.",
    "sockets": "It reaches one Unix socket in the home directory and no host.",
    "links": "It states directories of the project that are links: to others in the project, which "
    "hold, to keys, to the home, out of\nthe project, to `.git` and `.vespe`, which open nothing; "
    "and writes a directory and a file that are not there.",
    "late": "A tool that states nothing runs, and other programs of the user go on: they log in, make "
    "keys, and replace files by renaming.",
    "late home": "Tried at the level `namespaces` alone.",
    "home": "Tried at the level `namespaces` alone: at `landlock` nothing new can be made directly "
    "in such a directory.",
}
BESIDE: Final = (
    (
        "write a number or an object in another way, past a rule on arguments",
        "another number, an object with other members",
        "calls/test_policy_rules.py",
        "test_an_argument_is_compared_by_its_value_however_it_is_written",
    ),
    (
        "end the body of a request early, and let what came be called",
        "a body that comes in pieces",
        "http/test_asgi.py",
        "test_a_body_that_ends_early_is_no_request",
    ),
    (
        "send the proxy a second `Host` behind a bare line feed",
        "a whole URL of a stated host",
        "processes/sandbox/test_proxy.py",
        "test_a_line_that_only_some_servers_end_passes_no_second_host",
    ),
    (
        "name a port to the proxy that no machine has",
        "the next connection, which is served",
        "processes/sandbox/test_proxy.py",
        "test_anything_else_is_refused",
    ),
    (
        "run code through the cluster that a batch made for itself with Dask",
        "the calls of that batch",
        "features/batch/test_dask_cluster.py",
        "test_a_cluster_of_ones_own_takes_nothing_from_others_and_shows_no_page",
    ),
    (
        "leave a repository or an `.envrc` that other programs run, unnoticed",
        "other new files, of which no note speaks",
        "files/test_repositories.py",
        "test_what_is_new_of_what_others_execute_is_told",
    ),
    (
        "answer as an MCP server with JSON that can be read in two ways",
        "an answer that can be read in one",
        "types/mcp_tool/test_session.py",
        "test_an_answer_that_can_be_read_in_two_ways_is_none",
    ),
    (
        "answer as an MCP server over HTTP with JSON that can be read in two ways",
        "the same answer, read in one",
        "types/mcp_tool/test_strict_http.py",
        "test_an_answer_over_http_that_can_be_read_in_two_ways_is_none",
    ),
)
"""What is no process's sandbox, and so the same at every level: what is tried, what is allowed
beside it, and the test that tries both.
"""
_EVERYWHERE: Final = ("programs", "late", "loopback")
_OLD_KERNELS: Final = {"signals": "6.12", "truncate": "6.2"}


def render() -> str:
    """Return the page: what was tried, what becomes of it at each level, and beside what allowed
    thing it was tried.
    """
    parts = [
        "# Ways out of the sandbox",
        "",
        f"The tests try these {len(ROWS)} ways out at each level that the machine has, as root and as "
        "an ordinary user. Beside each stands a twin:",
        "something similar that is allowed, and must keep working. A way out that is open is a "
        "[gap](sandbox.md#gaps), which every Outcome names in advance.",
        "",
        "`vespe doctor --escapes` tries them on your machine, as you, in a few seconds. Its keys, "
        "sockets, servers and processes are made for it and",
        "removed afterwards; it writes none of your files and signals none of your processes. For "
        "each way out it prints `held`, the gap that leads through, or",
        "`GOT THROUGH`, which is exit code 1. Ways that would touch the machine itself if they got "
        "through are not tried there, and the output says which.",
        "",
        f"{len(BLIND)} of them ([`blind_ways.py`](../vespe/features/escapes/blind_ways.py)) were "
        "designed from this documentation alone, by somebody who had not seen the code of the sandbox.",
    ]
    for kind, title in TITLES.items():
        rows = [row for row in ROWS if row.policy == kind]
        parts += [
            "",
            f"## {title}",
            "",
            _SAID[kind],
            "",
            "| tried | `namespaces` | `landlock` |",
            "|---|---|---|",
        ]
        for row in rows:
            name = f"{row.name} (as root)" if row.root_only else row.name
            parts.append(f"| {name} | {_at(row, 'namespaces')} | {_at(row, 'landlock')} |")
    parts += [
        "",
        "## What is the same at every level",
        "",
        "No sandbox of a process is asked here. Other tests of Vespe try these ways, and `vespe doctor` "
        "does not.",
        "",
        "| tried | allowed beside it | |",
        "|---|---|---|",
    ]
    parts += [f"| {tried} | {allowed} | held |" for tried, allowed, _, _ in BESIDE]
    return "\n".join(parts) + "\n"


def _at(row: Way, level: str) -> str:
    if "home" in row.policy and level == "landlock":
        return "not tried"
    if row.gap in _OLD_KERNELS:
        return f"held; gap `{row.gap}` before Linux {_OLD_KERNELS[row.gap]}"
    if ", " in row.gap:
        apart, together = row.gap.split(", ")
        return f"gap `{together if level == 'landlock' else apart}`"
    open_here = row.gap in _EVERYWHERE or (row.gap and level == "landlock")
    return f"gap `{row.gap}`" if open_here else "held"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
