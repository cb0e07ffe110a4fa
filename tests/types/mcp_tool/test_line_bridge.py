"""A server behind a URL, spoken to in lines: headers, sessions and what a server refuses."""

import json
import subprocess
from typing import Any

from tests.support.loopback import Exchange, Loopback
from tests.support.ondisk import PATIENCE_S
from tests.support.stdio_client import MODERN
from vespe.types.mcp_tool import exchange

SCHEMA = {
    "type": "object",
    "properties": {"place": {"type": "string", "x-mcp-header": "Place"}},
}


class Recorder:
    """An MCP server over HTTP that notes the headers of each request, by method."""

    def __init__(self) -> None:
        self.seen: dict[str, Any] = {}

    def __call__(self, exchange: Exchange) -> bool:
        if exchange.method != "POST":
            return exchange.reply(b"", status=405)
        asked = json.loads(exchange.body or b"{}")
        self.seen[asked.get("method", "answer")] = exchange.headers
        if "id" not in asked or "method" not in asked:
            return exchange.reply(b"", status=202)
        if asked["method"] == "refused":
            return exchange.reply(b"", status=401)
        results: dict[str, Any] = {
            "initialize": {"protocolVersion": "2025-11-25", "capabilities": {}},
            "tools/list": {"tools": [{"name": "go", "inputSchema": SCHEMA}, {"name": "odd"}]},
        }
        result = results.get(
            asked["method"],
            {"big": 12345678901234567890, "z": 1.0, "a": "ä own-secret-1", "n": 86420975},
        )
        answer = {"jsonrpc": "2.0", "id": asked["id"], "result": result}
        return exchange.reply(json.dumps(answer).encode(), "Mcp-Session-Id: s1")


class Bridge:
    """The bridge as a process, asked one thing after another."""

    def __init__(self, url: str) -> None:
        self.process = subprocess.Popen(
            exchange.argv("line_bridge"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        headers = {"x-own": "own-secret-1"}
        reach = {"url": url, "headers": headers, "allow_hosts": ["127.0.0.1"]}
        self.send(reach | {"secrets": ["own-secret-1", "86420975"]})

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """Ask, and give the answer, whose id is the method."""
        assert self.process.stdout is not None
        self.send({"id": method, "method": method, "params": params or {}})
        answer = json.loads(self.process.stdout.readline())
        assert answer.pop("id") == method and answer.pop("jsonrpc") == "2.0"
        return answer

    def ended(self) -> tuple[str, int]:
        """End stdin; give what stands on stderr, and the exit status."""
        _, said = self.process.communicate(timeout=PATIENCE_S)
        return said, self.process.returncode


def test_messages_carry_the_headers_of_their_revision_and_pass_as_they_are() -> None:
    server = Recorder()
    with Loopback(server) as listening:
        bridge = Bridge(listening.url("/mcp"))
        bridge.ask("initialize", {"protocolVersion": "2025-11-25"})
        bridge.send({"method": "notifications/initialized"})
        bridge.ask("tools/list")
        older = server.seen["tools/list"]
        assert (older["mcp-session-id"], older["mcp-protocol-version"]) == ("s1", "2025-11-25")
        assert older["x-own"] == "own-secret-1" and "mcp-method" not in older
        found = bridge.ask("resources/read", {"uri": "a:b", "_meta": MODERN})
        assert found == {
            "result": {"big": 12345678901234567890, "z": 1.0, "a": "ä ***", "n": "***"}
        }
        read = server.seen["resources/read"]
        assert (read["mcp-method"], read["mcp-name"]) == ("resources/read", "a:b")
        assert read["mcp-protocol-version"] == "2026-07-28"
        # What a tool wants in a header is known since the tools were listed.
        called = {"name": "go", "arguments": {"place": "Þing"}, "_meta": MODERN}
        bridge.ask("tools/call", called)
        headers = server.seen["tools/call"]
        assert (headers["mcp-param-place"], headers["mcp-name"]) == ("=?base64?w55pbmc=?=", "go")
        assert all("error" in bridge.ask("refused") for _ in range(2))
        said, code = bridge.ended()
    assert code == 0 and said.count("the server refused access (HTTP status 401)") == 1


def test_a_server_that_may_not_be_reached_is_a_sentence() -> None:
    bridge = Bridge("http://10.0.0.1/mcp")
    said, code = bridge.ended()
    assert code == 1 and "Traceback" not in said
    assert said.startswith("[vespe] the server cannot be reached: ")
