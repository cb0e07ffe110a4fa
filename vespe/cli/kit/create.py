"""`vespe kit create`: a new kit with one working tool."""

import os

import click

from vespe.cli import kit_facts, options, report
from vespe.files import locations
from vespe.git.author_repository import new_repository
from vespe.kits import create, own_source, roots
from vespe.lazy import shlex, shutil


@click.command("create", epilog="Example: vespe kit create team_tools --in ~/kits")
@click.argument("kit_id", metavar="KIT")
@click.option(
    "--in",
    "parent",
    metavar="DIR",
    help="Where to create it; default: your own kits directory, where every project finds it.",
)
@click.option("--description", metavar="TEXT", help="What the kit is for.")
@click.option(
    "--git",
    "in_git",
    is_flag=True,
    help="Make it a git repository and commit it. It needs the extra vespe[release].",
)
@options.json_option
def command(
    kit_id: str, parent: str | None, description: str | None, in_git: bool, as_json: bool
) -> None:
    """Create a new kit that is ready to push: one working tool, a README, and a CI workflow that
    lints and tests it.

    With --git, your hooks and your signing program run as in every commit. The command names them
    first.
    """
    directory = parent or os.path.join(locations.user_data_dir(), roots.KITS_DIR)
    path, tool = create.found_kit(directory, kit_id, description=description)
    commit = _committed(path) if in_git else None
    if as_json:
        told = {"kit_id": kit_id, "path": path, "tool": {"name": tool.name, "uid": tool.uid}}
        report.emit_json(told | ({"commit": commit} if in_git else {}))
    else:
        report.say(
            f"made the kit {kit_id} in {path}, with the tool {tool.name}, "
            "a README and a workflow that checks it"
        )
        if commit:
            report.say(f"committed it as {commit[:12]} in a new git repository")
        if not own_source.requirement(os.environ)[0]:
            report.note(
                f"set {own_source.VARIABLE} in {create.WORKFLOW} to what pip installs in CI, such "
                "as git+https://git.example.com/vespe.git@COMMIT: Vespe does not know where this "
                "version came from"
            )
        if hidden := kit_facts.hidden(kit_id, path):
            report.warn(hidden)
        elif parent is None:
            add = f"`vespe tool create NAME --type TYPE --kit {kit_id}` adds a tool"
            report.next_step(
                f"{add}, `vespe kit activate {kit_id}` makes its tools available in a project"
            )
        else:
            said = (
                f"add {os.path.abspath(parent)} to VESPE_KITS_PATH, so that every project finds it"
            )
            report.next_step(
                f"`vespe kit link {shlex.quote(os.path.relpath(path))}` makes it available to all "
                f"your projects; or {said}"
            )


def _committed(path: str) -> str:
    """Commit a new kit in a repository of its own and return the commit; where that fails, the kit
    goes too.
    """
    is_made = False
    try:
        with new_repository(path) as repository:
            if programs := repository.programs(sign=False):
                report.note(f"git will run {', '.join(programs)}")
            commit = repository.begun("First version")
        is_made = True
        return commit
    finally:
        if not is_made:
            shutil.rmtree(path, ignore_errors=True)
