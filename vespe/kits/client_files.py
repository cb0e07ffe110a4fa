"""MCP servers as others write them down: clients' own files, MCPB manifests, server.json. Secrets
are named, never taken.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from vespe.documents import jsonc, toml
from vespe.documents.foreign import parse_foreign
from vespe.errors import InvalidDocument, Refused
from vespe.http.addresses import parse_url
from vespe.kits import server_json
from vespe.models import JsonObject

_KEYS: Final = (
    "mcpServers",
    "servers",
    "context_servers",
    "mcp_servers",
    "mcp",
    "extensions",
    "amp.mcpServers",
)
"""Under which Claude, Cursor, Gemini and Windsurf, VS Code, Zed, Codex, opencode, goose and Amp
keep servers.
"""
_URLS: Final = ("url", "httpUrl", "serverUrl", "uri", "endpoint")
_PLACEHOLDER: Final = re.compile(
    r"\$\{(?:env:|input:)?([A-Za-z_][A-Za-z0-9_.:-]*)\}|\$([A-Za-z_][A-Za-z0-9_]*)"
)
_SECRET_WORD: Final = re.compile(
    r"key|token|secret|passw|pwd|credential|auth|dsn|private|cookie|session|connection_?string",
    re.IGNORECASE,
)
_SECRET_SHAPE: Final = re.compile(
    r"\b(?:sk-|gh[pousr]_|github_pat_|xox[abpr]-|AKIA|eyJ[A-Za-z0-9_-]{10}|glpat-|hf_|AIza|(?=[A-Za-z_]*[0-9])[A-Za-z0-9_]{32,}\b)"
)
_PLACES: Final = {
    "HOME": "~",
    "userHome": "~",
    "PWD": ".",
    "workspaceFolder": ".",
    "workspaceRoot": ".",
    "cwd": ".",
}
_OUTSIDE: Final = re.compile(r"[^a-z0-9]+")


@dataclass(slots=True, kw_only=True)
class ServerEntry:
    """One server of a file: what `kit_config.json` says of it, and notes for whoever imports; a
    `problem` says why it is none here.
    """

    name: str
    server: JsonObject = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    problem: str = ""

    is_off: bool = False

    @property
    def kit_id(self) -> str:
        """The id of the kit that the server becomes."""
        return _OUTSIDE.sub("_", self.name.lower()).strip("_")[:64].strip("_") or "server"


def servers_in(data: bytes, *, path: str) -> list[ServerEntry]:
    """Return every server that a file names; raises InvalidDocument for what cannot be read, or
    names none.
    """
    document = _read(data, path)
    if isinstance(document, dict) and (found := server_json.package_of(document)):
        return [
            _checked(
                ServerEntry(
                    name=found.name, server=found.server, notes=found.notes, problem=found.problem
                )
            )
        ]
    entries = [(name, entry) for name, entry in _entries(document) if isinstance(entry, dict)]
    if not entries:
        raise InvalidDocument(
            "contains no MCP server in a format that Vespe knows",
            path=path,
            hint="it has `mcpServers`, or is a server.json",
        )
    return [_checked(_found(str(name), entry)) for name, entry in entries]


def _read(data: bytes, path: str) -> Any:
    if path.endswith(".toml"):
        return toml.read_toml(data.decode("utf-8", "replace"), path=path)
    text = data.decode("utf-8-sig", "replace")
    return (
        jsonc.parse(text, path=path).value
        if text.lstrip().startswith(("{", "/"))
        else parse_foreign(data, path=path)
    )


def _entries(document: Any) -> Iterator[tuple[Any, Any]]:
    if not isinstance(document, dict):
        return
    config = document.get("server")
    if "manifest_version" in document or "dxt_version" in document:
        yield (
            document.get("name", "server"),
            config.get("mcp_config") if isinstance(config, dict) else None,
        )
        return
    known = False
    for key in _KEYS:
        held = document.get(key)
        if isinstance(held, dict) and isinstance(held.get("servers"), dict):
            held = held["servers"]
        if isinstance(held, (dict, list)):
            known = True
            yield from (
                held.items() if isinstance(held, dict) else ((_name_of(one), one) for one in held)
            )
    if not known and all(isinstance(one, dict) and _is_entry(one) for one in document.values()):
        yield from document.items()


def _name_of(entry: Any) -> str:
    return str(entry.get("name", "server")) if isinstance(entry, dict) else "server"


def _is_entry(entry: JsonObject) -> bool:
    return "command" in entry or any(isinstance(entry.get(key), str) for key in _URLS)


def _found(name: str, entry: JsonObject) -> ServerEntry:
    made = ServerEntry(name=name)
    command, url = (
        entry.get("command", entry.get("cmd")),
        next((entry[key] for key in _URLS if isinstance(entry.get(key), str)), None),
    )
    if entry.get("disabled") is True or entry.get("enabled") is False:
        made.problem, made.is_off = "it is disabled there", True
    elif isinstance(command, dict):
        return _found(
            name,
            {
                **entry,
                "command": command.get("path"),
                "args": command.get("args"),
                "env": command.get("env"),
            },
        )
    elif url is not None and (
        url.endswith("/sse") or entry.get("type") == "sse" or entry.get("transport") == "sse"
    ):
        made.problem = (
            "it uses HTTP with SSE, which MCP no longer supports; "
            "servers offer Streamable HTTP at another URL, often /mcp"
        )
    elif url is not None:
        _remote(made, entry, url)
    elif command:
        _local(made, entry, command)
    else:
        made.problem = "it has neither a command nor a URL"
    return made


def _local(made: ServerEntry, entry: JsonObject, command: Any) -> None:
    words = [*(command if isinstance(command, list) else [command]), *(entry.get("args") or [])]
    if not all(isinstance(word, (str, int, float)) for word in words):
        made.problem = "its command is not a list of strings"
        return
    filled = [_placed(str(word)) for word in words]
    for before, word in zip(["", *filled], filled, strict=False):
        if left := _PLACEHOLDER.search(word):
            made.problem = (
                f"its command contains the variable {left[0]}, but a command here cannot have "
                "variables"
            )
        elif (
            _SECRET_SHAPE.match(word) or (before.startswith("-") and _SECRET_WORD.search(before))
        ) and not word.startswith("-"):
            made.problem = (
                "its command contains a secret, which every program on this machine can see; "
                "pass the secret as an environment variable"
            )
    if entry.get("cwd"):
        made.notes.append("its `cwd` is left out: a server starts in the project")
    fixed, filled_in = _environment(
        made,
        next(
            (
                entry[key]
                for key in ("env", "environment", "envs")
                if isinstance(entry.get(key), dict)
            ),
            {},
        ),
    )
    named = entry.get("env_vars")
    _declare(made, [str(name) for name in named] if isinstance(named, list) else [])
    made.server["command"] = [*(["env", *fixed] if fixed else []), *filled]
    if filled_in:
        made.server["env"] = filled_in


def _environment(made: ServerEntry, said: JsonObject) -> tuple[list[str], dict[str, str]]:
    """Return the assignments that are no secrets, and the variables that are made of others of the
    user's, as templates; declare the others, whose values are not taken.
    """
    fixed, filled_in = [], {}
    for name, value in said.items():
        text = str(value) if isinstance(value, (str, int, float)) else ""
        if template := _of_others(made, name, text):
            filled_in[name] = template
        elif (
            _PLACEHOLDER.search(text)
            or _SECRET_WORD.search(name)
            or _SECRET_SHAPE.search(text)
            or not text
            or text.startswith("<")
        ):
            _declare(made, [name])
            if text and not _PLACEHOLDER.search(text):
                made.notes.append(
                    f"the value of {name} is not imported: set it in your environment, "
                    "or store it as a secret"
                )
        else:
            fixed.append(f"{name}={text}")
    return fixed, filled_in


def _of_others(made: ServerEntry, name: str, text: str) -> str:
    """Return the template of a variable whose value names others of the user's, which are declared;
    "" where it names none, only itself, or what a client asks for.
    """
    named = [found[1] or found[2] for found in _PLACEHOLDER.finditer(text)]
    if not named or text.startswith(f"${{{name}}}") or "${input:" in text:
        return ""
    plain = [re.split("[^A-Za-z0-9_]", word, maxsplit=1)[0] for word in named]
    if plain == [name] or any(word in _PLACES for word in named):
        return ""
    if plain != named:
        made.notes.append(
            f"the default of {name} is not imported: set {', '.join(plain)} in your "
            "environment, or store it as a secret"
        )
    _declare(made, plain)
    return _PLACEHOLDER.sub(
        lambda found: f"${{env:{plain[named.index(found[1] or found[2])]}}}", text
    )


def _remote(made: ServerEntry, entry: JsonObject, url: str) -> None:
    said: JsonObject = next(
        (
            entry[key]
            for key in ("headers", "http_headers", "requestInit")
            if isinstance(entry.get(key), dict)
        ),
        {},
    )
    held = said.get("headers")
    headers = {
        str(name): str(value) for name, value in (held if isinstance(held, dict) else said).items()
    }
    if isinstance(variable := entry.get("bearer_token_env_var"), str):
        headers["Authorization"] = f"Bearer ${{{variable}}}"
    named = entry.get("env_http_headers")
    headers |= {
        str(name): f"${{{variable}}}"
        for name, variable in (named.items() if isinstance(named, dict) else ())
    }
    if (
        _PLACEHOLDER.search(url)
        or "@" in url.partition("?")[0].partition("//")[2].partition("/")[0]
    ):
        made.problem = "its URL contains a variable or a user name, which is not allowed here"
        return
    if any(
        _SECRET_WORD.search(pair.partition("=")[0]) and pair.partition("=")[2]
        for pair in url.partition("?")[2].split("&")
    ):
        made.problem = (
            "its URL contains a secret, which would be stored in a file that everyone can read"
        )
        return
    made.server["url"] = url
    for name, value in headers.items():
        headers[name] = _header(made, name, value)
    if headers:
        made.server["headers"] = headers


def _header(made: ServerEntry, name: str, value: str) -> str:
    def secret(found: re.Match[str]) -> str:
        variable = re.sub(r"[^A-Za-z0-9]+", "_", found[1] or found[2]).strip("_").upper()
        _declare(made, [variable])
        return f"${{env:{variable}}}"

    filled = _PLACEHOLDER.sub(secret, value)
    if filled == value and (_SECRET_WORD.search(name) or _SECRET_SHAPE.search(value)):
        variable = re.sub(r"[^A-Za-z0-9]+", "_", f"{made.kit_id}_{name}").strip("_").upper()
        _declare(made, [variable])
        scheme = (
            value.partition(" ")[0] + " " if re.match(r"(?:Bearer|Basic|Token) \S", value) else ""
        )
        made.notes.append(
            f"the value of {name} is not imported: set it as {variable}, "
            f"without {scheme or 'quotes'}".rstrip()
        )
        return f"{scheme}${{env:{variable}}}"
    return filled


def _declare(made: ServerEntry, names: list[str]) -> None:
    if names:
        made.server["secrets"] = list(dict.fromkeys([*made.server.get("secrets", []), *names]))


def _placed(word: str) -> str:
    """Return a word of a command with the places filled in that mean the same here."""

    def place(found: re.Match[str]) -> str:
        return os.path.expanduser(_PLACES[found[1]]) if found[1] in _PLACES else found[0]

    return _PLACEHOLDER.sub(place, word)


def _checked(made: ServerEntry) -> ServerEntry:
    bad = next(
        (
            name
            for name in made.server.get("secrets", ())
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name)
        ),
        None,
    )
    if bad is not None:
        made.problem = made.problem or f"{bad!r} is not a name of an environment variable"
    if not made.problem and "url" in made.server:
        try:
            parse_url(made.server["url"])
        except Refused as error:
            made.problem = str(error)
    return made
