"""Calls that an MCP server answers with a task: waited for, asked about, and cancelled with ours."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support import task_server
from tests.support.http_serving import serving
from tests.support.ondisk import PATIENCE_S, python_tool
from vespe import Outcome
from vespe.calls.asking import PersonReply, ToolQuestion
from vespe.calls.path import CallPath
from vespe.calls.registry import ToolRegistry
from vespe.features.tasks.store import TaskStore
from vespe.models import Call, Implementation, Tool
from vespe.projects import user_config
from vespe.projects.init import found_project
from vespe.projects.workspace import open_workspace
from vespe.tools import mcp_definitions
from vespe.types.mcp_tool import exchange
from vespe.types.mcp_tool.sessions import Sessions


@pytest.fixture(scope="module")
def sessions() -> Iterator[Sessions]:
    with Sessions() as kept:
        yield kept


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project: one for all tests, so that one session serves them."""
    root = tmp_path_factory.mktemp("tasks")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("CONFIG", "DATA", "STATE", "CACHE"):
            patch.setenv(f"XDG_{name}_HOME", str(root / name))
        found_project(str(root / "project"))
    return root / "project"


@pytest.fixture
def called(
    place: Path, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Outcome]:
    for name in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(place.parent / name))
    (place / "notes").unlink(missing_ok=True)
    path = CallPath(workspace=open_workspace(str(place)), registry=ToolRegistry(), trusted=True)
    script = [sys.executable, task_server.__file__, str(place / "notes")]

    def call(
        name: str, *, timeout_s: float = 60, asker: Any = None, kept: bool = True, **more: Any
    ) -> Outcome:
        digest = mcp_definitions.digest(task_server.definition(name))
        args: dict[str, Any] = {"command": script, "digest": digest}
        tool = Tool(
            uid="tool-x",
            name=name,
            description="",
            input_schema={"type": "object"},
            implementation=Implementation(type="mcp_tool", entrypoint=name, args=args),
            kit_id="tasks",
        )
        made = Call(tool=name, arguments={}, timeout_s=timeout_s)
        on = replace(path, asker=asker, sessions=sessions if kept else None)
        return on.run_tool(tool, made, **more)

    return call


def noted(place: Path, line: str) -> bool:
    """Whether the server has noted a request, or does so soon."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        file = place / "notes"
        if file.exists() and line in file.read_text(encoding="utf-8").splitlines():
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("kept", [True, False])
def test_a_task_is_waited_for_and_its_result_is_the_calls(
    called: Callable[..., Outcome], place: Path, kept: bool
) -> None:
    outcome = called("works", kept=kept)
    assert outcome.ok and outcome.result == "done", outcome.error
    assert noted(place, "tasks/get works")


def test_what_a_task_asks_reaches_the_person_once_for_each_question(
    called: Callable[..., Outcome],
) -> None:
    asked: list[str] = []

    def person(question: ToolQuestion) -> PersonReply:
        asked.append(question.text)
        return PersonReply(action="accept", content={"age": 7})

    outcome = called("asks_twice", asker=person)
    assert outcome.ok, outcome.error
    reply = '{"action": "accept", "content": {"age": 7}}'
    assert outcome.result == f'{{"first": {reply}, "second": {reply}}}'
    assert asked == ["How old is the first?", "How old is the second?"]


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("asks", "needs_input", "asks the user a question, but there is no one to ask here"),
        ("fails", "tool_error", "its task failed: out of paper"),
        ("forgets", "tool_error", "does not know its own task any more"),
        ("is_cancelled", "tool_error", "its task was cancelled by the server"),
        ("samples", "tool_error", "asks for 'sampling/createMessage', which no client gives"),
    ],
)
def test_a_task_that_cannot_end_well_is_a_sentence(
    called: Callable[..., Outcome], place: Path, name: str, code: str, said: str
) -> None:
    error = called(name).error
    assert error is not None and error.code == code and said in error.message, error
    if name in ("asks", "samples"):
        assert noted(place, f"tasks/cancel {name}")


def test_a_task_that_never_ends_is_cancelled_at_the_deadline_of_the_call(
    called: Callable[..., Outcome], place: Path
) -> None:
    error = called("never", timeout_s=5).error
    assert error is not None and error.code == "timed_out", error
    assert noted(place, "tasks/cancel never")


def test_a_task_is_cancelled_with_its_call(called: Callable[..., Outcome], place: Path) -> None:
    cancel = threading.Event()

    def when_it_works() -> None:
        noted(place, "tasks/get never")
        cancel.set()

    thread = threading.Thread(target=when_it_works)
    thread.start()
    error = called("never", cancel=cancel).error
    thread.join()
    assert error is not None and error.code == "interrupted", error
    assert noted(place, "tasks/cancel never")


def test_a_process_that_makes_one_call_cancels_its_task_at_a_server_that_listens(
    project: Path, home: Path
) -> None:
    body = "import time\ntime.sleep(300)\nreturn 'late'"
    python_tool(project / ".vespe/tools/tool-late", "late", body, task="always")
    user_config.set_value("allow_hosts", ["127.0.0.1"])
    with serving(project) as served:
        (definition,) = exchange.ask(
            exchange.Server(url=served.url, headers=served.headers),
            {},
            exchange.Surroundings(
                directory=str(project), environment={}, timeout_s=60, allow_hosts=("127.0.0.1",)
            ),
            name="late",
            kit="late",
        ).document["tools"][:1]
        args = {"url": served.url, "headers": served.headers}
        args["digest"] = mcp_definitions.digest(definition)
        tool = Tool(
            uid="tool-x",
            name="late",
            description="",
            input_schema={"type": "object"},
            implementation=Implementation(type="mcp_tool", entrypoint="late", args=args),
            kit_id="late",
        )
        path = CallPath(
            workspace=open_workspace(str(project)), registry=ToolRegistry(), trusted=True
        )
        cancel = threading.Event()
        tasks = TaskStore()

        def when_it_runs() -> None:
            until = time.monotonic() + PATIENCE_S
            while not tasks.list() and time.monotonic() < until:
                time.sleep(0.05)
            cancel.set()

        thread = threading.Thread(target=when_it_runs)
        thread.start()
        error = path.run_tool(tool, Call(tool="late", arguments={}), cancel=cancel).error
        thread.join()
        assert error is not None and error.code == "interrupted", error
        (task,) = tasks.list()
        assert tasks.wait(task.id, seconds=PATIENCE_S, look=lambda: None).status == "cancelled"
