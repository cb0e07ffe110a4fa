"""`vespe mcp config`: print, write or remove this project's entry in an MCP client's own file."""

import os
from collections.abc import Sequence

import click

from vespe import errors
from vespe.cli import options, report
from vespe.documents import strict_json, toml
from vespe.features.mcp.clients import entries, entry_files, files
from vespe.features.mcp.clients.table import CLIENTS, McpClient
from vespe.lazy import shlex
from vespe.models import JsonObject
from vespe.projects.workspace import find_root


@click.command("config", epilog="Example: vespe mcp config claude-code --write")
@click.argument("client_name", type=click.Choice(list(CLIENTS)), metavar="CLIENT")
@click.argument("extra", nargs=-1, metavar="[-- OPTION...]")
@click.option(
    "--write",
    is_flag=True,
    help="Add the entry to the client's file, and keep everything else in it.",
)
@click.option("--remove", is_flag=True, help="Remove this project's entry from the client's file.")
@click.option(
    "--name",
    metavar="NAME",
    help="The server's name in the file; default: vespe- and the directory's name.",
)
@click.option("--file", "named", metavar="FILE", help="Use this file instead of the client's own.")
@click.option(
    "--scope",
    type=click.Choice(["project", "user"]),
    help="Use the client's file in the project, or your own.",
)
@click.option(
    "--absolute",
    is_flag=True,
    help="Write absolute paths of this machine, even into a file that a team shares.",
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
    """Print the entry that connects CLIENT to this project's tools, or write it to the client's
    configuration file.

    CLIENT is claude-code, claude-desktop, cursor, vscode, gemini, codex, zed or generic. Nothing
    else in the file changes: comments, order, indentation and line ends stay. Options after `--`
    are passed to `vespe mcp serve`. Without them, an entry that is there keeps its options.

    An entry in a file inside the project contains no paths of this machine, so that a team can
    commit it. `vespe connect` writes the entry too, and also tests it.
    """
    if write and remove:
        raise errors.UsageError("--write and --remove cannot be combined", hint="use one of them")
    root, client = find_root(project_dir), CLIENTS[client_name]
    path = entry_files.path_of(client, root, named=named, scope=scope, needed=write or remove)
    if remove:
        return _remove(client, path or "", name, root=root, yes=yes, as_json=as_json)
    extra = tuple(options_for(client, root, path, extra=extra, wanted=name))
    entry = entry_files.entry_for(client, root, path, extra=extra, absolute=absolute)
    if write:
        document = merge(client, path or "", entry, root=root, wanted=name, yes=yes)
        return _tell(document, describe(document), as_json=as_json)
    servers = entry_files.read_servers(client, path) if path else {}
    return _print(
        client, path, entries.entry_name(servers, root, wanted=name), entry=entry, as_json=as_json
    )


def options_for(
    client: McpClient, root: str, path: str | None, *, extra: Sequence[str], wanted: str | None
) -> Sequence[str]:
    """Return the options for the server: `extra`, else those that the entry has already; say what
    is kept and what is left out.
    """
    if extra:
        return extra
    kept, left_out = entry_files.former_options(client, root, path, wanted=wanted)
    if shown := _without_default(kept):
        report.note(
            f"the entry keeps `{report.one_line(shlex.join(shown))}`; `-- OPTION...` replaces its "
            f"options, and `vespe mcp config {client.name} --remove` removes the entry"
        )
    if left_out:
        report.note(
            f"removed `{report.one_line(shlex.join(left_out))}` from the entry; give it again "
            "after `--` to keep it"
        )
    return kept


def _without_default(words: Sequence[str]) -> Sequence[str]:
    """Return options without those that Vespe itself writes for some clients."""
    return words[2:] if tuple(words[:2]) == entry_files.BOUNDED else words


def merge(
    client: McpClient, path: str, entry: JsonObject, *, root: str, wanted: str | None, yes: bool
) -> JsonObject:
    """Write an entry into a client's file and return what was done, as `--json` prints it; asks
    before it replaces another server.
    """
    servers = entry_files.read_servers(client, path)
    name = entries.entry_name(servers, root, wanted=wanted)
    if name in servers and not entries.serves(servers[name], root):
        options.confirm(f"{path} has another server called {name}. Replace it?", yes=yes)
    if name in servers and entries.serves(servers[name], root):
        entry = entries.with_former(entry, servers[name])
    done = entry_files.merge(client, path, entry, name=name, root=root)
    return _done(client, done, name=name) | {"entry": entry}


def describe(document: JsonObject) -> str:
    """Say what `merge` did."""
    return (
        f"{'wrote' if document['changed'] else 'nothing to change:'} {document['name']} in "
        f"{document['path']}"
    )


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
    client: McpClient, path: str, wanted: str | None, *, root: str, yes: bool, as_json: bool
) -> None:
    servers = entry_files.read_servers(client, path)
    names = entry_files.names_of_project(servers, root, wanted=wanted)
    for name in names:
        if not entries.serves(servers.get(name), root):
            options.confirm(f"{name} in {path} does not serve this project. Remove it?", yes=yes)
    done = entry_files.remove(client, path, names, root=root)
    said = (
        f"removed {', '.join(names)} from {done.path}"
        if done.changed
        else f"{path} has no entry for this project"
    )
    said += ", as it was before" if done.restored and os.path.lexists(done.path) else ""
    said += (
        "; the file was deleted, because it did not exist before"
        if done.restored and not os.path.lexists(done.path)
        else ""
    )
    _tell(_done(client, done, name=names[0] if names else None), said, as_json=as_json)


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
        report.say(f"a backup of the file is {document['backup']}")
    return None
