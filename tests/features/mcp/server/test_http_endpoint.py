"""MCP over HTTP: by the official Python client in its newest and its legacy mode, and by a client
that reads each answer as it came.
"""

import asyncio
import contextlib
import itertools
import json
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import mcp_types as types
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

import vespe
from tests.support.http_serving import Serving, gone, noted, serving, stocked
from tests.support.ondisk import PATIENCE_S, python_tool
from vespe import Project, report_message, report_progress
from vespe.features.mcp.server import http_exchange, revisions
from vespe.features.mcp.server.http_endpoint import AdmittedRequest, Endpoint
from vespe.features.mcp.server.tools import ServedTools
from vespe.models import JsonObject
from vespe.projects import user_config
from vespe.projects.init import found_project
from vespe.projects.workspace import open_workspace

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
            listed = [tool.name for tool in (await client.list_tools()).tools]
            assert listed == ["add", "nap", "read_result"]
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


HEADERS = {"accept": "application/json, text/event-stream"}
COLOR = {"type": "object", "properties": {"c": {"type": "string"}}, "required": ["c"]}
NEWEST_META = {revisions.REVISION_KEY: revisions.NEWEST, revisions.CAPABILITIES_KEY: {}}


def say() -> str:
    """Say something on the way, and how far it is."""
    report_message("debug", "on the way")
    report_progress(1, 2, message="half")
    return "said"


def choose_late() -> str:
    """Ask a person when the time for an answer in JSON is long over."""
    time.sleep(10 * http_exchange.JSON_S)
    return str(vespe.ask("Which color?", COLOR)["c"])


class Raw:
    """A client of one endpoint, without a socket; `session` is the id that it was given."""

    def __init__(self, endpoint: Endpoint, revision: str | None = None) -> None:
        self.endpoint, self.revision, self.session = endpoint, revision, ""
        self.status, self.kind, self.body = 0, "", ""
        self.gone, self.began = asyncio.Event(), asyncio.Event()
        self.messages: asyncio.Queue[JsonObject] = asyncio.Queue()

    async def ask(self, method: str, *, http: str = "POST", **params: Any) -> JsonObject:
        """Send a message, a notification where it is one by name; return the last that came."""
        message: JsonObject = {"jsonrpc": "2.0", "method": method, "params": params}
        return await self.send(
            message if method.startswith("notifications/") else message | {"id": 1}, http=http
        )

    async def send(self, message: Any, *, http: str = "POST", **headers: str) -> JsonObject:
        given = HEADERS | {"mcp-session-id": self.session} | headers
        given |= {"mcp-protocol-version": self.revision} if self.revision else {}
        self.body = ""
        request = AdmittedRequest(
            method=http,
            headers={name.encode(): value for name, value in given.items() if value},
            message=message,
            size=len(json.dumps(message)),
            hung_up=self.hung_up,
        )
        await self.endpoint.serve(request, self.receive)
        if self.kind == "text/event-stream":
            return self.messages.get_nowait() if not self.messages.empty() else {}
        return dict(json.loads(self.body)) if self.body else {}

    async def hung_up(self) -> None:
        await self.gone.wait()

    async def receive(self, event: dict[str, Any]) -> None:
        if event["type"] == "http.response.start":
            headers = {name.decode(): value.decode() for name, value in event["headers"]}
            self.status, self.kind = event["status"], headers.get("content-type", "")
            self.session = headers.get("mcp-session-id", self.session)
            self.began.set()
        data = event.get("body", b"").decode()
        self.body += data
        if self.kind == "text/event-stream" and "data: " in data:
            self.messages.put_nowait(json.loads(data.partition("data: ")[2]))

    async def hello(self, revision: str = "2025-11-25") -> "Raw":
        await self.ask("initialize", protocolVersion=revision, capabilities={}, clientInfo={})
        assert self.status == 200 and self.session
        await self.ask("notifications/initialized")
        assert self.status == 202
        self.revision = revision
        return self


def run_raw(
    project: Path,
    work: Callable[[Endpoint], Coroutine[Any, Any, None]],
    *,
    tool: Callable[[], str] = say,
    **options: Any,
) -> None:
    async def whole() -> None:
        made = Project(project)
        made.register(tool)
        with ServedTools(open_workspace(project), registry=made.registry) as tools:
            await work(Endpoint(tools, **options))

    asyncio.run(whole())


def test_an_answer_is_json_and_events_only_where_something_comes_before_it(project: Path) -> None:
    async def work(endpoint: Endpoint) -> None:
        for revision in ("2025-06-18", "2025-11-25"):
            client = await Raw(endpoint).hello(revision)
            for method in ("ping", "tools/list"):
                await client.ask(method)
                assert (client.status, client.kind) == (200, "application/json")
            await client.ask("tools/call", name="say", arguments={}, _meta={"progressToken": "p"})
            assert client.kind == "text/event-stream"
            assert '"progress":1,"total":2' in client.body and '"text":"said"' in client.body

    run_raw(project, work)


