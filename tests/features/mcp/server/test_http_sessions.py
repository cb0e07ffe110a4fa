"""Sessions that sleep: their clients notice nothing, and the SDK keeps nothing of them."""

import asyncio
import contextlib
import itertools
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

from vespe import Project, report_message
from vespe.features.mcp.server import revisions
from vespe.features.mcp.server.http_gate import GONE, MESSAGE, replayed
from vespe.features.mcp.server.http_handlers import Handlers
from vespe.features.mcp.server.http_sessions import HttpSessions
from vespe.features.mcp.server.tools import ServedTools
from vespe.models import JsonObject
from vespe.projects.workspace import open_workspace

HEADERS = {
    "host": "localhost",
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
}


def say() -> str:
    """Say something on the way."""
    report_message("debug", "on the way")
    return "said"


class Client:
    """A client of the older revisions, straight to the application; `session` is the id that it was
    given.
    """

    def __init__(self, app: HttpSessions) -> None:
        self.app, self.session, self.status, self.ids = app, "", 0, itertools.count()
        self.headers = HEADERS

    async def ask(
        self,
        method: str,
        *,
        http: str = "POST",
        heard: Callable[[bytes], None] | None = None,
        **params: Any,
    ) -> str:
        """Send one message, a notification where it is one by name; return the body, and check that
        the session is the known one.
        """
        message: JsonObject = {"jsonrpc": "2.0", "method": method, "params": params}
        message |= {} if method.startswith("notifications/") else {"id": next(self.ids)}
        body = json.dumps(message).encode() if http == "POST" else b""
        given = (
            self.headers
            | {"content-length": str(len(body))}
            | ({"mcp-session-id": self.session} if self.session else {})
        )
        gone, said = asyncio.Event(), bytearray()

        async def send(event: dict[str, Any]) -> None:
            said.extend(event.get("body", b""))
            if heard is not None:
                heard(event.get("body", b""))
            if event["type"] == "http.response.start":
                self.status = event["status"]
                session = dict(event["headers"]).get(b"mcp-session-id", b"").decode()
                assert session == self.session or not self.session or not session
                self.session = self.session or session

        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": http,
            "path": "/mcp",
            "raw_path": b"/mcp",
            "query_string": b"",
            "root_path": "",
        }
        scope |= {
            "headers": [(name.encode(), value.encode()) for name, value in given.items()],
            "scheme": "http",
            "server": ("localhost", 80),
        }
        await self.app(
            scope | {GONE: gone, MESSAGE: (body, message if body else None)},
            replayed(body, gone),
            send,
        )
        return said.decode()

    async def hello(self, name: str = "test") -> "Client":
        info = {"name": name, "version": "1"}
        await self.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=info)
        await self.ask("notifications/initialized")
        assert self.status == 202
        return self

    @property
    def sleeps(self) -> bool:
        return self.app._known[self.session.encode()].own is None


@contextlib.asynccontextmanager
async def served(project: Path, **options: int) -> AsyncIterator[tuple[HttpSessions, Handlers]]:
    made = Project(project)
    made.register(say)
    with ServedTools(open_workspace(project), registry=made.registry) as tools:
        handlers = Handlers(tools)
        manager = handlers.manager()
        async with manager.run():
            yield HttpSessions(manager.handle_request, **options), handlers  # type: ignore[arg-type]  # the SDK's types are Starlette's


def run(
    project: Path,
    work: Callable[[HttpSessions, Handlers], Coroutine[Any, Any, None]],
    **options: int,
) -> None:
    async def whole() -> None:
        async with served(project, **options) as (sessions, handlers):
            await work(sessions, handlers)

    asyncio.run(whole())


def test_a_client_that_comes_back_finds_its_session_as_it_left_it(project: Path) -> None:
    async def work(sessions: HttpSessions, _: Handlers) -> None:
        first = await Client(sessions).hello()
        await first.ask("logging/setLevel", level="debug")
        second = await Client(sessions).hello()
        for client, other in ((first, second), (second, first), (first, second)):
            assert client.sleeps or client is second
            said = await client.ask("tools/call", name="say", arguments={})
            assert (
                client.status == 200
                and '"text":"said"' in said
                and ("on the way" in said) == (client is first)
            )
            assert other.sleeps

    run(project, work, awake=1)


def test_requests_that_come_together_wake_a_session_once(project: Path) -> None:
    async def work(sessions: HttpSessions, _: Handlers) -> None:
        clients = [await Client(sessions).hello() for _ in range(3)]
        assert [client.sleeps for client in clients] == [True, True, True]
        app, opening = sessions._app, list[bool]()

        async def counted(scope: Any, receive: Any, send: Any) -> None:
            opening.append(b"mcp-session-id" not in dict(scope["headers"]))
            await app(scope, receive, send)

        sessions._app = counted
        said = await asyncio.gather(*(clients[0].ask("tools/list") for _ in range(5)))
        assert all('"name":"say"' in one for one in said) and sum(opening) == 1

    run(project, work, awake=0)


