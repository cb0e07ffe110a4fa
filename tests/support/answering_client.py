"""A client for the conformance suite: `vespe` on a pseudo-terminal, whose person says yes to every
question and leaves every field empty. The last argument is the URL of the suite's server.
"""

import json
import os
import pty
import re
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.terminal import environment_of

_VALUES = {"integer": 1, "number": 2, "boolean": True}
_FIELD = re.compile(rb"\n[\w ]+: $")


def main(url: str) -> None:
    """Make a kit of the server, and call each of its tools once."""
    with tempfile.TemporaryDirectory() as place:
        project = Path(place, "project")
        project.mkdir()
        names = ("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")
        env = environment_of(**{name: f"{place}/{name}" for name in names}, NO_COLOR="1")
        run(project, env, "init", ".")
        run(project, env, "config", "set", "allow_hosts", json.dumps([urlsplit(url).netloc]))
        run(project, env, "kit", "add-mcp", "suite", "--url", url, "--activate", "--yes")
        for tool in json.loads(run(project, env, "tool", "list", "--json"))["tools"]:
            shown = json.loads(run(project, env, "tool", "show", tool["name"], "--json"))
            properties = shown["schema"]["input"].get("properties", {})
            given = {name: _VALUES.get(one.get("type"), "x") for name, one in properties.items()}
            said = answered(project, env, "tool", "run", tool["name"], "--args", json.dumps(given))
            sys.stdout.write(said)


def run(project: Path, env: dict[str, str], *arguments: str) -> str:
    """Run vespe without a person, and return its stdout."""
    done = subprocess.run(
        [sys.executable, "-m", "vespe", *arguments],
        cwd=project,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def answered(project: Path, env: dict[str, str], *arguments: str) -> str:
    """Run vespe on a pseudo-terminal, answer what it asks, and return all that it shows."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(project)
        os.execve(sys.executable, [sys.executable, "-m", "vespe", *arguments], env)
    shown, seen, until = b"", 0, time.monotonic() + 60
    while time.monotonic() < until:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                shown += os.read(terminal, 4096)
            except OSError:  # the other end is closed
                break
        asked = shown[seen:]
        if asked.endswith(b"[y/n] ") or _FIELD.search(asked):
            os.write(terminal, b"y\n" if asked.endswith(b"[y/n] ") else b"\n")
            seen = len(shown)
    os.close(terminal)
    os.waitpid(pid, 0)
    return shown.decode("utf-8", "replace")


if __name__ == "__main__":
    main(sys.argv[-1])
