"""`vespe mcp config`: print, write or remove this project's entry in an MCP client's own file."""

import os
from collections.abc import Sequence

import click

from vespe import errors
from vespe.cli import options, report
from vespe.documents import strict_json, toml
from vespe.features.mcp.clients import entries, files
from vespe.features.mcp.clients.table import CLIENTS, McpClient
from vespe.models import JsonObject
from vespe.projects.workspace import find_root


@click.command("config", epilog="Example: vespe mcp config claude-code --write")
@click.argument("client_name", type=click.Choice(list(CLIENTS)), metavar="CLIENT")
@click.argument("extra", nargs=-1, metavar="[-- OPTION...]")
@click.option(
    "--write",
    is_flag=True,
    help="Merge the entry into the client's file; everything else in it is kept.",
)
@click.option("--remove", is_flag=True, help="Take this project's entry out of the client's file.")
@click.option(
    "--name", metavar="NAME", help="The server's name; default: vespe- and the directory's name."
)
@click.option("--file", "named", metavar="FILE", help="Another file than the client's own.")
@click.option(
    "--scope",
    type=click.Choice(["project", "user"]),
    help="The client's file in the project, or the user's own.",
)
@click.option(
    "--absolute",
    is_flag=True,
    help="Write this machine's paths, even into a file that a team shares.",
)
@options.yes_option
@options.project_option
@options.json_option
def command(
    client_name: str,
    extra: tuple[str, ...],
    write: bool,
    remove: bool,
    name: str | None,
    named: str | None,
    scope: str | None,
    absolute: bool,
    yes: bool,
    project_dir: str | None,
    as_json: bool,
) -> None:
    """Print the entry that makes CLIENT serve this project's tools, or write it into the client's
    own file.

    CLIENT is claude-code, claude-desktop, cursor, vscode, gemini, codex, zed or generic. Nothing
    else in the file changes: comments, order, indentation and line ends stay. Options after `--`
    are passed to `vespe mcp serve`.

    In a file inside the project, which a team commits, the entry has no path of this machine.
    `vespe connect` writes the entry too, and tries it.
    """
    if write and remove:
        raise errors.UsageError("--write and --remove exclude each other", hint="use one of them")
    root, client = find_root(project_dir), CLIENTS[client_name]
    path = path_of(client, root, named=named, scope=scope, needed=write or remove)
    if remove:
        servers = entries.servers_of(client, files.read(path or ""), path=path or "")
        return _remove(
            client,
            path or "",
            _names(servers, root, wanted=name),
            root=root,
            yes=yes,
            as_json=as_json,
        )
    entry = client.entry(command_for(client, root, path, extra=extra, absolute=absolute))
    if write:
        document = merge(client, path or "", entry, root=root, wanted=name, yes=yes)
        return _tell(document, wrote(document), as_json=as_json)
    servers = entries.servers_of(client, files.read(path), path=path) if path else {}
    return _print(
        client, path, entries.entry_name(servers, root, wanted=name), entry=entry, as_json=as_json
    )


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
    """
    shared = path is not None and os.path.commonpath(
        [os.path.realpath(path), os.path.realpath(root)]
    ) == os.path.realpath(root)
    return (
        entries.portable_command(client, root, extra)
        if shared and not absolute
        else entries.server_command(root, extra)
    )


def merge(
    client: McpClient, path: str, entry: JsonObject, *, root: str, wanted: str | None, yes: bool
) -> JsonObject:
    """Write an entry into a client's file and return what was done, as `--json` prints it; asks
    before it replaces another server.
    """
    servers = entries.servers_of(client, files.read(path), path=path)
    name = entries.entry_name(servers, root, wanted=wanted)
    if name in servers and not entries.serves(servers[name], root):
        options.confirm(f"{path} has another server called {name}. Replace it?", yes=yes)
    made_of = _made_of(client, name, root)
    done = files.change(
        path, lambda now: entries.merged(client, now, name, entry=entry, path=path), made_of=made_of
    )
    return _done(client, done, name=name) | {"entry": entry}


def wrote(document: JsonObject) -> str:
    """Say what `merge` did."""
    return (
        f"{'wrote' if document['changed'] else 'nothing to change:'} {document['name']} in "
        f"{document['path']}"
    )


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


def _names(servers: JsonObject, root: str, *, wanted: str | None) -> list[str]:
    if wanted is not None:
        return [wanted] if wanted in servers else []
    return [name for name, entry in servers.items() if entries.serves(entry, root)]


def _print(
    client: McpClient, path: str | None, name: str, *, entry: JsonObject, as_json: bool
) -> None:
    document = {client.key: {name: entry}}
    text = (
        toml.with_table("", client.key, name, values=entry)
        if client.toml
        else strict_json.dump_json(document)
    )
    if as_json:
        facts = {"client": client.name, "path": path, "name": name, "entry": entry, "text": text}
        return report.emit_json(facts | {"changed": False, "backup": None})
    report.emit(text.rstrip("\n"))
    return report.note(
        f"this goes into {path}; --write merges it"
        if path
        else "put this into the client's settings"
    )


def _remove(
    client: McpClient, path: str, names: list[str], *, root: str, yes: bool, as_json: bool
) -> None:
    def without(text: str) -> str:
        for name in names:
            text = entries.unmerged(client, text, name, path=path)
        return text

    servers = entries.servers_of(client, files.read(path), path=path)
    for name in names:
        if not entries.serves(servers.get(name), root):
            options.confirm(f"{name} in {path} does not serve this project. Remove it?", yes=yes)

    def made_of(text: str, origin: str) -> bool:
        known = entries.is_made_of(client, text, origin, name=names[0], root=root)
        return (
            known
            and len(names) == 1
            and names[0] not in entries.servers_of(client, origin, path=path)
        )

    done = files.Changed(path=path, changed=False)
    if names:
        done = files.change(path, without, made_of=made_of, back=True)
    said = (
        f"removed {', '.join(names)} from {done.path}"
        if done.changed
        else f"{path} has no entry for this project"
    )
    said += ", which is what it was before" if done.restored and os.path.lexists(done.path) else ""
    said += (
        "; the file is gone, as it was before"
        if done.restored and not os.path.lexists(done.path)
        else ""
    )
    _tell(_done(client, done, name=names[0] if names else None), said, as_json=as_json)


def _made_of(client: McpClient, name: str, root: str) -> files.MadeOf:
    return lambda text, origin: entries.is_made_of(client, text, origin, name=name, root=root)


def _done(client: McpClient, done: files.Changed, *, name: str | None) -> JsonObject:
    return {
        "client": client.name,
        "path": done.path,
        "name": name,
        "changed": done.changed,
        "backup": done.backup,
    }


def _tell(document: JsonObject, said: str, *, as_json: bool) -> None:
    if as_json:
        return report.emit_json(document)
    report.say(said)
    if document["backup"]:
        report.say(f"a copy of the file as it was is {document['backup']}")
    return None
