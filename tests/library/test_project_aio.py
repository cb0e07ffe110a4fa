"""A project's verbs, awaited."""

import asyncio
import contextlib
import inspect
from pathlib import Path

import pytest

from vespe import Project, ToolNotFound, tool


@tool
async def where() -> bool:
    """Say whether this is the loop of the test."""
    return asyncio.get_running_loop() is LOOPS[-1]


LOOPS: list[asyncio.AbstractEventLoop] = []


def test_the_verbs_are_awaited_in_the_callers_loop(home: Path, tmp_path: Path) -> None:
    async def main() -> None:
        LOOPS.append(asyncio.get_running_loop())
        async with Project.init(tmp_path / "mine").aio() as aio:
            aio.project.create_tool("count", type="python_script")
            assert aio.register(where) is where
            assert (await aio.call("where")).unwrap() is True
            assert (await aio.call("count", text="a b")).unwrap()["words"] == 2
            assert [tool.name for tool in await aio.list_tools()] == ["count", "where"]
            assert (
                await aio.get_tool("where")
            ).description == "Say whether this is the loop of the test."
            with pytest.raises(ToolNotFound):
                await aio.get_tool("wher")

    asyncio.run(main())


def test_every_verb_of_a_project_is_there_with_its_parameters(home: Path, tmp_path: Path) -> None:
    project = Project.init(tmp_path / "mine")
    own = {"init", "aio", "acall", "arun_code", "call_path", "config", "root", "registry"}
    names = {name for name in dir(Project) if not name.startswith("_")} - own
    assert names == {name for name in dir(project.aio()) if not name.startswith("_")} - {"project"}
    for name in names:
        sync, awaited = (
            list(inspect.signature(getattr(one, name)).parameters.values())
            for one in (project, project.aio())
        )
        assert awaited == [one for one in sync if one.name != "cancel"], name
        assert (
            name == "register"
            or inspect.iscoroutinefunction(getattr(project.aio(), name))
            or (inspect.isasyncgenfunction(getattr(project.aio(), name)))
        )


def test_the_other_verbs_are_awaited_too(home: Path, tmp_path: Path) -> None:
    async def main() -> None:
        async with Project.init(tmp_path / "mine").aio() as aio:
            made = await aio.create_tool("count", type="python_script")
            assert (await aio.execute_tool(made.uid, {"text": "a b"})).unwrap()["words"] == 2
            assert (await aio.execute_tool("count", '{"text": "a"}')).unwrap()["words"] == 1
            (tmp_path / "slow.py").write_text(
                "import time\n\ndef slow() -> None:\n    time.sleep(60)\n", encoding="utf-8"
            )
            await aio.create_tool("slow", source=f"{tmp_path}/slow.py:slow")
            late = (await aio.execute_tool("slow", timeout_s=0.5)).error
            assert late is not None and late.code == "timed_out"
            assert (await aio.load_tool("count")).uid == made.uid
            assert (await aio.resolve_tool("count")).entry.uid == made.uid
            assert [one.name for one in await aio.list_available_tools()] == ["count", "slow"]
            inputs = ({"text": "a " * number} for number in range(6))
            async with contextlib.aclosing(aio.batch("count", inputs)) as outcomes:
                assert [one.unwrap()["words"] async for one in outcomes] == [*range(6)]
            async with contextlib.aclosing(aio.batch("slow", [{}] * 100, jobs=1)) as outcomes:
                task = asyncio.ensure_future(anext(outcomes))
                await asyncio.sleep(0)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            async for outcome in aio.batch("slow", [{}] * 100, timeout_s=0.2):
                assert outcome.error is not None and outcome.error.code == "timed_out"
                break
            with pytest.raises(ToolNotFound):
                async for _ in aio.batch("coun", []):
                    pass

    asyncio.run(main())


def test_the_loop_goes_on_while_a_tool_runs_and_cancelling_the_task_ends_it(
    home: Path, tmp_path: Path
) -> None:
    async def main() -> None:
        project = Project.init(tmp_path / "mine")
        (tmp_path / "slow.py").write_text(
            "import time\n\ndef slow() -> None:\n    time.sleep(60)\n", encoding="utf-8"
        )
        project.create_tool("slow", source=f"{tmp_path}/slow.py:slow")
        task = asyncio.create_task(project.acall("slow"))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