def test_each_session_has_a_log_level_of_its_own(project: Path) -> None:
    async def work(endpoint: Endpoint) -> None:
        first, second = await Raw(endpoint).hello(), await Raw(endpoint).hello()
        await first.ask("logging/setLevel", level="debug")
        for client in (second, first, second, first):
            await client.ask("tools/call", name="say", arguments={})
            assert ("on the way" in client.body) == (client is first)

    run_raw(project, work)


@pytest.mark.parametrize(
    ("session", "status"), [("", 400), ("nope", 404)], ids=["no session", "an unknown session"]
)
def test_a_request_without_its_session_is_refused(session: str, status: int, project: Path) -> None:
    async def work(endpoint: Endpoint) -> None:
        for http in ("POST", "GET", "DELETE"):
            client = Raw(endpoint, "2025-11-25")
            client.session = session
            assert (await client.ask("tools/list", http=http))["error"]["code"] == -32600
            assert client.status == status
        headers = {b"mcp-session-id": session, b"accept": "*/*"}
        message: JsonObject = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        assert endpoint.answer_at_once(headers, message, 1) is None

    run_raw(project, work)


@pytest.mark.parametrize(
    "message",
    [
        [{"jsonrpc": "2.0", "id": 1, "method": "ping"}],
        {"jsonrpc": "1.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": None, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1, "method": 3},
        7,
    ],
)
@pytest.mark.parametrize("revision", ["2025-03-26", "2025-11-25", revisions.NEWEST])
def test_what_is_no_single_request_is_refused_in_each_revision(
    revision: str, message: Any, project: Path
) -> None:
    async def work(endpoint: Endpoint) -> None:
        client = Raw(endpoint, revision)
        if revision != revisions.NEWEST:
            await client.hello(revision)
        answer = await client.send(message)
        assert (client.status, answer["error"]["code"]) == (400, -32600)

    run_raw(project, work)


def test_a_client_that_does_not_accept_both_kinds_is_refused(project: Path) -> None:
    async def work(endpoint: Endpoint) -> None:
        client = await Raw(endpoint).hello()
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        for accept in ("", "application/json", "text/event-stream", "text/html"):
            await client.send(ping, accept=accept)
            assert client.status == 406
        await client.send(ping, http="GET", accept="application/json")
        assert client.status == 406

    run_raw(project, work)


def test_a_session_that_is_ended_takes_its_stream_and_calls_along(
    project: Path, tmp_path: Path
) -> None:
    async def work(endpoint: Endpoint) -> None:
        client = await Raw(endpoint).hello()
        listening, napping, ending = [Raw(endpoint, client.revision) for _ in range(3)]
        listening.session = napping.session = ending.session = client.session
        stream = asyncio.create_task(listening.send(None, http="GET"))
        call = asyncio.create_task(
            napping.ask("tools/call", name="nap", arguments={"mark": str(tmp_path / "mark")})
        )
        pid = await asyncio.to_thread(noted, tmp_path / "mark")
        await Raw.send(ending, None, http="GET")
        assert ending.status == 409
        await ending.send(None, http="DELETE")
        assert ending.status == 200
        await asyncio.wait_for(stream, PATIENCE_S)
        assert (await asyncio.wait_for(call, PATIENCE_S))["error"]["code"] == -32800
        assert await asyncio.to_thread(gone, pid)
        await client.ask("ping")
        assert client.status == 404

    run_raw(stocked(project), work)


def test_a_call_is_cancelled_by_a_notification_of_its_own_session_alone(
    project: Path, tmp_path: Path
) -> None:
    async def work(endpoint: Endpoint) -> None:
        client, other = await Raw(endpoint).hello(), await Raw(endpoint).hello()
        napping = Raw(endpoint, client.revision)
        napping.session = client.session
        call = asyncio.create_task(
            napping.ask("tools/call", name="nap", arguments={"mark": str(tmp_path / "mark")})
        )
        pid = await asyncio.to_thread(noted, tmp_path / "mark")
        await other.ask("notifications/cancelled", requestId=1)
        assert not call.done() and napping.began.is_set()
        await client.ask("notifications/cancelled", requestId=1)
        assert (await asyncio.wait_for(call, PATIENCE_S))["error"]["code"] == -32800
        assert await asyncio.to_thread(gone, pid)

    run_raw(stocked(project), work)


