"""Requests that need nothing but their answer: what they get is what the SDK would have said, and
all others are the SDK's.
"""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.http_serving import gone, noted, serving, stocked
from vespe.features.mcp.server import revisions
from vespe.features.mcp.server.http_quick import Quick
from vespe.models import JsonObject, Outcome

META = {revisions.REVISION_KEY: revisions.NEWEST, revisions.CAPABILITIES_KEY: {}}
SCHEMAS: dict[str, JsonObject] = {
    "add": {"type": "object", "properties": {"a": {"type": "integer"}}},
    "region": {
        "type": "object",
        "properties": {"where": {"type": "string", "x-mcp-header": "Region"}},
    },
}


class Tools:
    """Two functions of this process; `work` is what they do."""

    def __init__(self, work: Callable[[], Any] = lambda: 3) -> None:
        self.work, self.threads = work, list[int]()

    def page(self, revision: str, cursor: str | None) -> JsonObject:
        return {"tools": []}

    def resources(self, cursor: str | None) -> JsonObject:
        return {"resources": []}

    def read(self, uri: str) -> JsonObject:
        return {"contents": []}

    def input_schema(self, name: str) -> JsonObject | None:
        return SCHEMAS.get(name)

    def in_process(self, name: str) -> bool:
        return True

    def call(self, name: str, arguments: JsonObject, **_: Any) -> tuple[Outcome, None]:
        self.threads.append(threading.get_ident())
        return Outcome(tool=name, uid="", result=self.work()), None


def request(
    method: str = "tools/call",
    name: str | None = "add",
    meta: JsonObject | None = None,
    **more: Any,
) -> JsonObject:
    params = {
        "_meta": META | (meta or {}),
        **({"name": name, "arguments": {"a": 1}} if method == "tools/call" else {}),
        **more,
    }
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}


def headers(**changed: str | None) -> dict[bytes, str | None]:
    usual = {
        "mcp-protocol-version": revisions.NEWEST,
        "mcp-method": "tools/call",
        "mcp-name": "add",
        "accept": "application/json, text/event-stream",
    }
    given = usual | {name.replace("_", "-"): value for name, value in changed.items()}
    return {name.encode(): value for name, value in given.items() if value is not None}


async def answered(quick: Quick, message: JsonObject) -> JsonObject | None:
    answer = await quick.answer(message, asyncio.Event())
    return None if answer is None else dict(json.loads(answer))


def quick_of(tools: Tools) -> Quick:
    return Quick(tools, set(), asyncio.to_thread)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (headers(), request()),
        (headers(accept="*/*"), request()),
        (headers(accept="application/*;q=1, text/*"), request()),
        (headers(mcp_method="tools/list", mcp_name=None), request("tools/list")),
        (
            headers(mcp_method="resources/read", mcp_name="x:y"),
            request("resources/read", uri="x:y"),
        ),
    ],
)
def test_what_is_in_order_is_taken(given: dict[bytes, str | None], message: JsonObject) -> None:
    assert quick_of(Tools()).takes(given, message)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (headers(mcp_protocol_version="2025-11-25"), request()),
        (headers(mcp_protocol_version=None), request()),
        (headers(mcp_method="tools/list"), request()),
        (headers(mcp_method=None), request()),
        (headers(mcp_name="other"), request()),
        (headers(mcp_name=None), request()),
        (headers(mcp_name="\0"), request()),
        (headers(mcp_name="3"), request(name=3)),  # type: ignore[arg-type]  # that is what is wrong
        (headers(accept="application/json"), request()),
        (headers(accept="text/event-stream"), request()),
        (headers(accept=None), request()),
        (headers(mcp_param_where="x"), request()),
        (headers(mcp_name="region"), request(name="region")),
        (
            headers(mcp_method="subscriptions/listen", mcp_name=None),
            request("subscriptions/listen"),
        ),
        (headers(), {key: value for key, value in request().items() if key != "id"}),
        (headers(), request() | {"params": [1]}),
    ],
)
def test_whatever_else_there_is_is_the_sdks(
    given: dict[bytes, str | None], message: JsonObject
) -> None:
    assert not quick_of(Tools()).takes(given, message)


def test_nothing_is_kept_of_a_name_that_is_no_tool() -> None:
    quick = quick_of(Tools())
    for name in ("add", "nope", "neither"):
        assert quick.takes(headers(mcp_name=name), request(name=name))
    assert list(quick._plain) == ["add"]


@pytest.mark.parametrize(
    "message",
    [
        request(meta={"progressToken": 1}),
        request(meta={revisions.LOG_LEVEL_KEY: "info"}),
        request(arguments=[1]),
        request("tools/list", cursor=3),
        {**request(), "jsonrpc": "1.0"},
        {**request(), "id": None},
    ],
)
def test_what_wants_a_stream_or_is_refused_is_left_unanswered(message: JsonObject) -> None:
    tools = Tools()
    assert asyncio.run(answered(quick_of(tools), message)) is None and not tools.threads


def test_a_call_is_answered() -> None:
    answer = asyncio.run(answered(quick_of(Tools()), request()))
    assert (
        answer is not None and answer["id"] == 7 and answer["result"]["content"][0]["text"] == "3"
    )


def test_only_a_tool_that_is_known_to_be_quick_is_called_at_once() -> None:
    tools = Tools()
    quick = quick_of(tools)
    assert quick.answer_at_once(headers(), request()) is None and not tools.threads
    quick._quick["add"] = 100
    for message in (
        request(meta={"progressToken": 1}),
        request(name="region"),
        request("tools/list"),
        request(arguments=[1]),
    ):
        assert quick.answer_at_once(headers(), message) is None and not tools.threads
    assert b'"id":7' in (quick.answer_at_once(headers(), request()) or b"") and tools.threads == [
        threading.get_ident()
    ]


def test_what_was_quick_runs_in_the_thread_of_the_loop_and_what_was_then_slow_never_again() -> None:
    naps = iter([0.05, *[0] * 9])
    tools = Tools(lambda: time.sleep(next(naps)))
    quick = quick_of(tools)
    quick._quick["add"] = 100

    async def ten() -> None:
        for _ in range(10):
            await answered(quick, request())

    asyncio.run(ten())
    own = threading.get_ident()
    assert tools.threads[0] == own and own not in tools.threads[1:]


def test_the_server_answers_plain_json_and_ends_a_call_whose_client_hangs_up(
    project: Path, tmp_path: Path
) -> None:
    with serving(stocked(project)) as up:
        said = {"MCP-Protocol-Version": revisions.NEWEST, "Mcp-Method": "tools/call"}
        status, answer = up.post(json.dumps(request()), **said, **{"Mcp-Name": "add"})
        assert status == 200 and b"content-type: application/json" in answer and b'"id":7' in answer
        assert up.post(json.dumps(request()), **said, **{"Mcp-Name": "nap"})[0] == 400
        assert up.post(json.dumps(request(name="nope")), **said, **{"Mcp-Name": "nope"})[0] == 400
        body = json.dumps(request(name="nap", arguments={"mark": str(tmp_path / "mark")}))
        with socket.create_connection(("127.0.0.1", up.port)) as client:
            lines = {
                "Host": f"127.0.0.1:{up.port}",
                **up.headers,
                **said,
                "Mcp-Name": "nap",
                "Accept": "*/*",
                "Content-Type": "application/json",
            }
            head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
            client.sendall(
                f"POST /mcp HTTP/1.1\r\n{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()
            )
            process = noted(tmp_path / "mark")
        assert gone(process)
