"""A project's verbs, awaited."""

import asyncio
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