def test_who_listens_is_told_of_changes_until_the_server_ends(project: Path) -> None:
    async def work(endpoint: Endpoint) -> None:
        client = await Raw(endpoint).hello()
        newest = Raw(endpoint, revisions.NEWEST)
        message = {
            "jsonrpc": "2.0",
            "id": "sub",
            "method": "subscriptions/listen",
            "params": {"_meta": NEWEST_META, "notifications": {"toolsListChanged": True}},
        }
        listening = asyncio.create_task(
            newest.send(message, **{"mcp-method": "subscriptions/listen"})
        )
        streaming = asyncio.create_task(client.send(None, http="GET"))
        acknowledged = await asyncio.wait_for(newest.messages.get(), PATIENCE_S)
        assert acknowledged["params"]["notifications"] == {"toolsListChanged": True}
        await asyncio.wait_for(client.began.wait(), PATIENCE_S)
        endpoint.tell_of_changes()
        for heard in (newest, client):
            told = await asyncio.wait_for(heard.messages.get(), PATIENCE_S)
            assert told["method"] == "notifications/tools/list_changed"
        endpoint.stop()
        last = await asyncio.wait_for(listening, PATIENCE_S)
        assert last["id"] == "sub" and "result" in last
        await asyncio.wait_for(streaming, PATIENCE_S)

    run_raw(project, work)


def test_a_server_without_sessions_answers_what_needs_none(project: Path) -> None:
    async def work(endpoint: Endpoint) -> None:
        client = Raw(endpoint)
        await client.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={})
        assert (client.status, client.session) == (200, "")
        client.revision = "2025-06-18"
        listed = await client.ask("tools/list")
        names = [tool["name"] for tool in listed["result"]["tools"]]
        assert names == ["read_result", "say"] and not len(endpoint.sessions)
        for http in ("GET", "DELETE"):
            await client.send(None, http=http)
            assert client.status == 405

    run_raw(project, work, stateless=True)


def test_the_newest_revision_has_no_handshake_and_statuses_of_its_own(project: Path) -> None:
    async def work(endpoint: Endpoint) -> None:
        client = Raw(endpoint, revisions.NEWEST)
        for method, status, code in (
            ("initialize", 404, -32601),
            ("ping", 404, -32601),
            ("tools/list", 200, None),
        ):
            answer = await client.send(
                {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": NEWEST_META}},
                **{"mcp-method": method},
            )
            assert client.status == status and answer.get("error", {}).get("code") == code
        await client.ask("notifications/cancelled", requestId=1)
        assert client.status == 202
        client.revision = "2099-01-01"
        await client.ask("notifications/cancelled", requestId=1)
        assert client.status == 400
        client.revision = revisions.NEWEST
        await client.send(None, http="GET")
        assert client.status == 405

    run_raw(project, work)


def test_only_what_takes_no_time_is_answered_at_once(project: Path) -> None:
    async def work(endpoint: Endpoint) -> None:
        client = await Raw(endpoint).hello()
        headers = {b"mcp-session-id": client.session, b"accept": "*/*"}

        def at_once(method: str, **params: Any) -> bytes | None:
            message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            return endpoint.answer_at_once(headers, message, 1)

        assert at_once("ping") == b'{"jsonrpc":"2.0","id":1,"result":{}}'
        assert at_once("tools/list") is None and at_once("initialize") is None
        assert at_once("tools/call", name="say", arguments={}) is None
        for _ in range(3):
            endpoint._pace.note("say", 0.0)
            endpoint._pace.note("tools/list", 0.0)
        assert b'"name":"say"' in (at_once("tools/list") or b"")
        assert b'"text":"said"' in (at_once("tools/call", name="say", arguments={}) or b"")
        wants_more = {"name": "say", "arguments": {}, "_meta": {"progressToken": 1}}
        assert at_once("tools/call", **wants_more) is None

    run_raw(project, work)


@pytest.mark.parametrize("mode", MODES)
def test_the_official_clients_user_is_asked_and_reads_what_was_shown_in_part(
    mode: str, project: Path
) -> None:
    stocked(project)
    big = "return 'a line of text\\n' * 20_000"
    python_tool(project / ".vespe/tools/tool-big", "big", big)
    user_config.set_value("approvals.ask", ["add"])
    answers, asked = [True, False], list[str]()

    async def answer(context: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"allow": answers[len(asked) - 1]})

    async def work(up: Serving) -> None:
        async with connected(up, mode, elicitation_callback=answer) as client:
            assert "add" in [tool.name for tool in (await client.list_tools()).tools]
            yes = await client.call_tool("add", {"a": 1, "b": 2})
            assert (yes.content[0].text, yes.is_error) == ("3", False)  # type: ignore[union-attr]  # it is a text
            assert (await client.call_tool("add", {"a": 1, "b": 2})).is_error
            part, link = (await client.call_tool("big", {})).content
            read = await client.read_resource(link.uri)  # type: ignore[union-attr]  # it is a link
            assert read.contents[0].text == "a line of text\n" * 20_000  # type: ignore[union-attr]  # it is a text
            assert len(part.text) <= 40_000  # type: ignore[union-attr]  # it is a text
        async with connected(up, mode) as client:
            assert "add" not in [tool.name for tool in (await client.list_tools()).tools]

    with serving(project) as up:
        run(work(up))
    assert len(asked) == 2 and all("`add` would run" in message for message in asked)


