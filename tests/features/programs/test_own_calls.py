"""Programs whose calls are the caller's own: on the call path, in the log, in the caller's loop."""

import asyncio
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.ondisk import python_tool, vespe
from vespe import PersonReply, Project, ToolQuestion, answered_by, ask, tool
from vespe.calls import log
from vespe.calls.path import CallPath
from vespe.errors import InvalidTool, NotTrusted, UsageError
from vespe.features.programs.code_bridge import CodeBridge, ProgramOrder
from vespe.features.programs.own_calls import (
    OwnCalls,
    ProjectTools,
    at_the_same_time,
    project_tools,
    run_code,
    told,
)
from vespe.models import Call, Outcome, Tool

pytest.importorskip("pydantic_monty")


@pytest.fixture
def mine(home: Path, tmp_path: Path) -> Project:
    project = Project.init(tmp_path / "mine")

    @project.register
    @tool
    def double(n: int) -> int:
        """Double a number."""
        return 2 * n

    @project.register
    @tool(read_only=True)
    async def triple(n: int) -> int:
        """Triple a number."""
        await asyncio.sleep(0)
        return 3 * n

    return project


def test_functions_of_the_process_and_tools_on_disk_are_called(mine: Project) -> None:
    mine.create_tool("count", type="python_script")
    code = "words = count(text='a b')['words']\nprint(words)\ndouble(words) + triple(n=words)"
    outcome = mine.run_code(code)
    assert outcome.unwrap() == 10 and outcome.logs == "2\n"
    lines = log.read(mine.root)
    parent = lines[-1]["call"]
    assert lines[-1]["tool"] == "run_code" and "parent" not in lines[-1]
    assert [(line["tool"], line["call"], line["parent"]) for line in lines[:-1]] == [
        ("count", f"{parent}/1", parent),
        ("double", f"{parent}/2", parent),
        ("triple", f"{parent}/3", parent),
    ]


def test_the_deadline_of_a_program_stands_still_while_a_person_is_asked(mine: Project) -> None:
    @mine.register
    @tool(read_only=True)
    def agree(n: int) -> int:
        """Ask whether a number is right."""
        ask(f"Is {n} right?")
        return n

    def slowly(question: ToolQuestion) -> PersonReply:
        time.sleep(0.8)
        return PersonReply(action="accept")

    together = "import asyncio\nawait asyncio.gather(agree(n=1), agree(n=2))"
    with answered_by(slowly):
        assert mine.run_code(f"agree(n=1)\n{together}", timeout_s=1).unwrap() == [1, 2]
        late = mine.run_code("agree(n=1)\nwhile True:\n    pass", timeout_s=1).error
    assert late is not None and late.code == "timed_out"


def test_both_schemas_hold_in_a_program(mine: Project) -> None:
    @mine.register
    @tool
    def bad() -> int:
        """Answer what it does not say."""
        return "x"  # type: ignore[return-value]  # what is tested

    code = "try:\n    bad()\nexcept RuntimeError as e:\n    r = str(e)\nr"
    assert "breaks its output schema" in mine.run_code(code).unwrap()
    code = "d = {'n': 'x'}\ntry:\n    double(d['n'])\nexcept ValueError as e:\n    r = str(e)\nr"
    wrong = mine.run_code(code.replace("{'n': 'x'}", "__import__")).error
    assert wrong is not None and wrong.code == "invalid_program"


def test_a_program_that_is_wrong_is_an_outcome_and_is_logged(mine: Project) -> None:
    outcome = mine.run_code("duble(2)")
    assert outcome.error is not None and outcome.error.code == "invalid_program"
    assert "did you mean double?" in outcome.error.message
    assert [line["outcome"] for line in log.read(mine.root)] == ["invalid_program"]
    with pytest.raises(UsageError):
        mine.run_code("1", timeout_s=0)
    with pytest.raises(UsageError, match="a string, not of type bytes"):
        mine.run_code(b"1")  # type: ignore[arg-type]  # what is tested


def test_a_tool_that_is_broken_is_said_to_be_and_not_to_be_missing(mine: Project) -> None:
    tools = Path(mine.root) / ".vespe/tools"
    python_tool(tools / "tool-two", "two", "return 2")
    assert vespe("trust", "--yes", cwd=Path(mine.root)).returncode == 0
    assert mine.run_code("two()").unwrap() == 2
    (tools / "tool-two/config.json").write_text("{", encoding="utf-8")
    for project in (mine, Project(mine.root)):  # one that had the tool, and one that never did
        with pytest.raises(InvalidTool, match="is not JSON"):
            project.run_code("two()")
    refused = Project(mine.root).run_code("three()").error
    assert refused is not None and "called 'three'" in refused.message


