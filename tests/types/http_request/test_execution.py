"""http_request tools against a real server: the request that was sent, to the byte, and what its
answer becomes.
"""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.loopback import Exchange, Loopback
from vespe import defaults
from vespe.defaults import LARGER_CAP_BYTES
from vespe.errors import (
    AddressRefused,
    Interrupted,
    InvalidOutput,
    InvalidTool,
    OutputTooLarge,
    Refused,
    TimedOut,
    ToolExecutionError,
)
from vespe.models import Execution, Implementation, JsonObject, Tool
from vespe.tool_types import Context, Executor
from vespe.types.http_request.execution import HttpRequest

HTTP: Executor = HttpRequest()


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback() as loopback:
        yield loopback


def tool(url: str, method: str | None = "GET", **args: Any) -> Tool:
    schema = {"type": "object", "properties": {name: {} for name in ("id", "q", "tags")}}
    details = Implementation(type="http_request", path=url, entrypoint=method, args=args)
    return Tool(
        uid="tool-http",
        name="http",
        description="",
        input_schema=schema,
        implementation=details,
        directory="/tools/tool-http",
    )


def context(
    *, secrets: dict[str, str] | None = None, timeout_s: float = 20, **more: Any
) -> Context:
    allow = {"allow_hosts": ("127.0.0.1",), **more}
    return Context(
        project_root="/", directory="/", secrets=secrets or {}, timeout_s=timeout_s, **allow
    )


def run(made: Tool, *, secrets: dict[str, str] | None = None, **inputs: Any) -> Execution:
    return HTTP.execute(made, inputs, context(secrets=secrets))


def answers(body: bytes, kind: str = "application/json", *, status: int = 200, **args: Any) -> Any:
    def answer(exchange: Exchange) -> bool:
        return exchange.reply(body, status=status, kind=kind)

    with Loopback(answer) as server:
        return run(tool(server.url("/"), **args)).result


# Secrets that a server refuses


def test_a_secret_that_the_server_refuses_is_fetched_once_more_and_sent_again() -> None:
    seen: list[str | None] = []

    def answer(exchange: Exchange) -> bool:
        seen.append(exchange.headers.get("authorization"))
        return exchange.reply(b"1", status=200 if seen[-1] == "Bearer new" else 401)

    with Loopback(answer) as server:
        made = tool(server.url("/"), auth={"type": "bearer", "token": "${env:T}"})
        for renewed, sent in (({"T": "new"}, 2), ({"T": "wrong too"}, 2), (None, 1)):
            seen.clear()
            given = context(secrets={"T": "old"}, renew=lambda _, renewed=renewed: renewed)
            try:
                assert HTTP.execute(made, {}, given).result == 1 and renewed == {"T": "new"}
            except ToolExecutionError as error:
                assert error.details["status"] == 401 and renewed != {"T": "new"}
            assert len(seen) == sent and seen[0] == "Bearer old"


# What is sent


def test_p39_a_request_is_exact_on_the_wire(server: Loopback) -> None:
    made = tool(
        server.url("/echo/{id}?fixed=a%20b"),
        "post",
        query={"q": "{q}", "tag": "{tags}", "n": 1},
        headers={"X-Query": "q={q}"},
        body={"json": {"id": "{id}", "tags": "{tags}", "said": "q={q}"}},
    )
    run(made, id=7, q="a b&c=d#", tags=["x", "y/z"])
    body = '{"id":7,"tags":["x","y/z"],"said":"q=a b&c=d#"}'
    assert server.requests == [
        "POST /echo/7?fixed=a%20b&q=a%20b%26c%3Dd%23&tag=x&tag=y%2Fz&n=1 HTTP/1.1\r\nHost: "
        f"{server.host}\r\n"
        f"User-Agent: vespe/{defaults.VERSION}\r\nAccept: */*\r\nAccept-Encoding: "
        f"identity\r\nContent-Length: {len(body)}\r\n"
        f"X-Query: q=a b&c=d#\r\nContent-Type: application/json\r\n\r\n{body}".encode()
    ]


