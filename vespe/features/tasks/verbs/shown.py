"""A task as the commands print it."""

from datetime import datetime

from vespe.features.tasks.store import COMPLETED, Task
from vespe.models import JsonObject


def summary(task: Task) -> JsonObject:
    """Return what `vespe task list --json` has of a task."""
    return {
        "task": task.id,
        "tool": task.tool,
        "uid": task.uid,
        "status": task.status,
        "message": task.message,
        "created_at": task.created_at,
        "updated_at": task.updated_at,
    }


def state(task: Task) -> str:
    """Return the status in words: completed also tells of a call that failed."""
    failed = task.status == COMPLETED and (task.outcome or {}).get("ok") is False
    return "completed, with an error" if failed else task.status.replace("_", " ")


def local(moment: str) -> str:
    """Return a moment of a task's file in local time."""
    try:
        return datetime.fromisoformat(moment).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    except ValueError:
        return moment
