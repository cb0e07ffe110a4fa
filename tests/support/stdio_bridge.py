"""For tests alone: an HTTP endpoint in front of servers that speak stdio, so that a suite that
knows HTTP only can judge them.
"""

import itertools
import json
import queue
import subprocess
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from tests.support.ondisk import PATIENCE_S

_MODERN = "2026-07-28"
_STATUS = {-32700: 400, -32600: 400, -32601: 404, -32602: 400, -32022: 400}


class Child:
    """One server over stdio; requests get ids of the bridge's own, since several clients may share
    it.
    """

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._ids = itertools.count(1)
        self._waiting: dict[int, queue.Queue[Any]] = {}
        self._tokens: dict[Any, int] = {}
        self._lock = threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()

    def write(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        with self._lock:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()

    def ask(self, message: dict[str, Any]) -> "queue.Queue[Any]":
        number, answers = next(self._ids), queue.Queue[Any]()
        self._waiting[number] = answers
        token = ((message.get("params") or {}).get("_meta") or {}).get("progressToken")
        if token is not None:
            self._tokens[token] = number
        self.write({**message, "id": number})
        return answers

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            if "method" not in message:
                self._waiting.pop(message["id"]).put(message)
                continue
            token = (message.get("params") or {}).get("progressToken")
            for number, answers in list(self._waiting.items()):
                if token is None or self._tokens.get(token) == number:
                    answers.put(message)

    def end(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(PATIENCE_S)


class Bridge(BaseHTTPRequestHandler):
    """A session of the older revisions has a server of its own; requests of the newest share
    one.
    """

    protocol_version = "HTTP/1.1"
    command_line: ClassVar[list[str]] = []
    children: ClassVar[dict[str, Child]] = {}
    lock: ClassVar[threading.Lock] = threading.Lock()

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        session = self.headers.get("Mcp-Session-Id") or (
            "" if message.get("method") != "initialize" else uuid.uuid4().hex
        )
        with self.lock:
            child = self.children.get(session) or self.children.setdefault(
                session, Child(self.command_line)
            )
        if "id" not in message or "method" not in message:
            child.write(message)
            return self._send(202, b"")
        answers, events = child.ask(message), False
        while "method" in (answer := answers.get(timeout=PATIENCE_S)):
            self._event(answer, first=not events)
            events = True
        answer["id"] = message["id"]
        headers = {"Mcp-Session-Id": session} if message.get("method") == "initialize" else {}
        if events:
            return self._event(answer, first=False)
        modern = self.headers.get("MCP-Protocol-Version") == _MODERN
        status = _STATUS.get(answer["error"]["code"], 200) if modern and "error" in answer else 200
        return self._send(status, json.dumps(answer).encode(), "application/json", headers)

    def do_GET(self) -> None:
        self._send(405, b"")

    def do_DELETE(self) -> None:
        with self.lock:
            child = self.children.pop(self.headers.get("Mcp-Session-Id") or "-", None)
        if child is not None:
            child.end()
        self._send(200 if child else 404, b"")

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def _event(self, message: dict[str, Any], *, first: bool) -> None:
        """Send a message as an event at once: a question has to come before its answer."""
        if first:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
        self.wfile.write(b"event: message\ndata: " + json.dumps(message).encode() + b"\n\n")
        self.wfile.flush()

    def _send(
        self,
        status: int,
        body: bytes,
        kind: str = "application/json",
        headers: dict[str, str] | None = None,
    ) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            **(headers or {}),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    Bridge.command_line = sys.argv[1:]
    server = ThreadingHTTPServer(("127.0.0.1", 0), Bridge)
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()
