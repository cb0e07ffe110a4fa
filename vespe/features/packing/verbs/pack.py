"""`vespe kit pack`: a kit as one file, or in a form that clients look for."""

import os
from collections.abc import Callable, Iterator
from typing import Final

import click

from vespe.cli import options, report
from vespe.errors import InvalidDocument, Refused, StorageError, UsageError
from vespe.features.packing.forms import Files, PackedKit, read_kit
from vespe.files import atomic
from vespe.kits import archives
from vespe.lazy import shlex
from vespe.models import JsonValue

_MOST_TOLD: Final = 20
_GONE: Final = "is no longer in the kit"
_WITH_FILES: Final = ("plugin", "mcpb")
FORMS: Final = ("kit", "skill", "plugin", "mcpb", "server-json")


@click.command(
    "pack", epilog="Example: vespe kit pack team_tools --as plugin -o plugins/team-tools"
)
@click.argument("kit", metavar="[KIT|DIR]", default=".")
@click.option(
    "--as",
    "form",
    type=click.Choice(FORMS),
    default="kit",
    show_default=True,
    help="kit: one file for `vespe kit install`; skill: SKILL.md for clients that read "
    "skills; plugin: for Claude Code, Codex, Cursor and Gemini CLI; mcpb: a bundle for "
    "desktop clients; server-json: the entry of the MCP registry.",
)
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    help="The file (with --as kit) or directory to write; default: the working directory.",
)
@click.option(
    "--check",
    is_flag=True,
    help="Write nothing; exit code 1 if the files differ from the kit.",
)
@options.json_option
def command(kit: str, form: str, output: str | None, check: bool, as_json: bool) -> int:
    """Package a kit, given by its id or its directory (default: the working directory), for other
    programs.

    The same kit produces the same bytes on every machine, so --check in CI can tell whether the
    committed files match the kit.
    """
    if form != "kit":
        packed_kit = read_kit(kit)
        _refuse_hidden(packed_kit, archives.kit_directory(kit))
        if form in _WITH_FILES and not check:
            _warn_of_private(packed_kit.files)
        return _pack_for_clients(packed_kit, form, output or ".", check=check, as_json=as_json)
    if check:
        raise UsageError(
            "--check is for the forms that are committed",
            hint="add --as skill, plugin, mcpb or server-json",
        )
    packed = archives.pack_kit(kit, output)
    _warn_of_private(packed.heads)
    if as_json:
        fields = ("kit_id", "path", "files", "size", "digest")
        report.emit_json({name: getattr(packed, name) for name in fields})
    else:
        report.say(
            f"packed {packed.kit_id}: {report.count(packed.files, 'file')}, {packed.size} bytes, "
            f"{packed.digest}, in {packed.path}"
        )
    return 0


def _warn_of_private(files: Files) -> None:
    """Tell of what its author may not have meant to give away."""
    from vespe.kits.private_files import find_private

    found = [f"{path} {why}" for path, why in find_private(files)]
    for told in found[:_MOST_TOLD]:
        report.warn(f"{told}: it is packed, and everyone who gets the kit can read it")
    if (more := len(found) - _MOST_TOLD) > 0:
        report.warn(f"{report.count(more, 'file')} more like these are packed")


def _refuse_others_skill(directory: str, files: Files, kit_id: str) -> None:
    """Raise Refused for a skill of that name that was not made of this kit: in the directory where
    a client has its skills, people write their own, too.
    """
    for path in files:
        place = os.path.join(directory, path)
        try:
            is_others = f'\n  kit: "{kit_id}"\n'.encode() not in atomic.read_bytes(place)
        except StorageError:
            is_others = False
        except InvalidDocument:
            is_others = not os.path.islink(place)  # a link is replaced, and not followed
        if is_others:
            raise Refused(
                f"{place} is a skill that was not made from the kit {kit_id}, and is kept",
                hint="move it, or choose another directory with -o",
            )


def _pack_for_clients(
    kit: PackedKit, form: str, directory: str, *, check: bool, as_json: bool
) -> int:
    from vespe.features.packing import writing

    files = _form(form)(kit)
    own = f"kits/{kit.kit_id}"
    executable = frozenset(f"{own}/{path}" for path in kit.executable)
    if form == "skill" and not check:
        _refuse_others_skill(directory, files, kit.kit_id)
    changed = (
        writing.differences(directory, files, own=own, executable=executable)
        if check
        else writing.write(directory, files, own=own, executable=executable)
    )
    count = report.count(len(files), "file")
    gone = [path for path in changed if path not in files]
    other = len(changed) - len(gone)
    if as_json:
        said = {"kit_id": kit.kit_id, "as": form, "directory": os.path.abspath(directory)}
        report.emit_json(said | {"files": sorted(files), "changed": changed})
    elif check:
        for path in changed:
            why = "differs from what the kit produces" if path in files else _GONE
            report.error(f"{os.path.join(directory, path)} {why}")
        also = f"; {report.count(len(gone), 'more file')} to remove" if gone else ""
        report.say(f"{other} of {count} differ{also}" if changed else f"up to date: {count}")
    else:
        removed = f", {len(gone)} removed" if gone else ""
        report.say(
            f"packed {kit.kit_id} as {form}: {count} in {directory}, {other} written{removed}"
        )
        report.next_step(_NEXT[form].format(directory=directory, name=kit.dashed))
    return int(check and bool(changed))


def _refuse_hidden(kit: PackedKit, place: str) -> None:
    """Refuse to tell strangers, and their models, in the kit's name what its author does not
    see.
    """
    from vespe.features.lint.hidden_text import invisible

    for where, document in (
        ("kit_config.json", kit.document),
        *((f"{tool.uid}/config.json", tool.document) for tool in kit.tools),
    ):
        for text in _texts(document):
            if odd := invisible(text):
                reason = (
                    f"holds a character that a person does not see, {odd[0].point} {odd[0].name}"
                )
                hint = (
                    f"take it out, or write what it says; `vespe lint {shlex.quote(place)}` "
                    "shows every place"
                )
                raise InvalidDocument(reason, path=os.path.join(place, where), hint=hint)


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for item in [*value, *value.values()] if isinstance(value, dict) else value:
            yield from _texts(item)


def _form(name: str) -> Callable[[PackedKit], Files]:
    from vespe.features.packing.bundle import bundle
    from vespe.features.packing.plugin import plugin
    from vespe.features.packing.server_json import server_json
    from vespe.features.packing.skill import skill

    forms: dict[str, Callable[[PackedKit], Files]] = {
        "skill": skill,
        "plugin": plugin,
        "mcpb": bundle,
        "server-json": server_json,
    }
    return forms[name]


_NEXT: Final = {
    "skill": "put {directory}/{name} into .agents/skills or .claude/skills of a project, "
    "or into ~/.claude/skills",
    "plugin": "`claude --plugin-dir {directory}` tries it in Claude Code; "
    "`gemini extensions link {directory}` in Gemini CLI",
    "mcpb": "open {directory}/{name}.mcpb with a desktop client; the machine needs `vespe` on PATH",
    "server-json": "attach {name}.mcpb to the release that it names, then `mcp-publisher publish`",
}