def test_a_session_that_is_ended_or_slept_longest_or_unknown_is_not_found(project: Path) -> None:
    async def work(sessions: HttpSessions, _: Handlers) -> None:
        ended = await Client(sessions).hello()
        await ended.ask("", http="DELETE")
        assert ended.status == 200
        used, forgotten, kept = [await Client(sessions).hello() for _ in range(3)]
        await used.ask("tools/list")
        await Client(sessions).hello()
        for client, status in ((ended, 404), (forgotten, 404), (used, 200), (kept, 200)):
            await client.ask("tools/list")
            assert client.status == status
        assert len(sessions._known) == 3

    run(project, work, awake=0, limit=3)


def test_an_open_stream_keeps_a_session_awake_and_is_told_of_changes(project: Path) -> None:
    async def work(sessions: HttpSessions, handlers: Handlers) -> None:
        client, told = await Client(sessions).hello(), asyncio.Event()
        stream = asyncio.ensure_future(
            client.ask(
                "", http="GET", heard=lambda data: told.set() if b"list_changed" in data else None
            )
        )
        while client.status != 200:
            await asyncio.sleep(0.01)
        await Client(sessions).hello()
        assert not client.sleeps
        await handlers._changed()
        await asyncio.wait_for(told.wait(), 30)
        stream.cancel()

    run(project, work, awake=0)


def opened(sessions: HttpSessions) -> int:
    """Return how many sessions the SDK has."""
    return len(sessions._app.__self__._server_instances)  # type: ignore[attr-defined]  # a method of its manager


def test_what_would_be_much_to_keep_is_left_with_the_sdk(project: Path) -> None:
    async def work(sessions: HttpSessions, _: Handlers) -> None:
        large = [await Client(sessions).hello("x" * 10_000) for _ in range(3)]
        assert not sessions._known and opened(sessions) == 3
        small = [await Client(sessions).hello() for _ in range(2)]
        assert len(sessions._known) == 2 and opened(sessions) == 3
        for client in (*large, *small):
            await client.ask("tools/list")
            assert client.status == 200

    run(project, work, awake=0, limit=2)


def test_a_session_that_is_changed_by_much_is_left_with_the_sdk(project: Path) -> None:
    async def work(sessions: HttpSessions, _: Handlers) -> None:
        client = await Client(sessions).hello()
        await client.ask("logging/setLevel", level="debug", _meta={"more": "x" * 10_000})
        assert not sessions._known
        await Client(sessions).hello()
        assert "on the way" in await client.ask("tools/call", name="say", arguments={})

    run(project, work, awake=1)


def test_a_session_whose_request_was_broken_off_sleeps_too(project: Path) -> None:
    async def work(sessions: HttpSessions, _: Handlers) -> None:
        client = await Client(sessions).hello()
        stream = asyncio.ensure_future(client.ask("", http="GET"))
        while client.status != 200:
            await asyncio.sleep(0.01)
        stream.cancel()
        await asyncio.wait([stream])
        assert client.sleeps and not opened(sessions)

    run(project, work, awake=0)


def test_the_revision_that_one_client_says_is_not_said_for_another(project: Path) -> None:
    async def work(sessions: HttpSessions, _: Handlers) -> None:
        other, client = await Client(sessions).hello(), await Client(sessions).hello()
        await other.ask("tools/list")
        app, said = sessions._app, list[str]()

        async def noted(scope: Any, receive: Any, send: Any) -> None:
            said.append(
                scope["method"] if b"mcp-protocol-version" in dict(scope["headers"]) else ""
            )
            await app(scope, receive, send)

        sessions._app = noted
        client.headers = HEADERS | {"mcp-protocol-version": revisions.HANDSHAKE[0]}
        await client.ask("tools/list")
        assert other.sleeps and not client.sleeps and said == ["", "", "POST", ""]

    run(project, work, awake=1)


def test_a_request_of_the_newest_revision_leaves_a_session_as_it_was(project: Path) -> None:
    async def work(sessions: HttpSessions, _: Handlers) -> None:
        client = await Client(sessions).hello()
        client.headers = HEADERS | {"mcp-protocol-version": revisions.NEWEST}
        await client.ask("tools/list")
        assert client.status == 400 and not opened(sessions)
        client.headers = HEADERS
        await client.ask("tools/list")
        assert client.status == 200

    run(project, work, awake=0)


def test_a_session_that_the_sdk_ended_is_opened_again_once(project: Path) -> None:
    async def work(sessions: HttpSessions, _: Handlers) -> None:
        client = await Client(sessions).hello()
        direct = Client(sessions._app)  # type: ignore[arg-type]  # past the sessions, as if its time were over
        direct.session = client.session
        await direct.ask("", http="DELETE")
        said = await asyncio.gather(
            *(client.ask("tools/call", name="say", arguments={}) for _ in range(3))
        )
        assert all(one.count('"text":"said"') == 1 for one in said) and opened(sessions) == 1

    run(project, work, awake=1)
