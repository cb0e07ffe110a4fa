"""`vespe task list`: the tasks of this project."""

import click

from vespe import errors
from vespe.cli import options, report, tables
from vespe.features.tasks.store import TaskStore
from vespe.features.tasks.verbs import shown
from vespe.models import JsonObject
from vespe.projects.workspace import find_root

_MOST = 50


@click.command("list", epilog="Example: vespe task list")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"How many tasks to list, the newest ones; default: {_MOST}.",
)
@click.option("--all", "everything", is_flag=True, help="List all tasks that are kept.")
@options.project_option
@options.json_option
def command(limit: int | None, everything: bool, project_dir: str | None, as_json: bool) -> None:
    """List the newest tasks of this project, the newest last. A task is kept for a week.

    If the process of a running task is killed, the task fails ("interrupted"). It is not run again.
    """
    if everything and limit is not None:
        raise errors.UsageError("--all lists all tasks, so it cannot be used with --limit")
    most = None if everything else limit or _MOST
    store = TaskStore()
    tasks, has_more = store.recent(project=find_root(project_dir), limit=most)
    for path in store.unreadable:
        report.warn(
            f"{path} is not a task file that this version of Vespe can read; it is not listed"
        )
    if as_json:
        document: JsonObject = {"tasks": [shown.summary(task) for task in tasks]}
        report.emit_json(document | {"has_more": has_more})
    elif not tasks:
        report.note("no tasks here; `vespe tool run NAME --background` starts one")
    else:
        rows = [
            (task.id, task.tool, shown.state(task), shown.local(task.created_at), task.message)
            for task in tasks
        ]
        tables.show(("TASK", "TOOL", "STATUS", "STARTED", ""), rows)
        if has_more:
            report.note(f"these are the newest {len(tasks)}; `vespe task list --all` lists all")
