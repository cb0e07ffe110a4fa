"""The client scenarios of the official MCP conformance suite, driven as a person drives Vespe.

    python -m tests.acceptance.conformance_client [--json] [SCENARIO ...]

The suite starts its servers and runs this module with `--client URL`. That adds the server as a kit
from a terminal, where a browser says yes to every login, and calls each tool of it; where a call
says that a login is needed, the command that it names is run, once. The suite judges what its
servers saw.
"""

import argparse
import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from tests.acceptance.conformance_server import MODULES, SUITE
from tests.support.terminal import vespe_on_a_terminal
from tests.support.visitor import BROWSER
from vespe.cli import main as vespe_main

ROOT: Final = Path(__file__).resolve().parents[2]
REVISION: Final = "2026-07-28"
OLDER: Final = {
    "initialize": "2025-11-25",
    "elicitation-sep1034-client-defaults": "2025-11-25",
    "sse-retry": "2025-11-25",
    "auth/2025-03-26-oauth-metadata-backcompat": "2025-03-26",
}
"""Scenarios that only an older revision has, with the newest of those."""
LEFT_OUT: Final = {
    "auth/2025-03-26-oauth-endpoint-fallback": "endpoints of a server without metadata are not "
    "guessed: nothing would say where the code goes",
}
"""Scenarios of an older revision that Vespe does not pass, with the reason. They are tried too: one
that passes must not be left out.
"""
_LEFT_OUT_REVISION: Final = "2025-03-26"
ASKED: Final = ("sep-2322-client-request-state", "elicitation-sep1034-client-defaults")
"""Scenarios whose server asks the person, who answers at a terminal."""
_CIMD: Final = "https://conformance-test.local/client-metadata.json"
_AT_ONCE: Final = 3
_SCENARIO_S: Final = 240
_VALUES: Final = {"integer": 1, "number": 2, "boolean": True, "string": "x"}
_ECHO: Final = "json_schema_echo"
_ECHOED: Final = "json_schema_2020_12_tool"
"""A tool that is given the schema of the other, as Vespe keeps it: the suite compares it."""


def scenarios() -> list[str]:
    """The client scenarios of the revision, as the suite lists them, and those that only older ones
    have.
    """
    listed = _suite("list").stdout
    part = listed.partition("Client scenarios")[2].partition("\n\n")[0]
    found = re.findall(r"- (\S+) \[([^\]]*)\]", part)
    known = [name for name, revisions in found if REVISION in revisions.split(",")]
    return [*known, *OLDER]


def judged(names: list[str]) -> dict[str, Any]:
    """Run scenarios, a few at a time, and return what the suite says of each."""
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        return dict(zip(names, threads.map(_judged, names), strict=True))


def _judged(name: str) -> dict[str, Any]:
    module = "support.answering_client" if name in ASKED else "acceptance.conformance_client"
    client = f"{sys.executable} -m tests.{module} --client"
    revision = _LEFT_OUT_REVISION if name in LEFT_OUT else OLDER.get(name, REVISION)
    words = ("client", "--command", client, "--scenario", name, "--spec-version", revision)
    done = _suite(*words, "--timeout", str(_SCENARIO_S * 1000), seconds=_SCENARIO_S + 60)
    lines = [line.strip() for line in (done.stdout + done.stderr).splitlines()]
    said = re.search(r"Passed: (\d+)/\d+, \d+ failed, \d+ warnings", "\n".join(lines))
    # A scenario whose client never came checks nothing, and the suite calls that a success.
    ok = done.returncode == 0 and said is not None and int(said[1]) > 0
    found: dict[str, Any] = {"ok": ok, "said": said and said[0]}
    if not ok:
        found["lines"] = [line.replace(sys.executable, "python") for line in lines[-40:]]
    _tell(f"{name}: {'passed' if found['ok'] else 'FAILED'}")
    return found


