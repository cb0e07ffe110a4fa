"""The official Python client over HTTP, in its newest and its legacy mode."""

import asyncio
import contextlib
import itertools
import socket
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import mcp_types as types
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from tests.support.http_serving import Serving, gone, noted, serving, stocked
from tests.support.ondisk import PATIENCE_S, python_tool
from vespe.features.mcp.server.http_handlers import connection_of
from vespe.projects.init import found_project

MODES = ("auto", "legacy")


@contextlib.asynccontextmanager
async def connected(served: Serving, mode: Any, **options: Any) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers=served.headers, timeout=PATIENCE_S, trust_env=False) as http,
        Client(
            streamable_http_client(served.url, http_client=http), mode=mode, cache=None, **options
        ) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """One server for the tests that leave it as it was; each calls with files of its own."""
    root = tmp_path_factory.mktemp("served")
    (root / "project").mkdir()
    with contextlib.ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            for name in (
                "HOME",
                "XDG_CONFIG_HOME",
                "XDG_DATA_HOME",
                "XDG_STATE_HOME",
                "XDG_CACHE_HOME",
            ):
                patch.setenv(name, str(root / name))
            found_project(str(root / "project"))
            served = stack.enter_context(serving(stocked(root / "project")))
        yield served


def emptied_mark(up: Serving) -> Path:
    """Return the one file outside the project that `nap` may write, with nothing of an earlier call
    in it.
    """
    mark = up.err.parent / "mark"
    mark.write_bytes(b"")
    return mark


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


def test_the_official_client_lists_calls_and_is_told_of_errors(up: Serving) -> None:
    async def work(mode: str) -> None:
        async with connected(up, mode) as client:
            assert client.protocol_version == ("2026-07-28" if mode == "auto" else "2025-11-25")
            assert [tool.name for tool in (await client.list_tools()).tools] == ["add", "nap"]
            result = await client.call_tool("add", {"a": 1, "b": 2})
            assert (result.content[0].text, result.is_error) == ("3", False)  # type: ignore[union-attr]  # it is a text
            assert (await client.call_tool("add", {"a": "x"})).is_error
            with pytest.raises(MCPError) as caught:
                await client.call_tool("nope", {})
            assert caught.value.code == types.INVALID_PARAMS
            resources = await client.list_resources()
            assert (
                "# add" in (await client.read_resource(resources.resources[0].uri)).contents[0].text  # type: ignore[union-attr]  # a text
            )
            assert (await client.list_prompts()).prompts == []

    for mode in MODES:
        run(work(mode))


def test_p44_a_call_that_the_client_cancels_ends_with_its_processes(up: Serving) -> None:
    async def work(mode: str) -> None:
        mark = emptied_mark(up)
        async with connected(up, mode) as client:
            with anyio.move_on_after(30) as scope:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(client.call_tool, "nap", {"mark": str(mark)})
                    pid = await anyio.to_thread.run_sync(noted, mark)
                    tasks.cancel_scope.cancel()
            assert not scope.cancelled_caught and await anyio.to_thread.run_sync(gone, pid)
            assert not (await client.call_tool("add", {})).is_error

    for mode in MODES:
        run(work(mode))


def test_a_client_is_told_when_the_tools_change(project: Path) -> None:
    async def work(mode: str) -> None:
        heard = anyio.Event()

        async def hear(message: Any) -> None:
            if isinstance(getattr(message, "root", message), types.ToolListChangedNotification):
                heard.set()

        async with (
            connected(served, mode, message_handler=hear) as client,
            contextlib.AsyncExitStack() as stack,
        ):
            await client.list_tools()
            if mode == "auto":
                events = await stack.enter_async_context(client.listen(tools_list_changed=True))
            python_tool(project / f".vespe/tools/tool-{mode}", mode, "return 1")
            with anyio.fail_after(20):
                await (anext(aiter(events)) if mode == "auto" else heard.wait())
            assert mode in [tool.name for tool in (await client.list_tools()).tools]

    with serving(stocked(project)) as served:
        for mode in MODES:
            run(work(mode))


def test_a_client_that_waits_is_told_that_the_call_still_runs(up: Serving) -> None:
    async def work(mode: str) -> None:
        beats: list[float] = []
        async with connected(up, mode) as client, anyio.create_task_group() as tasks:

            async def hear(progress: float, total: float | None, message: str | None) -> None:
                beats.append(progress)
                if len(beats) == 2:
                    tasks.cancel_scope.cancel()

            await client.call_tool("nap", {"mark": str(emptied_mark(up))}, progress_callback=hear)
        assert beats == sorted(beats) and len(beats) >= 2

    for mode in MODES:
        run(work(mode))


def test_calls_in_flight_do_not_wait_for_each_other(up: Serving) -> None:
    async def work() -> None:
        async with connected(up, "auto") as client, anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(client.call_tool, "add", {"a": number})

    run(work())


def test_several_stateless_workers_behind_a_proxy_are_one_server_to_a_client(
    project: Path, tmp_path: Path
) -> None:
    async def work(mode: str) -> None:
        async with connected(between, mode) as client:
            for number in range(6):
                result = await client.call_tool("add", {"a": number, "b": 1})
                assert result.content[0].text == str(number + 1)  # type: ignore[union-attr]  # it is a text

    options = ("--stateless", "--token-file", str(tmp_path / "token"))
    with (
        serving(stocked(project), *options) as one,
        serving(project, *options) as two,
        round_robin(one.port, two.port) as (port, seen),
    ):
        between = Serving(port=port, token=one.token, process=one.process, err=one.err)
        for mode in MODES:
            run(work(mode))
        assert set(seen) == {one.port, two.port}


@contextlib.contextmanager
def round_robin(*ports: int) -> Iterator[tuple[int, list[int]]]:
    """A proxy that gives each connection, and each is closed after its answer, to the next
    server.
    """
    listener = socket.create_server(("127.0.0.1", 0))
    turn, seen = itertools.cycle(ports), list[int]()
    opened: list[socket.socket] = []

    def pump(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data.replace(b"connection: keep-alive", b"connection: close"))
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                seen.append(next(turn))
                server = socket.create_connection(("127.0.0.1", seen[-1]))
                opened.extend((client, server))
                for pair in ((client, server), (server, client)):
                    threading.Thread(target=pump, args=pair, daemon=True).start()

    accepting = threading.Thread(target=accept, daemon=True)
    accepting.start()
    try:
        yield listener.getsockname()[1], seen
    finally:
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        accepting.join(PATIENCE_S)
        for end in (listener, *opened):
            end.close()


def test_an_sdk_that_keeps_a_connection_elsewhere_is_told_of_once_and_served_without(
    caplog: pytest.LogCaptureFixture,
) -> None:
    for _ in range(2):
        assert connection_of(object()) is None
    assert [record.name for record in caplog.records] == [
        "mcp"
    ] and "hear of no changes" in caplog.text