def test_p44b_nothing_of_the_caller_is_in_a_request(
    server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_TOKEN", "inbound")
    HTTP.execute(
        tool(server.url()),
        {"q": "inbound"},
        context(environment={"TOKEN": "inbound"}, secrets={"TOKEN": "inbound"}),
    )
    assert b"inbound" not in server.requests[0]
    assert b"authorization" not in server.requests[0].lower()


def test_a_secret_reaches_the_wire_and_no_plan(server: Loopback) -> None:
    made = tool(
        server.url(), auth={"type": "bearer", "token": "${env:KEY}"}, query={"k": "${env:KEY}"}
    )
    assert (
        run(made, secrets={"KEY": "s3cret/"}).result["headers"]["authorization"] == "Bearer s3cret/"
    )
    assert server.requests[0].startswith(b"GET /echo?k=s3cret%2F HTTP/1.1\r\n")
    shown = HTTP.plan(made, {}, context(secrets={"KEY": "s3cret/"}))
    assert shown == {
        "method": "GET",
        "url": server.url("/echo?k=${env:KEY}"),
        "headers": {"Authorization": "Bearer ${env:KEY}"},
    }


def test_a_plan_shows_the_body_and_sends_nothing(server: Loopback) -> None:
    made = tool(server.url(), "PUT", body={"form": {"a": "{q}"}})
    shown = HTTP.plan(made, {"q": "x y"}, context())
    assert (shown["method"], shown["body"], shown["headers"]) == (
        "PUT",
        "a=x+y",
        {"Content-Type": "application/x-www-form-urlencoded"},
    )
    assert server.connections == 0


# What its answer becomes


@pytest.mark.parametrize(
    ("body", "kind", "args", "result"),
    [
        (b'{"a": [1]}', "application/json; charset=utf-8", {}, {"a": [1]}),
        (b'{"a": [1]}', "application/problem+json", {}, {"a": [1]}),
        (b'{"a": [1]}', "text/plain", {}, '{"a": [1]}'),
        (b'{"a": [1]}', "text/plain", {"response": "json"}, {"a": [1]}),
        (b'{"a": [1]}', "application/json", {"response": "text"}, '{"a": [1]}'),
        (b'{"a": [1]}', "application/json", {"response": "/a/0"}, 1),
        (b'{"a": [1]}', "application/json", {"response": ""}, {"a": [1]}),
        (b"", "application/json", {}, None),
        (b"", "text/html", {}, ""),
        (b"\xef\xbb\xbf1", "application/json", {}, 1),
        ("naïve".encode("latin-1"), "text/plain; charset=latin-1", {}, "naïve"),
    ],
)
def test_an_answer_is_read_as_the_tool_says_or_else_by_its_type(
    body: bytes, kind: str, args: JsonObject, result: Any
) -> None:
    assert answers(body, kind, **args) == result


@pytest.mark.parametrize(
    ("body", "response", "says"),
    [
        (b"<html>", "json", "is not JSON"),
        (b"NaN", "json", "NaN"),
        (b'{"a": 1, "a": 2}', "json", "twice"),
        (b'{"data": []}', "/data/0", "has nothing at /data/0"),
        (b'{"data": {}}', "/data/x", "has nothing at /data/x"),
        (b"", "/data", "is not JSON"),
    ],
)
def test_an_answer_that_is_not_what_the_tool_says_is_invalid_output(
    body: bytes, response: str, says: str
) -> None:
    with pytest.raises(InvalidOutput, match=says):
        answers(body, response=response)


def test_bytes_that_are_no_text_are_noted() -> None:
    with Loopback(lambda exchange: exchange.reply(b"a\xff", kind="text/plain")) as server:
        done = run(tool(server.url("/")))
    assert (done.result, done.notes) == (
        "a\ufffd",
        ("bytes of the response that are no utf-8 became U+FFFD",),
    )


def test_a_failing_status_is_an_error_with_status_body_and_few_headers(server: Loopback) -> None:
    with pytest.raises(ToolExecutionError) as caught:
        run(tool(server.url("/status/503")))
    assert str(caught.value) == f'{server.host} answered with status 503: {{"error": "as asked"}}'
    headers = {"content-type": "application/json", "retry-after": "7"}
    assert caught.value.details == {
        "status": 503,
        "body": '{"error": "as asked"}',
        "headers": headers,
    }


def test_the_tool_says_which_statuses_succeed(server: Loopback) -> None:
    assert run(tool(server.url("/status/404"), success_statuses=[404])).result == {
        "error": "as asked"
    }
    with pytest.raises(ToolExecutionError, match="status 200"):
        run(tool(server.url(), success_statuses=[404]))


def test_p38_a_redirect_fails_unless_the_tool_follows_it(server: Loopback) -> None:
    with pytest.raises(ToolExecutionError, match="status 302") as caught:
        run(tool(server.url("/redirect/302//echo")))
    assert caught.value.details["headers"]["location"] == "/echo"
    assert run(tool(server.url("/redirect/302//echo"), redirects=1)).result["target"] == "/echo"


def test_p38_a_header_that_holds_a_secret_stays_with_its_origin(server: Loopback) -> None:
    with Loopback() as other:
        made = tool(
            server.url(f"/redirect/302/{other.url()}"),
            redirects=1,
            headers={"X-Key": "k ${env:KEY}", "X-Open": "o"},
            auth={"type": "header", "name": "X-Auth", "value": "plain"},
        )
        seen = run(made, secrets={"KEY": "s3cret"}).result["headers"]
    assert {"x-key", "x-auth"} & seen.keys() == set()
    assert seen["x-open"] == "o"


def test_a_long_failing_body_is_cut_with_its_length() -> None:
    with pytest.raises(ToolExecutionError) as caught:
        answers(b"x" * 10_000, "text/plain", status=500)
    assert len(str(caught.value)) < 500
    assert caught.value.details["body"].endswith("… (cut by vespe: 10000 characters)")


def test_a_secret_that_the_server_echoes_is_not_in_the_error() -> None:
    def echo_key(exchange: Exchange) -> bool:
        return exchange.reply(b"x" * 290 + exchange.headers["authorization"].encode(), status=401)

    with Loopback(echo_key) as server, pytest.raises(ToolExecutionError) as caught:
        run(
            tool(server.url("/"), auth={"type": "bearer", "token": "${env:KEY}"}),
            secrets={"KEY": "s3cret-value"},
        )
    assert "s3cret" not in str(caught.value) + json.dumps(caught.value.details)


def test_the_context_bounds_the_call(server: Loopback) -> None:
    with pytest.raises(TimedOut):
        HTTP.execute(tool(server.url("/silence")), {}, context(timeout_s=0.3))
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Interrupted):
        HTTP.execute(tool(server.url()), {}, context(cancel=cancel))
    with pytest.raises(AddressRefused):
        HTTP.execute(tool(server.url()), {}, context(allow_hosts=()))


