"""Servers that others wrote, recorded once and replayed: what do clients see, and is a secret in
the file?

Each server is asked by the TypeScript SDK's two clients and by the Python SDK's, first itself and
then its recording. `python -m tests.acceptance.recordings [SERVER ...]`: the servers are installed from npm and
PyPI into a directory of their own.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import anyio
import mcp
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.support.ondisk import PATIENCE_S

MODULES: Final = Path(sys.prefix) / "node" / "node_modules"
_SCRIPT: Final = Path(__file__).parents[1] / "cases/mcp/node/calls.mjs"
_NPM: Final = tuple(
    f"@modelcontextprotocol/server-{n}" for n in ("everything", "filesystem", "memory")
)
_PYPI: Final = ("mcp-server-time", "mcp-server-git")
SECRET: Final = "a-value-of-the-environment-4711"
TOKEN: Final = "ghp_" + "A1b2C3d4E5f6G7h8J9k0" * 2
PASSWORD: Final = "hunter22"
SECRETS: Final = (SECRET, TOKEN, PASSWORD)
Calls = Sequence[tuple[str, dict[str, Any]]]


def node_client(package: str) -> Callable[[Calls, Sequence[str], Path], str]:
    """Return what asks a server by one of the TypeScript SDK's clients."""

    def ask(calls: Calls, command: Sequence[str], cwd: Path) -> str:
        argv = [str(MODULES / ".bin/node"), str(_SCRIPT), str(MODULES), package, json.dumps(calls)]
        done = subprocess.run(
            [*argv, *command],
            cwd=cwd,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return ask


def python_client(calls: Calls, command: Sequence[str], cwd: Path) -> str:
    """Ask a server by the Python SDK's client."""
    parameters = StdioServerParameters(
        command=command[0], args=list(command[1:]), cwd=cwd, env=dict(os.environ)
    )

    async def main() -> str:
        with anyio.fail_after(2 * PATIENCE_S):
            async with mcp.Client(stdio_client(parameters)) as client:
                seen = [(await client.list_tools()).model_dump_json()]
                for name, arguments in calls:
                    try:
                        seen.append((await client.call_tool(name, arguments)).model_dump_json())
                    except mcp.MCPError as error:
                        seen.append(f"{error.error.code} {error.error.message}")
                return "\n".join(seen)

    return anyio.run(main)


CLIENTS: Final[dict[str, Callable[[Calls, Sequence[str], Path], str]]] = {
    "typescript sdk": node_client("sdk"),
    "typescript client": node_client("client"),
    "python": python_client,
}


def compared(
    client: str, calls: Calls, server: Sequence[str], cwd: Path, file: Path
) -> tuple[bool, bool]:
    """Record a server as a client asks it, and replay it to the same client: whether the client saw
    the same bytes but for secrets, and whether the file is free of the secrets.
    """
    ask, vespe = CLIENTS[client], (sys.executable, "-m", "vespe")
    wrapped = (*vespe, "mcp", "wrap", "--write", ".", "--record", str(file), "--", *server)
    live = ask(calls, wrapped, cwd)
    again = ask(calls, (*vespe, "mcp", "serve", "--replay", str(file)), cwd)
    data = file.read_text(encoding="utf-8")
    for secret in SECRETS:
        live = live.replace(secret, "***")
    return live == again, not any(secret in data for secret in SECRETS)


def servers(place: Path, work: Path) -> dict[str, tuple[list[str], Calls]]:
    """Install the servers, and return how each is started and what it is asked."""
    npm = ["npm", "install", "--prefix", str(place), "--no-audit", "--no-fund", "--loglevel=error"]
    if not (place / "py/bin/mcp-server-git").exists():
        subprocess.run([*npm, *_NPM], check=True, stdout=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(place / "py")], check=True)
        pip = [str(place / "py/bin/pip"), "install", "-q", *_PYPI]
        subprocess.run(pip, check=True, stdout=sys.stderr)
    subprocess.run(["git", "init", "-q", str(work)], check=True)
    (work / "a.txt").write_text("größer\n\u2028 \U0001f600\n", encoding="utf-8")
    node, modules = str(MODULES / ".bin/node"), place / "node_modules/@modelcontextprotocol"
    zones = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}
    entity = {"name": "ada", "entityType": "person", "observations": [f"key {TOKEN}"]}
    return {
        "everything": (
            [node, str(modules / "server-everything/dist/index.js")],
            [
                ("echo", {"message": f"say {SECRET} and {TOKEN}"}),
                ("get-sum", {"a": 1.5, "b": 2}),
                ("get-sum", {"a": "x"}),
                ("get-tiny-image", {}),
                ("get-structured-content", {"location": "New York"}),
                ("nope", {}),
            ],
        ),
        "filesystem": (
            [node, str(modules / "server-filesystem/dist/index.js"), "."],
            [
                ("write_file", {"path": "b.txt", "content": "a text\n"}),
                ("list_directory", {"path": "."}),
                ("read_text_file", {"path": "a.txt"}),
                ("read_text_file", {"path": "/etc/shadow"}),
                ("get_file_info", {"path": "a.txt"}),
            ],
        ),
        "memory": (
            [node, str(modules / "server-memory/dist/index.js")],
            [
                ("read_graph", {}),
                ("create_entities", {"entities": [entity]}),
                ("read_graph", {}),
                ("read_graph", {}),
            ],
        ),
        "time": (
            [str(place / "py/bin/mcp-server-time")],
            [
                ("get_current_time", {"timezone": "Europe/Berlin"}),
                ("get_current_time", {"timezone": "Europe/Berlin"}),
                ("convert_time", zones),
                ("convert_time", {"password": PASSWORD}),
            ],
        ),
        "git": (
            [str(place / "py/bin/mcp-server-git")],
            [
                ("git_status", {"repo_path": str(work)}),
                ("git_add", {"repo_path": str(work), "files": ["a.txt"]}),
                ("git_status", {"repo_path": str(work)}),
            ],
        ),
    }


def main() -> int:
    """Print what was compared, and return 1 where a client saw other bytes or a secret was kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print data")
    parser.add_argument("names", nargs="*", metavar="SERVER", help="default: all of them")
    asked = parser.parse_args()
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(dir=sys.prefix, ignore_cleanup_errors=True) as home:
        for name in ("CONFIG", "DATA", "STATE", "CACHE"):
            os.environ[f"XDG_{name}_HOME"] = f"{home}/{name}"
        os.environ |= {"MY_SECRET": SECRET, "PYTHONPATH": str(Path(__file__).parents[2])}
        place, work = Path(sys.prefix, "recorded"), Path(home, "work")
        work.mkdir()
        known = servers(place, work)
        for name in asked.names or known:
            command, calls = known[name]
            for client in CLIENTS:
                file = Path(home, f"{name}-{client.replace(' ', '-')}.jsonl")
                equal, clean = compared(client, calls, command, work, file)
                found[f"{name}, {client}"] = {"equal": equal, "without_secrets": clean}
    sys.stdout.write(json.dumps(found, indent=None if asked.json else 1) + "\n")
    return 0 if all(all(one.values()) for one in found.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
