"""This project's entry among an MCP client's servers: the command that serves it, its name, and
finding it again.
"""

import hashlib
import os
import re
import sys
from collections.abc import Sequence
from typing import Any, Final

from vespe.documents import jsonc, toml
from vespe.errors import InvalidDocument, UsageError
from vespe.features.mcp.clients.table import WORKSPACES, McpClient
from vespe.models import JsonObject

_SERVE: Final = ["mcp", "serve", "--project"]
_KEPT_OPTIONS: Final = re.compile(
    r"--(?:read-only|log-arguments|(?:kit|tool) \S+|tools-mode [a-z]+|ask (?:client|deny)"
    r"|results (?:whole|bounded)|max-calls [0-9]+)"
)
"""The options of `vespe mcp serve` that an entry keeps when it is written again without options."""
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,40}")
_MAX_SLUG: Final = 24


def server_command(root: str, extra: Sequence[str] = ()) -> list[str]:
    """Return the argv that serves the project at `root` from anywhere on this machine: absolute
    paths, so that no PATH is needed.
    """
    beside = _installed()
    program = [beside] if beside else [os.path.abspath(sys.executable), "-I", "-m", "vespe"]
    return [*program, *_SERVE, root, *extra]


def portable_command(client: McpClient, root: str, extra: Sequence[str] = ()) -> list[str]:
    """Return the argv that serves the project at `root` on every machine that has it, for a file
    that a team commits.

    The program is the one inside the project (a `.venv` that everybody makes), else `vespe` on the
    PATH. The client starts it in the project, or puts the project's directory in the place of
    `client.workspace`.
    """
    beside = _installed()
    inside = (
        os.path.relpath(beside, root)
        if beside and os.path.commonpath([beside, root]) == root
        else ""
    )
    program = (
        "vespe"
        if not inside
        else os.path.join(client.workspace, inside)
        if client.workspace != "."
        else inside
    )
    return [program, *_SERVE, client.workspace, *extra]


def as_started(client: McpClient, command: Sequence[str], root: str) -> list[str]:
    """Return the argv that the client runs in `root` for an entry's: with the project's directory
    put in.
    """
    return [
        word.replace(client.workspace, root) if client.workspace != "." else word
        for word in command
    ]


def _installed() -> str:
    """Return the path of the `vespe` beside this interpreter; "" where there is none."""
    beside = os.path.join(os.path.dirname(os.path.abspath(sys.executable)), "vespe")
    return beside if os.access(beside, os.X_OK) else ""


def servers_of(client: McpClient, text: str, *, path: str) -> JsonObject:
    """Return the servers by name that a client's file holds; raises InvalidDocument for a file that
    cannot be read.
    """
    if not text.strip("\ufeff \t\r\n"):
        return {}
    if client.toml:
        found: Any = toml.read_toml(text, path=path).get(client.key, {})
        return found if isinstance(found, dict) else {}
    node = jsonc.parse(text, path=path)
    jsonc.as_object(node, path=path)
    member = jsonc.find(node, [client.key], path=path)
    if member is None:
        return {}
    if not isinstance(member.node.value, dict):
        line = text.count("\n", 0, member.node.start) + 1
        raise InvalidDocument(f"`{client.key}` must be an object", path=path, line=line)
    return member.node.value


def serves(entry: object, root: str) -> bool:
    """Whether an entry, of a file in the project or of the user's own, is one that serves the
    project at `root`.
    """
    args = entry.get("args") if isinstance(entry, dict) else None
    if not isinstance(args, list):
        return False
    place = next(
        (number for number in range(len(args)) if args[number : number + 3] == _SERVE), None
    )
    named = args[place + 3 : place + 4] if place is not None else []
    if not named or not isinstance(named[0], str):
        return False
    return named[0] in WORKSPACES or os.path.realpath(named[0]) == os.path.realpath(root)


def entry_name(servers: JsonObject, root: str, *, wanted: str | None) -> str:
    """Return the name to write the entry under: `wanted`, else that of this project's entry, else a
    free one after its directory.

    Raises UsageError for a name that clients do not take.
    """
    if wanted is not None:
        if not _NAME.fullmatch(wanted):
            raise UsageError(
                f"{wanted!r} is not a name of a server: it takes letters, "
                "digits, _ and -, 40 at most"
            )
        return wanted
    mine = next((name for name, entry in servers.items() if serves(entry, root)), None)
    if mine is not None:
        return mine
    slug = (
        re.sub(r"[^a-z0-9]+", "-", os.path.basename(os.path.realpath(root)).lower())
        .strip("-")[:_MAX_SLUG]
        .strip("-")
    )
    plain = f"vespe-{slug}" if slug else "vespe"
    digest = hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()
    return plain if plain not in servers else f"{plain}-{digest[:6]}"


def options_of(entry: object) -> tuple[list[str], list[str]]:
    """Return the options for the server of an entry that serves a project: those to keep when the
    entry is written again, and those to leave out.

    Left out is what lifts a protection or serves something else, such as `--trust` and `--ask
    allow`, and what is unknown: anyone may have written the file, and the server is started with
    these options to check it.
    """
    args = entry.get("args") if isinstance(entry, dict) else None
    words = args if isinstance(args, list) and all(isinstance(word, str) for word in args) else []
    starts = [number for number in range(len(words)) if words[number : number + 3] == _SERVE]
    given: list[list[str]] = []
    for word in words[starts[0] + 4 :] if starts else ():
        if word.startswith("-") or not given:
            given.append([word])
        else:  # the value of the option before it
            given[-1].append(word)
    kept: list[str] = []
    left_out: list[str] = []
    for option in given:
        is_kept = _KEPT_OPTIONS.fullmatch(" ".join(option).replace("=", " ", 1))
        (kept if is_kept else left_out).extend(option)
    return kept, left_out


def with_former(entry: JsonObject, former: object) -> JsonObject:
    """Return an entry with the variables that the `former` one of its name has besides."""
    before = former.get("env") if isinstance(former, dict) else None
    if "env" not in entry or not isinstance(before, dict):
        return entry
    return entry | {"env": before | entry["env"]}


def merged(client: McpClient, text: str, name: str, *, entry: JsonObject, path: str) -> str:
    """Return a client's file with the entry under `name`; what else an entry of that name holds
    stays. Raises InvalidDocument.
    """
    if client.toml:
        return toml.with_table(text, client.key, name, values=entry, path=path)
    known = servers_of(client, text, path=path).get(name)
    if not isinstance(known, dict):
        return jsonc.with_member(text, [client.key, name], entry, path=path)
    for key, value in entry.items():
        text = jsonc.with_member(text, [client.key, name, key], value, path=path)
    return text


def unmerged(client: McpClient, text: str, name: str, *, path: str) -> str:
    """Return a client's file without the entry under `name`. Raises InvalidDocument."""
    if client.toml:
        return toml.without_table(text, client.key, name, path=path)
    return jsonc.without_member(text, [client.key, name], path=path)


def is_made_of(client: McpClient, text: str, origin: str, *, name: str, root: str) -> bool:
    """Say whether a client's file is exactly what writing its entry `name`, which serves the
    project at `root`, made of `origin`.
    """
    try:
        entry = servers_of(client, text, path="").get(name)
        return (
            isinstance(entry, dict)
            and serves(entry, root)
            and merged(client, origin, name, entry=entry, path="") == text
        )
    except (InvalidDocument, TypeError):  # such an entry, or such a file, was none of ours
        return False
