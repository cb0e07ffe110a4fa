"""`vespe tool set`: keys of a project tool's config.json."""

import os

import click

from vespe import errors
from vespe.cli import options, report
from vespe.cli.tool import owner
from vespe.defaults import CONFIG_FILE
from vespe.documents import strict_json
from vespe.models import JsonObject
from vespe.tools import authoring, changing


class _Command(click.Command):
    """Tells who knows the options of `vespe tool create` which keys these are."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            from vespe.cli.tool import field_options

            if key := field_options.assignment_of(error.option_name):
                error.hint = f"`vespe tool set NAME {key}`"  # type: ignore[attr-defined]  # the boundary reads it
            raise


@click.command("set", cls=_Command, epilog="Example: vespe tool set greet limits.timeout_s=30")
@click.argument("name")
@click.argument("assignments", nargs=-1, metavar="[KEY=VALUE...]")
@click.option("--unset", multiple=True, metavar="KEY", help="Remove a key; repeatable.")
@click.option("--dry-run", is_flag=True, help="Show what would change, and write nothing.")
@owner.kit_option
@options.project_option
@options.json_option
def command(
    name: str,
    assignments: tuple[str, ...],
    unset: tuple[str, ...],
    dry_run: bool,
    kit: str | None,
    project_dir: str | None,
    as_json: bool,
) -> None:
    """Set keys of a project tool's config.json, and show what changed.

    KEY is dotted (limits.timeout_s, annotations.readOnlyHint). VALUE is read as JSON if it is valid
    JSON, and as a string otherwise; KEY:=JSON is always JSON. Changes that make the tool invalid
    are refused. The parts of description.md that Vespe wrote are updated as well. If the project is
    trusted, it stays trusted with this change.
    """
    if not assignments and not unset:
        raise errors.UsageError("say what to set", hint=f"`vespe tool set {name} KEY=VALUE`")
    own = owner.ToolOwner(kit, project_dir)
    entry = own.find(name)

    def change(document: JsonObject) -> JsonObject:
        return changing.change_document(
            document, assignments, unset, path=entry.path, kit=entry.kit_id
        )

    path = os.path.join(entry.path, CONFIG_FILE)
    if dry_run:
        before = strict_json.read_object(path)
        after = change(before)
    else:
        with own.keeping_trust(entry.uid) as written:
            before, after = authoring.change_tool(own.tools_dir, entry.uid, change, written=written)
    diff = changing.diff_of(before, after)
    if as_json:
        said = {"uid": entry.uid, "name": name, "path": path}
        report.emit_json({**said, "changed": bool(diff) and not dry_run, "diff": diff})
    else:
        report.emit(diff) if diff else report.say(f"{name} has that already")
        if diff and not dry_run:
            report.say(f"updated {name}")
