"""The server scenarios of the official MCP conformance suite: every one, in each revision that it
knows, over HTTP, and over stdio behind a bridge. `conformance_extensions.py` has those of
extensions.

    python -m tests.acceptance.conformance_server [--json]

The server is a project with the tools that the suite calls by name. A scenario that needs what no
tools server has is excused in tests/cases/mcp/conformance_not_applicable.json, with the reason.
"""

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.support import conformance_project
from tests.support.ondisk import PATIENCE_S

ROOT: Final = Path(__file__).resolve().parents[2]
MODULES: Final = Path(sys.prefix) / "node/node_modules"
SUITE: Final = MODULES / "@modelcontextprotocol/conformance/dist/index.js"
REVISIONS: Final = ("2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
EXCUSES: Final[dict[str, dict[str, str]]] = json.loads(
    (ROOT / "tests/cases/mcp/conformance_not_applicable.json").read_text(encoding="utf-8")
)
HOMES: Final = ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
_SUITE_S: Final = 600
_STAMP: Final = re.compile(r"-\d{4}-\d\d-\d\dT[\d-]+Z$")

Checks = list[dict[str, Any]]


def excused(transport: str) -> dict[str, str]:
    """Return the scenarios that are excused over a transport, each with the reason."""
    return EXCUSES["everywhere"] | (EXCUSES["stdio"] if transport == "stdio" else {})


@contextlib.contextmanager
def endpoint(transport: str, project: Path, environment: dict[str, str]) -> Iterator[str]:
    """Serve the project over `http`, or over `stdio` behind the bridge, and give the URL."""
    server = [sys.executable, "-m", "tests.support.conformance_project", str(project)]
    bridged = [sys.executable, "-m", "tests.support.stdio_bridge", *server, "stdio"]
    process = subprocess.Popen(
        [*server, "0"] if transport == "http" else bridged,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        cwd=ROOT,
        env=environment,
    )
    assert process.stdout is not None
    try:
        yield f"http://localhost:{process.stdout.readline().strip()}/mcp"
    finally:
        process.terminate()
        process.wait(PATIENCE_S)
        process.stdout.close()


def judged(url: str, revision: str) -> dict[str, Checks]:
    """Let the suite judge the server at `url`, and return its checks by scenario: all scenarios
    that a revision has.
    """
    with tempfile.TemporaryDirectory() as results:
        subprocess.run(
            [
                *(MODULES / ".bin/node", SUITE, "server", "--url", url),
                *("--suite", "all", "--spec-version", revision, "-o", results),
            ],
            cwd=ROOT,
            capture_output=True,
            timeout=_SUITE_S,
            check=False,
        )
        return {
            _STAMP.sub("", file.parent.name.removeprefix("server-")): json.loads(
                file.read_text(encoding="utf-8")
            )
            for file in sorted(Path(results).glob("server-*/checks.json"))
        }


def failures(checks: Checks) -> list[str]:
    """Return what went wrong in a scenario: without what only another kind of server could show."""
    return [
        str(check.get("errorMessage") or check["id"])
        for check in checks
        if check["status"] == "FAILURE" and not check.get("details", {}).get("untestable")
    ]


def said_of(scenario: str, checks: Checks, transport: str) -> str:
    """Say in a few words what became of a scenario."""
    counted = [check["status"] for check in checks if check["status"] in ("SUCCESS", "FAILURE")]
    passed = f"{counted.count('SUCCESS')} of {len(counted)} checks"
    wrong = failures(checks)
    reason = excused(transport).get(scenario)
    if reason is not None:
        fails = "FAILURE" in counted
        return f"excused: {reason}" if fails else f"FAILED: passes ({passed}), and is excused"
    if wrong:
        return f"FAILED: {passed}; {'; '.join(wrong)}"[:400]
    if len(set(counted)) > 1:
        return f"passed: {passed}; the others cannot be tried with a tools server"
    return f"passed: {passed}" if counted else "skipped by the suite"


def main() -> int:
    """Judge every scenario, and return 1 where one fails that is not excused."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {name: str(Path(home, name)) for name in HOMES}
        project = conformance_project.make(Path(home, "conformance"))
        table = _table(project)
    words = [said for row in table.values() for said in row.values()]
    kinds = ("passed", "excused", "skipped", "FAILED")
    counts = {kind.lower(): sum(said.startswith(kind) for said in words) for kind in kinds}
    document = {"scenarios": len(table), **counts, "table": table}
    sys.stdout.write(json.dumps(document, indent=2) + "\n")
    return 1 if counts["failed"] or not words else 0


def _table(project: Path) -> dict[str, dict[str, str]]:
    table: dict[str, dict[str, str]] = {}
    for transport in ("http", "stdio"):
        with endpoint(transport, project, dict(os.environ)) as url:
            for revision in REVISIONS:
                _tell(f"{revision} over {transport}")
                found = judged(url, revision)
                for scenario, checks in found.items():
                    said = said_of(scenario, checks, transport)
                    table.setdefault(scenario, {})[f"{revision} {transport}"] = said
                    if said.startswith("FAILED"):
                        _tell(f"{scenario}: {said}")
    return dict(sorted(table.items()))


def _tell(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