@pytest.mark.parametrize(
    "args",
    [
        {"response": "xml"},
        {"response": 1},
        {"response": "/a~b"},
        {"redirects": 6},
        {"redirects": True},
        {"redirects": -1},
        {"success_statuses": 200},
        {"success_statuses": ["200"]},
    ],
    ids=repr,
)
def test_settings_that_mean_nothing_make_the_tool_invalid_before_anything_is_sent(
    args: JsonObject, server: Loopback
) -> None:
    for act in (HTTP.plan, HTTP.execute):
        with pytest.raises(
            InvalidTool, match=f"implementation_details.args.{next(iter(args))} must be"
        ):
            act(tool(server.url(), **args), {}, context())
    assert server.connections == 0


def test_p40_an_answer_past_the_larger_cap_is_ended_and_kept_up_to_it() -> None:
    with pytest.raises(OutputTooLarge) as caught:
        answers(b"x" * (LARGER_CAP_BYTES + 1), "text/plain")
    assert len(caught.value.kept) == LARGER_CAP_BYTES


def test_a_process_that_sends_nothing_loads_nothing_of_the_network() -> None:
    code = (
        "import sys; old = set(sys.modules); import vespe.types.http_request.execution; "
        "print(*sys.modules.keys() - old)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True
    )
    assert "vespe.http.client" in done.stdout.split()
    assert {"httpcore2", "ssl", "socket", "ipaddress", "urllib"} & set(done.stdout.split()) == set()


def test_p37_a_plan_refuses_a_host_that_hides_itself() -> None:
    with pytest.raises(Refused):
        HTTP.plan(tool("http://example.com@127.0.0.1/"), {}, context())