def main() -> int:
    """Judge the scenarios, or be the client of one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--client", metavar="URL")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    if asked.client:
        with tempfile.TemporaryDirectory() as home:
            Client(Path(home)).play(asked.client)
        return 0
    known = scenarios()
    every = judged(asked.names or [*known, *LEFT_OUT])
    found = {name: one for name, one in every.items() if name not in LEFT_OUT}
    passed = sum(one["ok"] for one in found.values())
    left_out = {
        name: {"reason": LEFT_OUT[name], "fails": not one["ok"], "said": one["said"]}
        for name, one in every.items()
        if name in LEFT_OUT
    }
    said = {"revision": REVISION, "scenarios": len(known), "tried": len(found), "passed": passed}
    document = {**said, "older": OLDER, "left_out": left_out, "found": found}
    sys.stdout.write(json.dumps(document, indent=2) + "\n")
    fail = all(one["fails"] for one in left_out.values())
    return 0 if passed == len(found) and fail else 1


class Client:
    """Vespe in a home of its own, as a person uses it."""

    def __init__(self, home: Path) -> None:
        self.scenario = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
        self.context: dict[str, Any] = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
        self.project = home / "project"
        self.project.mkdir()
        kept = {"PATH", "LANG", "SSL_CERT_FILE"}
        for name in [name for name in os.environ if name not in kept]:
            del os.environ[name]
        os.environ |= {
            "HOME": str(home),
            "PYTHONPATH": str(ROOT),
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
            "BROWSER": BROWSER,
        }

    def play(self, url: str) -> None:
        """Add the server, and call its tools."""
        os.chdir(self.project)
        self.here("init")
        hosts = [urlsplit(url).netloc, "localhost", "127.0.0.1"]
        self.here("config", "set", "allow_hosts", json.dumps(hosts))
        words = ["kit", "add-mcp", "conf", "--url", url, "--activate", "--yes"]
        if "client_id" in self.context:
            secret = self.context.get("client_secret", "")
            self.here("config", "set", "secrets.CLIENT", secret)
            words += ["--client-id", self.context["client_id"], "--client-secret", "CLIENT"]
            words += ["--port", str(self.context.get("port", 0))]
        else:
            self.here("config", "set", "mcp.client_metadata_url", _CIMD)
        shown = vespe_on_a_terminal(*words, cwd=self.project, columns=1000)
        _tell(shown)
        if again := re.search(r"`vespe (mcp login [^`]+)`", shown):
            login = (*shlex.split(again[1]), "--yes")
            _tell(vespe_on_a_terminal(*login, cwd=self.project, columns=1000))
            _tell(vespe_on_a_terminal(*words, cwd=self.project, columns=1000))
        wanted = self.context.get("toolCalls")
        for call in wanted if isinstance(wanted, list) else self.calls():
            self.call(call["name"], call["arguments"])

    def calls(self) -> list[dict[str, Any]]:
        """A call of each tool, with arguments that its schema takes."""
        known = {
            tool["name"]: tool["inputSchema"]
            for tool in json.loads(self.here("export", "--as", "mcp") or "[]")
        }
        found = []
        for name, schema in known.items():
            given = {
                key: _VALUES.get(str(field.get("type")), "x")
                for key, field in schema.get("properties", {}).items()
                if isinstance(field, dict)
            }
            if name == _ECHO:
                given = {"schema": known[_ECHOED]}
            found.append({"name": name, "arguments": given})
        return found

    def call(self, name: str, arguments: dict[str, Any]) -> None:
        """Call a tool; where it needs a login, make it as the hint says, and call it again. Vespe
        refuses a null that the tool's schema does not allow: a person leaves it out.
        """
        words = ("tool", "run", name, "--args", json.dumps(arguments), "--json")
        error = json.loads(self.run(*words)).get("error") or {}
        if error.get("code") == "invalid_arguments" and None in arguments.values():
            given = {key: value for key, value in arguments.items() if value is not None}
            return self.call(name, given)
        if error.get("code") == "login_required":
            command = shlex.split(error["hint"].split("`")[1])[1:]
            _tell(vespe_on_a_terminal(*command, "--yes", cwd=self.project, columns=1000))
            self.run(*words)
        return None

    def here(self, *words: str) -> str:
        """Run a command that asks no server in this process, and return its stdout."""
        with contextlib.redirect_stdout(io.StringIO()) as shown:
            code = vespe_main(list(words))
        _tell(f"$ vespe {shlex.join(words)}: {code}")
        return shown.getvalue()

    def run(self, *words: str) -> str:
        """Run a command without a terminal, and return its stdout."""
        done = subprocess.run(
            [sys.executable, "-m", "vespe", *words],
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        _tell(f"$ vespe {shlex.join(words)}: {done.returncode}\n{done.stderr}")
        return done.stdout


def _tell(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def _suite(*words: str, seconds: int = 60) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(MODULES / ".bin/node"), str(SUITE), *words],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=seconds,
        check=False,
    )


if __name__ == "__main__":
    sys.exit(main())
