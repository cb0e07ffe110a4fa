"""`vespe tool rename`: another name for a project tool."""

import contextlib
from collections.abc import Iterator

import click

from vespe import errors
from vespe.calls import policy, policy_answers
from vespe.cli import options, report
from vespe.cli.tool import owner
from vespe.defaults import PROJECT_TOOLS
from vespe.projects import project, user_config
from vespe.records import json_of
from vespe.tools import authoring


@click.command("rename", epilog="Example: vespe tool rename greet welcome")
@click.argument("name")
@click.argument("new_name")
@owner.kit_option
@options.project_option
@options.json_option
def command(
    name: str, new_name: str, kit: str | None, project_dir: str | None, as_json: bool
) -> None:
    """Rename a project tool. Its UID and directory stay the same. If the project is trusted, it
    stays trusted with this change.
    """
    own = owner.ToolOwner(kit, project_dir)
    before = own.find(name)
    with own.keeping_trust(before.uid) as written:
        tool = authoring.rename_tool(
            own.tools_dir, before.uid, name=new_name, taken=own.has, written=written
        )
    if as_json:
        report.emit_json(json_of(tool, "uid", "name", "directory", directory="path"))
    else:
        report.say(f"{before.name or name} is now called {tool.name}")
    if own.root is not None and before.name not in (None, tool.name):
        with contextlib.suppress(errors.VespeError):  # whoever uses a wrong setting is told
            for sentence in _left_behind(own.root, str(before.name), tool.name):
                report.note(sentence)


def _left_behind(root: str, old: str, new: str) -> Iterator[str]:
    """Say what of the configuration and of earlier answers is about the old name alone."""
    user, config = user_config.load_user_config(), project.read_config(root)
    path = project.config_path(root)
    rules = policy.rules_of(
        user.approvals, config.document.get("approvals", {}), paths=(user.path, path)
    )
    for rule in rules:
        is_old, is_new = (rule.names(one, scope=PROJECT_TOOLS) for one in (old, new))
        if is_old and not is_new and not rule.spares(PROJECT_TOOLS):
            file = rule.where.partition("#")[0]
            yield f"`approvals.{rule.kind}` in {file} names {rule.tool}, which is not {new}"
    own = f"{PROJECT_TOOLS}/{old}"
    said = config.document.get("tools")
    for key in said if isinstance(said, dict) else ():
        if key in (old, own):
            yield f"`tools` in {path} has settings for {key}, which is not {new}"
    if any(one.tool == own and not one.allowed for one in policy_answers.load(root)):
        yield f"your earlier answer denies {old}, not {new}"
