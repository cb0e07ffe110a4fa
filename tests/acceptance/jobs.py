"""The checks that have no bound of time: `./dev acceptance [NAME ...]`; `--list` says which there
are.

The gate tries a bounded part of each. What one found here is kept in docs/figures/NAME.json, with
the command, the commit and the date that it holds for.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FIGURES = ROOT / "docs/figures"
JOBS: dict[str, tuple[str, tuple[str, ...]]] = {
    "crash": (
        "each verb that changes state, killed and given a full and a broken disk at every call "
        "that writes",
        ("tests.acceptance.crash", "--json"),
    ),
    "interruptions": (
        "each command, interrupted by a signal or two at 15 random moments",
        ("tests.acceptance.interruptions", "--runs", "15", "--json"),
    ),
    "steps": (
        "each command that changes something, interrupted at every 67th line that it comes to",
        ("tests.acceptance.steps", "--every", "67", "--json"),
    ),
    "concurrency": (
        "16 processes that make 50 changes each in one project",
        ("tests.acceptance.concurrency", "--json"),
    ),
    "kills": (
        "the same, while 200 of the processes are killed",
        ("tests.acceptance.concurrency", "--kills", "200", "--json"),
    ),
    "freshness": (
        "100 random edits beside 10,000 calls and lists, with 10,000 tools: no answer is stale",
        ("tests.acceptance.freshness", "--json"),
    ),
    "mutations": (
        "every way to change an installed kit that comes to mind",
        ("tests.acceptance.mutations", "--json"),
    ),
    "flows": (
        "the 609 injected pairs and 97 honest tasks of AgentDojo v1.2.1, by their ground truths",
        ("tests.acceptance.flows", "--json"),
    ),
    "apis": (
        "recorded streams and conversations of Responses and Interactions, whole, cut and broken "
        "off; VESPE_RECORDINGS names checkouts of public suites",
        ("tests.acceptance.apis", "--json"),
    ),
    "claude_code": (
        "Claude Code answers two questions and reads a linked result; VESPE_CLAUDE_CODE names its "
        "program",
        ("tests.acceptance.claude_code", "--json"),
    ),
    "inspector_web": (
        "the web interface of the MCP Inspector in Chromium: questions before calls and of tools, "
        "and a linked result",
        ("tests.acceptance.inspector_web", "--json"),
    ),
    "results": (
        "1,000 large results told and read back, 200 more and 300 wrong references at each door",
        ("tests.acceptance.results", "--json"),
    ),
    "secrets": (
        "each store of a secret with each of its faults: where does the secret leak?",
        ("tests.acceptance.secrets", "--json"),
    ),
    "recordings": (
        "five MCP servers of npm and PyPI, recorded and replayed to the clients of both SDKs",
        ("tests.acceptance.recordings", "--json"),
    ),
    "programs": (
        "the 800 ground truths of BFCL v4 multi-turn as programs, and times beside bare monty",
        ("tests.acceptance.programs", "--json", "--only", "bfcl", "times"),
    ),
    "hostile_programs": (
        "157 hostile programs with their honest twins, judged from outside",
        ("tests.acceptance.programs", "--json", "--only", "hostile"),
    ),
    "program_verdicts": (
        "AgentDojo's ground truths as programs: the verdicts of its suites, and what is asked by "
        "`approvals.flow`, beside those of direct calls",
        ("tests.acceptance.program_verdicts", "--json"),
    ),
    "program_kills": (
        "a model's program that is killed at 200 calls that write, a third of them inside a call",
        ("tests.acceptance.program_kills", "--json"),
    ),
    "survival": (
        "a server over stdio and one over HTTP, each after 200 calls of 61 tools that try to end, "
        "starve or contaminate it, as root and as an ordinary user",
        ("tests.acceptance.survival", "--json"),
    ),
    "tasks": (
        "tasks of `vespe tool run --background` and of clients of `vespe mcp serve`, whose runner or "
        "server is killed at 200 moments",
        ("tests.acceptance.tasks", "--json"),
    ),
    "conformance_client": (
        "the client scenarios of the official MCP conformance suite that 2026-07-28 requires",
        ("tests.acceptance.conformance_client", "--json"),
    ),
    "conformance_extensions": (
        "the scenarios of the official MCP conformance suite about tasks and skills, of servers "
        "and of clients",
        ("tests.acceptance.conformance_extensions", "--json"),
    ),
    "conformance_server": (
        "the server scenarios of the official MCP conformance suite, in every revision",
        ("tests.acceptance.conformance_server", "--json"),
    ),
    "refreshes": (
        "4 processes that refresh one login 200 times each, and 40 that are killed while they do",
        ("tests.acceptance.refreshes", "--json"),
    ),
    "examples": (
        "the examples of the documentation that need a browser, packages or a compiler, each in "
        "an environment of its own",
        ("tests.acceptance.examples", "--json"),
    ),
    "stories": (
        "the stories of people with Vespe, played from a terminal",
        ("tests.acceptance.stories",),
    ),
}
"""What each job tries, and the module with its words that does."""


def main() -> int:
    """Do the jobs that are named, or all, and return 1 where one failed."""
    parser = argparse.ArgumentParser(prog="./dev acceptance", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a job; default: all of them")
    parser.add_argument("--list", action="store_true", help="say which jobs there are")
    asked = parser.parse_args()
    if unknown := [name for name in asked.names if name not in JOBS]:
        parser.error(f"there is no job '{unknown[0]}'; `./dev acceptance --list` says which")
    if asked.list:
        for name, (what, _) in JOBS.items():
            print(f"{name:16} {what}")
        return 0
    failed = [name for name in asked.names or JOBS if not done(name, FIGURES)]
    return 1 if failed else 0


def done(name: str, place: Path) -> bool:
    """Do one job and keep what it found; whether it succeeded."""
    what, (module, *words) = JOBS[name]
    print(f"{name}: {what}", flush=True)
    said: dict[str, Any] = {
        "name": name,
        "what": what,
        "command": " ".join(("python", "-m", module, *words)),
        "commit": commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    }
    began = time.monotonic()
    ended = subprocess.run(
        [sys.executable, "-m", module, *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=False,
    )
    said |= {"seconds": round(time.monotonic() - began), "exit": ended.returncode}
    place.mkdir(parents=True, exist_ok=True)
    record = json.dumps(said | {"result": result(ended.stdout)}, indent=2, ensure_ascii=False)
    (place / f"{name}.json").write_text(record + "\n", encoding="utf-8")
    print(f"{name}: ended with {ended.returncode}; {place / name}.json", flush=True)
    return ended.returncode == 0


def result(said: str) -> Any:
    """What a job printed: its JSON, else its lines."""
    try:
        return json.loads(said)
    except ValueError:
        return said.splitlines()


def commit(root: Path = ROOT) -> str:
    """The commit that is tried, and whether something in the checkout differs from it; what was
    found before is not tried.
    """
    changed = ("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs/figures")
    told = [
        subprocess.run(
            ["git", *words], cwd=root, capture_output=True, encoding="utf-8", check=False
        ).stdout.strip()
        for words in (("rev-parse", "HEAD"), changed)
    ]
    return (told[0] or "unknown") + (", with changes" if told[1] else "")


if __name__ == "__main__":
    sys.exit(main())
