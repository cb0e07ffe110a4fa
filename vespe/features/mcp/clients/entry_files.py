"""This project's entry in a client's own file: which file, which command, and the entry merged in
or taken out.
"""

import os
from collections.abc import Sequence
from typing import Final

from vespe import errors
from vespe.features.mcp.clients import entries, environment, files
from vespe.features.mcp.clients.table import McpClient
from vespe.models import JsonObject

BOUNDED: Final = ("--results", "bounded")


def path_of(
    client: McpClient, root: str, *, named: str | None, scope: str | None, needed: bool
) -> str | None:
    """Return the client's file; None where it has none and none is needed."""
    if named is not None:
        return os.path.abspath(named)
    try:
        path = client.path(root, scope=scope, environ=os.environ)
    except errors.UsageError:
        if needed or scope:
            raise
        return None
    if needed:
        files.refuse_outside(path, root)
    return path


def command_for(
    client: McpClient,
    root: str,
    path: str | None,
    *,
    extra: Sequence[str] = (),
    absolute: bool = False,
) -> list[str]:
    """Return the argv of an entry: for a file inside the project one that holds on every machine,
    else with absolute paths.

    For a client that shows its model structured content that is bounded too, unless `extra` says
    something else.
    """
    if client.shows_structured and not any(word.startswith("--results") for word in extra):
        extra = (*BOUNDED, *extra)
    return (
        entries.portable_command(client, root, extra)
        if is_shared(root, path, absolute=absolute)
        else entries.server_command(root, extra)
    )


def entry_for(
    client: McpClient,
    root: str,
    path: str | None,
    *,
    extra: Sequence[str] = (),
    absolute: bool = False,
) -> JsonObject:
    """Return the entry with that command; outside of what a team shares, with the variables that
    the server needs too, which a client may not pass on.
    """
    shared = is_shared(root, path, absolute=absolute)
    command = command_for(client, root, path, extra=extra, absolute=absolute)
    return client.entry(command, {} if shared else environment.needed(os.environ))


def former_options(
    client: McpClient, root: str, path: str | None, *, wanted: str | None
) -> tuple[list[str], list[str]]:
    """Return the options to keep and those to leave out of the entry in a client's file that an
    entry without options would replace; nothing where it has none for this project.
    """
    servers = read_servers(client, path) if path else {}
    former = servers.get(entries.entry_name(servers, root, wanted=wanted))
    return entries.options_of(former) if entries.serves(former, root) else ([], [])


def is_shared(root: str, path: str | None, *, absolute: bool = False) -> bool:
    """Whether an entry must hold on every machine: its file is in the project, and nobody asked for
    this machine's paths.
    """
    real = os.path.realpath(root)
    return (
        not absolute
        and path is not None
        and os.path.commonpath([os.path.realpath(path), real]) == real
    )


def read_servers(client: McpClient, path: str) -> JsonObject:
    """Return the servers of a client's file by name."""
    return entries.servers_of(client, files.read(path), path=path)


def merge(
    client: McpClient, path: str, entry: JsonObject, *, name: str, root: str
) -> files.Changed:
    """Write an entry into a client's file, in place of one of that name."""
    return files.change(
        path,
        lambda now: entries.merged(client, now, name, entry=entry, path=path),
        made_of=lambda text, origin: entries.is_made_of(client, text, origin, name=name, root=root),
    )


def names_of_project(servers: JsonObject, root: str, *, wanted: str | None) -> list[str]:
    """Return the names of the entries that serve the project; the `wanted` one, whatever it serves,
    where one is named.
    """
    if wanted is not None:
        return [wanted] if wanted in servers else []
    return [name for name, entry in servers.items() if entries.serves(entry, root)]


def remove(client: McpClient, path: str, names: Sequence[str], *, root: str) -> files.Changed:
    """Take entries out of a client's file; it becomes what it was before where nothing else in it
    has changed since.
    """
    if not names:
        return files.Changed(path=path, changed=False)

    def without(text: str) -> str:
        for name in names:
            text = entries.unmerged(client, text, name, path=path)
        return text

    def made_of(text: str, origin: str) -> bool:
        known = entries.is_made_of(client, text, origin, name=names[0], root=root)
        return (
            known
            and len(names) == 1
            and names[0] not in entries.servers_of(client, origin, path=path)
        )

    return files.change(path, without, made_of=made_of, back=True)
