"""`vespe task cancel`: end a task's call."""

import click

from vespe.cli import options, report
from vespe.cli.waiting import waiting
from vespe.features.tasks.store import TaskStore
from vespe.features.tasks.verbs import shown
from vespe.features.tasks.verbs.show import find

_PATIENCE_S = 10.0


@click.command("cancel", epilog="Example: vespe task cancel 0f3c…")
@click.argument("identifier", metavar="TASK")
@options.project_option
@options.json_option
def command(identifier: str, project_dir: str | None, as_json: bool) -> int:
    """Cancel a task and end all processes of its call. Effects that the call already had are not
    undone.

    A finished task does not change.
    """
    tasks = TaskStore()
    task = find(tasks, identifier, project_dir)
    if not task.is_over:
        tasks.cancel(task)
        with waiting(f"ending {task.tool}"):
            task = tasks.wait(task.id, seconds=_PATIENCE_S, look=lambda: None)
    if as_json:
        report.emit_json(shown.summary(task))
    else:
        report.say(f"{task.tool}: {shown.state(task)}")
    return 0 if task.is_over else 1
