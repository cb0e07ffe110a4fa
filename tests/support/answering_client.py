"""A client for the conformance suite: `vespe` on a pseudo-terminal, whose person says yes to every
question and leaves every field empty. The last argument is the URL of the suite's server.
"""

import contextlib
import io
import json
import os
import pty
import re
import select
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.terminal import environment_of
from vespe.cli import main as vespe_main

_VALUES = {"integer": 1, "number": 2, "boolean": True}
_FIELD = re.compile(rb"\n[\w ]+: $")


def main(url: str) -> None:
    """Make a kit of the server, and call each of its tools once."""
    with tempfile.TemporaryDirectory() as place:
        project = Path(place, "project")
        project.mkdir()
        os.chdir(project)
        names = ("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")
        os.environ |= {name: f"{place}/{name}" for name in names}
        env = environment_of(NO_COLOR="1")
        run("init", ".")
        run("config", "set", "allow_hosts", json.dumps([urlsplit(url).netloc]))
        run("kit", "add-mcp", "suite", "--url", url, "--activate", "--yes")
        for tool in json.loads(run("export", "--as", "mcp")):
            properties = tool["inputSchema"].get("properties", {})
            given = {name: _VALUES.get(one.get("type"), "x") for name, one in properties.items()}
            said = answered(project, env, "tool", "run", tool["name"], "--args", json.dumps(given))
            sys.stdout.write(said)


def run(*arguments: str) -> str:
    """Run a command without a person in this process, and return its stdout."""
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        assert vespe_main(list(arguments)) == 0, arguments
    return shown.getvalue()


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