def test_the_code_of_a_program_that_never_ran_is_logged_without_secrets(
    mine: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "s3cr3t-value")
    tools = Path(mine.root) / ".vespe/tools"
    python_tool(tools / "tool-one", "one", "return 1", secrets=["TOKEN"])
    python_tool(tools / "tool-two", "two", "return 2")
    assert vespe("trust", "--yes", cwd=Path(mine.root)).returncode == 0
    path = replace(mine.call_path(), keep_arguments=True, log=None)
    for code in ("one('s3cr3t-value')", "x = 's3cr3t-value' +", "one_('s3cr3t-value')"):
        assert run_code(path, code).error is not None
    (tools / "tool-two/config.json").write_text("{", encoding="utf-8")
    with pytest.raises(InvalidTool):
        run_code(path, "two()\n's3cr3t-value'")
    lines = log.read(mine.root)
    assert [line["outcome"] for line in lines] == ["invalid_program"] * 3 + ["invalid_tool"]
    assert str(lines).count("***") >= 4 and "s3cr3t-value" not in str(lines)


def test_an_untrusted_project_runs_no_program(mine: Project) -> None:
    mine.create_tool("count", type="python_script")
    assert vespe("untrust", cwd=Path(mine.root)).returncode == 0
    stranger = Project(mine.root)
    with pytest.raises(NotTrusted):
        stranger.run_code("1")


def test_in_an_event_loop_async_functions_run_there(mine: Project) -> None:
    seen: list[object] = []

    @mine.register
    @tool(read_only=True)
    async def where() -> int:
        """Say which loop this is."""
        seen.append(asyncio.get_running_loop())
        await asyncio.sleep(0.01)
        return 1

    async def main() -> Outcome:
        seen.append(asyncio.get_running_loop())
        code = "import asyncio\nsum(await asyncio.gather(where(), where()))"
        return await mine.arun_code(code)

    assert asyncio.run(main()).unwrap() == 2
    assert len(seen) == 3 and len(set(map(id, seen))) == 1


def test_cancelling_the_task_ends_the_program(mine: Project) -> None:
    async def main() -> None:
        task = asyncio.create_task(mine.aio().run_code("while True: pass"))
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert [line["outcome"] for line in log.read(mine.root)] == ["interrupted"]


def test_calls_that_only_read_run_at_the_same_time(mine: Project) -> None:
    both = threading.Barrier(2, timeout=20)

    @mine.register
    @tool(read_only=True)
    def meet(n: int) -> int:
        """Wait for the other one."""
        both.wait()
        return n

    assert mine.run_code("import asyncio\nawait asyncio.gather(meet(1), meet(2))").unwrap() == [
        1,
        2,
    ]


def test_a_tool_that_is_not_used_is_not_loaded(mine: Project) -> None:
    broken = Path(mine.root) / ".vespe/tools/tool-broken"
    broken.mkdir(parents=True)
    (broken / "config.json").write_text("{", encoding="utf-8")
    assert mine.run_code("double(2)").unwrap() == 4
    names = ProjectTools(mine.call_path())
    assert "double" in names and len(names) == len(list(names))
    with pytest.raises((KeyError, InvalidTool)):
        names["broken"]


def test_what_one_of_several_works_raises_is_raised_when_all_have_ended() -> None:
    ended: list[int] = []
    ending = threading.Event()

    def fine() -> Outcome:
        ended.append(1)
        return Outcome(tool="a", uid=None)

    def bad() -> Outcome:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        at_the_same_time([bad], ending)
    assert ending.is_set() and ended == []
    assert len(at_the_same_time([fine] * 20, threading.Event())) == 20 == len(ended)


def test_a_program_that_is_refused_loads_tools_only_to_redact_what_is_kept(
    mine: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "s3cr3t-value")
    monkeypatch.setenv("LEVEL", "1")
    directory = Path(mine.root) / ".vespe/tools"
    python_tool(directory / "tool-one", "one", "return 1", secrets=["TOKEN"])
    assert vespe("trust", "--yes", cwd=Path(mine.root)).returncode == 0
    path = replace(mine.call_path(), log=None)
    tools, asked = project_tools(path), list[str]()

    def refuse(code: str, path: CallPath) -> None:
        def over() -> list[Tool]:
            asked.append(code)
            return list(tools.values())

        call = Call(tool="run_code", arguments={"code": code}, call_id="c")
        bridge = CodeBridge(tools, home=path)
        calls = OwnCalls(path=path)
        order = ProgramOrder(code=code, calls=calls, call_id="c", setting=path.user.sandbox)
        told(path, call, lambda: bridge.run(order), over=over)

    refuse("duble(2)", path)
    refuse("duble('s3cr3t-value')", path)
    assert asked == []
    refuse("x = 's3cr3t-value' +", path)
    refuse("duble(3)", replace(path, keep_arguments=True))
    assert asked == ["x = 's3cr3t-value' +", "duble(3)"]
    lines = log.read(mine.root)
    assert "'***'" in lines[2]["error"] and "s3cr3t-value" not in str(lines)
