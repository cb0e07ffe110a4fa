"""Answers over HTTP, as a document and as events, each told or taken as over stdio."""

import gzip
import json

import pytest

from tests.support.loopback import Exchange, Handler, Loopback
from tests.support.mcp_servers import definition
from tests.types.mcp_tool.test_session import answer
from vespe.tools import mcp_definitions

ODD = {"twice": '"n": 1, "n": 2', "nan": '"n": NaN', "whole": '"n": 1'}
INFO = {"name": "http", "version": "1"}
NOTE = '{"jsonrpc": "2.0", "method": "notifications/message", "method": "notifications/x"}'


def serves(odd: str, form: str) -> Handler:
    def handle(exchange: Exchange) -> bool:
        message = json.loads(exchange.body or b"{}")
        reply = {"jsonrpc": "2.0", "id": message.get("id")}
        method = message.get("method")
        if exchange.method != "POST":
            return exchange.reply(b"", status=405)
        if "id" not in message:
            return exchange.reply(b"", status=202)
        if method == "initialize":
            text = json.dumps(
                reply
                | {
                    "result": {
                        "protocolVersion": "2025-06-18",
                        "capabilities": {"tools": {}},
                        "serverInfo": INFO,
                    }
                }
            )
        elif method == "tools/list":
            text = json.dumps(reply | {"result": {"tools": [definition()]}})
        elif method == "tools/call":
            result = {
                "content": [{"type": "text", "text": "é\u2028"}],
                "structuredContent": {"odd": 0},
            }
            text = json.dumps(reply | {"result": result}, ensure_ascii=False)
            text = text.replace('"odd": 0', odd)
        else:
            error = {"code": -32601, "message": "Method not found"}
            text = json.dumps(reply | {"error": error})
        return replied(exchange, text, form)

    return handle


def replied(exchange: Exchange, text: str, form: str) -> bool:
    if form == "events":
        data = text.replace('"result"', '\n"result"').replace("\n", "\r\ndata: ")
        # Events before it, in all ways that a line ends; one that is no message, and one twice.
        body = f"\ufeff: hello\r\rid: 1\rdata: \r\rdata: {NOTE}\n\nevent: message\r\ndata: {data}\r\n\r\n"
        return exchange.reply(body.encode(), kind="text/event-stream; charset=utf-8")
    if form == "gzip":
        return exchange.reply(gzip.compress(text.encode()), "Content-Encoding: gzip")
    return exchange.reply(text.encode(), kind="Application/JSON; charset=utf-8")


@pytest.mark.parametrize("form", ["document", "events", "gzip"])
@pytest.mark.parametrize(
    ("odd", "said"),
    [
        ("twice", 'has the key "n" twice in one object'),
        ("nan", "holds NaN, which JSON cannot represent"),
        ("whole", ""),
    ],
)
def test_an_answer_over_http_that_can_be_read_in_two_ways_is_none(
    odd: str, said: str, form: str
) -> None:
    with Loopback(serves(ODD[odd], form)) as server:
        reach = {"url": server.url("/mcp"), "headers": {}, "allow_hosts": [server.host]}
        call = {"tool": "echo", "arguments": {}, "digest": mcp_definitions.digest(definition())}
        found = answer(reach | call)
    if said:
        assert found["error"]["message"] == f"the server's answer {said}"
    else:
        assert found["result"]["content"][0]["text"] == "é\u2028"
        assert found["result"]["structuredContent"] == {"n": 1}
