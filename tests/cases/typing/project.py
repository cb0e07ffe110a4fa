"""A program that makes and calls a project's tools."""

import threading
from pathlib import Path

from vespe import NotTrusted, Outcome, Project, ToolNotFound, VespeError


def prepared(where: Path) -> Project:
    project = Project.init(where)
    made = project.create_tool(
        "count",
        type="python_script",
        description="Count words.",
        tags=["text"],
        limits={"timeout_s": 5},
    )
    print(made.name, made.input_schema, made.directory)
    return project


def counted(project: Project, texts: list[str]) -> int:
    total = 0
    for outcome in project.batch("count", ({"text": text} for text in texts), jobs=2):
        if outcome.ok:
            total += outcome.result["words"]
        elif outcome.error is not None:
            print(outcome.error.code, outcome.error.message, outcome.error.hint)
    return total


def called(project: Project) -> Outcome | None:
    cancel = threading.Event()
    try:
        return project.execute_tool("count", {"text": "a b"}, timeout_s=1.5, cancel=cancel)
    except (ToolNotFound, NotTrusted) as error:
        print(error, error.hint)
    except VespeError:
        pass
    return None


async def awaited(project: Project) -> int:
    outcome = await project.acall("count", text="a b")
    words: int = outcome.unwrap()["words"]
    return words
