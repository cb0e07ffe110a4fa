"""The scenarios of the official MCP conformance suite about the extensions for tasks and skills, of
servers and of clients.

    python -m tests.acceptance.conformance_extensions [--json] [SCENARIO ...]

Servers are judged by the project of `tests/support/conformance_project.py` over HTTP, with an
active kit. The suite starts the servers for clients, and runs this module with `--client URL`: that
adds the server as a kit, lists its skills, and reads each file of them.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from tests.acceptance.conformance_client import Client
from tests.acceptance.conformance_server import HOMES, MODULES, SUITE, endpoint
from tests.support import conformance_project

ROOT: Final = Path(__file__).resolve().parents[2]
REVISION: Final = "2026-07-28"
TASKS: Final = (
    *("tasks-lifecycle", "tasks-capability-negotiation", "tasks-wire-fields"),
    *("tasks-request-state-removal", "tasks-request-headers", "tasks-dispatch-and-envelope"),
    *("tasks-required-task-error", "tasks-mrtr-input", "tasks-mrtr-composition"),
    "tasks-status-notifications",
)
SKILLS: Final = (
    *("sep-2640-skills-enumeration", "sep-2640-skills-manifest", "sep-2640-skills-directory"),
)
CLIENT: Final = (
    *("sep-2640-client-no-prefetch", "sep-2640-client-verify-digest"),
    *("sep-2640-client-verify-size", "sep-2640-client-verify-frontmatter"),
)
GATE: Final = (
    *("tasks-lifecycle", "tasks-capability-negotiation", "tasks-required-task-error"),
    *("tasks-mrtr-input", "tasks-mrtr-composition", "sep-2640-skills-enumeration"),
)
"""Scenarios of a server that every run of the tests judges."""
SKIPPED: Final = {
    "tasks-status-notifications": "the suite skips it for every server",
    "sep-2640-skills-directory": "`directoryRead` is optional and not declared: a skill of Vespe has "
    "one file, and the suite wants a subdirectory too",
}
"""Scenarios of which the suite skips every check, with the reason."""
_PATIENCE_S: Final = 300


def judged_server(name: str, url: str) -> dict[str, Any]:
    """Run a scenario of a server, and return what the suite says."""
    return _judged(name, "server", "--url", url)


def judged_client(name: str) -> dict[str, Any]:
    """Run a scenario of a client, and return what the suite says."""
    client = f"{sys.executable} -m tests.acceptance.conformance_extensions --client"
    return _judged(name, "client", "--command", client, "--timeout", str(_PATIENCE_S * 1000))


def _judged(name: str, *words: str) -> dict[str, Any]:
    command = [str(MODULES / ".bin/node"), str(SUITE), *words, "--scenario", name]
    done = subprocess.run(
        [*command, "--spec-version", REVISION, "--force"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=_PATIENCE_S + 60,
        check=False,
    )
    text = done.stdout + done.stderr
    counted = re.search(r"Passed: (\d+)/\d+, \d+ failed, \d+ warnings", text)
    passed = int(counted[1]) if counted else 0
    ok = done.returncode == 0 and (passed > 0 or name in SKIPPED)
    found: dict[str, Any] = {"ok": ok, "said": counted and counted[0]}
    if name in SKIPPED:
        found["skipped"] = SKIPPED[name]
    if not ok:
        lines = text.replace(sys.executable, "python").replace(str(ROOT), ".").splitlines()
        found["lines"] = lines[-40:]
    return found


def play(url: str) -> None:
    """Be the client of a scenario about skills: read each file as long as the skill is taken."""
    with tempfile.TemporaryDirectory() as home:
        client = Client(Path(home))
        client.run("init")
        hosts = [urlsplit(url).netloc, "localhost", "127.0.0.1"]
        client.run("config", "set", "allow_hosts", json.dumps(hosts))
        client.run("kit", "add-mcp", "conf", "--url", url, "--activate", "--yes")
        listed = json.loads(client.run("kit", "skill", "conf", "--json"))["skills"]
        if client.scenario == "sep-2640-client-no-prefetch":
            return
        for skill in listed:
            for file in skill["files"]:
                client.run("kit", "skill", "conf", skill["name"], file, "--json")


def served(names: list[str]) -> dict[str, Any]:
    """Judge a server by its scenarios."""
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {name: str(Path(home, name)) for name in HOMES}
        project = conformance_project.make(Path(home, "project"))
        with endpoint("http", project, dict(os.environ)) as url:
            return {name: judged_server(name, url) for name in names}


def main() -> int:
    """Judge the scenarios, or be the client of one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--client", metavar="URL")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    if asked.client:
        play(asked.client)
        return 0
    every = (*TASKS, *SKILLS, *CLIENT)
    names = asked.names or every
    found = served([name for name in names if name not in CLIENT])
    found |= {name: judged_client(name) for name in names if name in CLIENT}
    passed = sum(one["ok"] and "skipped" not in one for one in found.values())
    skipped = sum("skipped" in one for one in found.values())
    said = {"revision": REVISION, "scenarios": len(found), "passed": passed, "skipped": skipped}
    sys.stdout.write(json.dumps({**said, "found": found}, indent=2) + "\n")
    return 0 if passed + skipped == len(found) else 1


if __name__ == "__main__":
    sys.exit(main())