def test_a_tool_that_asks_in_the_thread_of_all_requests_is_moved_out_of_it(
    project: Path,
) -> None:
    begun: list[str] = []

    def choose(ask: bool = False) -> str:
        begun.append("begun")
        if not ask:
            return "quick"
        return str(vespe.ask("Which color?", COLOR)["c"])

    async def whole() -> None:
        made = Project(project)
        made.register(choose)
        with ServedTools(open_workspace(project), registry=made.registry) as tools:
            endpoint = Endpoint(tools)
            client = Raw(endpoint)
            hello: JsonObject = {"elicitation": {}}
            await client.ask(
                "initialize", protocolVersion="2025-11-25", capabilities=hello, clientInfo={}
            )
            await client.ask("notifications/initialized")
            client.revision = "2025-11-25"
            for _ in range(3):  # it counts as quick from then on, on a slow machine too
                endpoint._pace.note("choose", 0.0)
            calling = asyncio.ensure_future(
                client.ask("tools/call", name="choose", arguments={"ask": True})
            )
            question = await client.messages.get()
            assert question["method"] == "elicitation/create"
            other = Raw(endpoint, "2025-11-25")
            other.session = client.session
            answer = {"action": "accept", "content": {"c": "blue"}}
            for _ in range(2):
                await other.send({"jsonrpc": "2.0", "id": question["id"], "result": answer})
                assert other.status == 202
            told = await calling
            assert told["result"]["content"][0]["text"] == "blue"
            assert (await client.ask("ping"))["result"] == {}

    asyncio.run(whole())
    assert len(begun) == 2


@pytest.mark.parametrize("tool", [say, choose_late])
def test_a_call_that_needs_a_capability_that_the_client_has_not_is_refused_with_400(
    project: Path, tool: Callable[[], str]
) -> None:
    """As the official suite demands it of a tool that needs `sampling`, which no tool here does."""

    async def work(endpoint: Endpoint) -> None:
        client = Raw(endpoint, "2026-07-28")
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        params = {"name": tool.__name__, "arguments": {}, "_meta": meta}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = {"mcp-method": "tools/call", "mcp-name": tool.__name__}
        answer = await client.send(call, **headers)
        assert (client.status, answer["error"]["code"]) == (400, -32021)
        needed = answer["error"]["data"]["requiredCapabilities"]
        assert needed == {"elicitation": {"form": {}}}

    user_config.set_value("approvals.ask", ["say"])
    run_raw(project, work, tool=tool)


def test_a_tool_that_asks_late_a_client_that_cannot_ask_ends_the_stream_with_the_error(
    project: Path,
) -> None:
    """Once the stream of events has begun, its status is sent, and the error is its last event."""

    def choose() -> str:
        report_progress(1, 2)
        return str(vespe.ask("Which color?", COLOR)["c"])

    async def whole() -> None:
        made = Project(project)
        made.register(choose)
        with ServedTools(open_workspace(project), registry=made.registry) as tools:
            client = Raw(Endpoint(tools), "2026-07-28")
            meta = {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "progressToken": "p",
            }
            params = {"name": "choose", "arguments": {}, "_meta": meta}
            call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            headers = {"mcp-method": "tools/call", "mcp-name": "choose"}
            told = await client.send(call, **headers)
            assert told["method"] == "notifications/progress"
            assert (client.kind, client.status) == ("text/event-stream", 200)
            answer = client.messages.get_nowait()
            assert answer["error"]["code"] == -32021
            needed = answer["error"]["data"]["requiredCapabilities"]
            assert needed == {"elicitation": {"form": {}}}

    asyncio.run(whole())


def test_p82_an_answer_of_another_session_is_none(project: Path) -> None:
    async def work(endpoint: Endpoint) -> None:
        client = Raw(endpoint)
        await client.ask(
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={"elicitation": {}},
            clientInfo={},
        )
        client.revision = "2025-06-18"
        calling = asyncio.ensure_future(client.ask("tools/call", name="say", arguments={}))
        question = await client.messages.get()
        stranger = await Raw(endpoint).hello("2025-06-18")
        answer = {"action": "accept", "content": {"allow": True}}
        yes = {"jsonrpc": "2.0", "id": question["id"], "result": answer}
        await stranger.send(yes)
        assert stranger.status == 202
        client.gone.set()
        await calling
        with contextlib.suppress(asyncio.TimeoutError):
            async with asyncio.timeout(0.3):
                assert (await client.messages.get()).get("id") != 1

    user_config.set_value("approvals.ask", ["say"])
    run_raw(project, work)
