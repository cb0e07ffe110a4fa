"""`vespe task list`: the tasks of this project."""

import click

from vespe.cli import options, report, tables
from vespe.features.tasks.store import TaskStore
from vespe.features.tasks.verbs import shown
from vespe.projects.workspace import find_root


@click.command("list", epilog="Example: vespe task list")
@options.project_option
@options.json_option
def command(project_dir: str | None, as_json: bool) -> None:
    """List the tasks of this project, the newest last. A task is kept for a week.

    A task that runs when its process is killed ends as failed ("interrupted"); it is not run again.
    """
    tasks = TaskStore().list(project=find_root(project_dir))
    if as_json:
        report.emit_json({"tasks": [shown.summary(task) for task in tasks]})
    elif not tasks:
        report.note("no tasks here; `vespe tool run NAME --background` starts one")
    else:
        rows = [
            (task.id, task.tool, shown.state(task), shown.local(task.created_at), task.message)
            for task in tasks
        ]
        tables.show(("TASK", "TOOL", "STATUS", "STARTED", ""), rows)
