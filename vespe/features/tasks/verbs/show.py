"""`vespe task show`: one task and its result."""

import os

import click

from vespe.cli import boundary, options, report
from vespe.cli.waiting import waiting
from vespe.features.tasks.store import COMPLETED, Task, TaskNotFound, TaskStore
from vespe.features.tasks.verbs import shown
from vespe.projects.workspace import find_root


@click.command("show", epilog="Example: vespe task show 0f3c… --wait")
@click.argument("identifier", metavar="TASK")
@click.option("--wait", is_flag=True, help="Wait until the task is finished.")
@options.project_option
@options.json_option
def command(identifier: str, wait: bool, project_dir: str | None, as_json: bool) -> int:
    """Show a task: its status and, when it is finished, its result or error.

    The exit code is 0 while the task runs and after it has succeeded, and 1 if it was interrupted
    or cancelled. Other failures have the exit codes of `vespe tool run`.
    """
    tasks = TaskStore()
    task = find(tasks, identifier, project_dir)
    if wait and not task.is_over:
        with waiting(f"running {task.tool}"):
            task = tasks.wait(task.id, seconds=None, look=lambda: None)
    if as_json:
        report.emit_json(shown.summary(task) | {"outcome": task.outcome, "error": task.error})
    else:
        _print(task)
    return _code(task)


def find(tasks: TaskStore, identifier: str, project_dir: str | None) -> Task:
    """Return a task of the project; raises TaskNotFound."""
    task = tasks.read(identifier)
    if task.project != os.path.realpath(find_root(project_dir)):
        raise TaskNotFound(identifier)
    return task


def _print(task: Task) -> None:
    moment = shown.local(task.updated_at)
    report.say(f"{task.tool}: {shown.state(task)} ({moment})")
    outcome = task.outcome or {}
    error = outcome.get("error") or task.error
    if outcome.get("logs"):
        report.say(str(outcome["logs"]).removesuffix("\n"))
    if error:
        report.error(str(error.get("message", "")), str(error.get("hint", "")))
    elif outcome:
        report.emit_result(outcome.get("result"))


def _code(task: Task) -> int:
    if not task.is_over or (task.outcome or {}).get("ok"):
        return 0
    error = (task.outcome or {}).get("error") or {}
    if task.status != COMPLETED:
        return boundary.EXIT_FAILED
    return boundary.CODES.get(str(error.get("code")), boundary.EXIT_FAILED)
