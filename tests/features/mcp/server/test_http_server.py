"""The HTTP server: slow clients, many clients, and its end."""

import contextlib
import json
import signal
import socket
import time
from pathlib import Path

import pytest

from tests.support.http_serving import Serving, gone, noted, serving, stocked
from tests.support.ondisk import PATIENCE_S

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def calling(served: Serving, mark: Path) -> socket.socket:
    """Give the open connection of a call of `nap`."""
    params = {"name": "nap", "arguments": {"mark": str(mark)}, "_meta": MODERN}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    connection = socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE_S)
    connection.sendall(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: "
        f"Bearer {served.token}\r\nContent-Type: application/json\r\n"
        "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: "
        "2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: nap\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
    )
    return connection


def test_p44_half_open_connections_are_closed_and_others_are_answered_meanwhile(
    project: Path,
) -> None:
    with serving(stocked(project)) as served, contextlib.ExitStack() as stack:
        half = [
            stack.enter_context(
                socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE_S)
            )
            for _ in range(800)
        ]
        for number, connection in enumerate(half):
            with contextlib.suppress(OSError):
                connection.sendall(
                    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n" if number % 2 else b"P"
                )
        kept = stack.enter_context(two_requests_in_a_row_and_a_slow_one(served))
        assert served.post()[0] == 200
        for connection in half:
            with contextlib.suppress(ConnectionError):
                assert connection.recv(1024) == b""
        assert kept.recv(1024) == b""
        assert served.post()[0] == 200


def two_requests_in_a_row_and_a_slow_one(served: Serving) -> socket.socket:
    """Give a connection that was answered twice, and whose third request stays half."""
    health = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    connection = socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE_S)
    with connection.makefile("rb") as answers:
        for pause in (0.0, 0.2):
            connection.sendall(health[:10])
            time.sleep(pause)
            connection.sendall(health[10:])
            assert answers.readline() == b"HTTP/1.1 200 OK\r\n"
            while answers.readline().strip():
                pass
            assert answers.read(16) == b'{"status": "ok"}'
    connection.sendall(health[:10])
    return connection


def test_p44_a_client_that_hangs_up_ends_its_call_with_all_its_processes(
    project: Path, tmp_path: Path
) -> None:
    with serving(stocked(project)) as served:
        connection = calling(served, tmp_path / "mark")
        pid = noted(tmp_path / "mark")
        connection.close()
        assert gone(pid)
        assert served.post()[0] == 200


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["SIGINT", "SIGTERM"]
)
def test_p31_a_signal_ends_the_server_and_what_it_runs(
    number: int, code: int, project: Path, tmp_path: Path
) -> None:
    with serving(stocked(project)) as served, calling(served, tmp_path / "mark"):
        pid = noted(tmp_path / "mark")
        assert served.stop(number) == code
        assert gone(pid)
        assert "Traceback" not in served.err.read_text(encoding="utf-8")


def test_p31_a_stream_that_is_open_for_ever_does_not_keep_the_server_alive(project: Path) -> None:
    with serving(stocked(project)) as served:
        _, answer = served.post()
        session = answer.lower().partition(b"mcp-session-id: ")[2].split(b"\r\n")[0].decode()
        with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE_S) as stream:
            head = (
                "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: "
                f"Bearer {served.token}\r\nMcp-Session-Id: {session}\r\n"
            )
            stream.sendall(
                f"{head}MCP-Protocol-Version: 2025-11-25\r\nAccept: "
                "text/event-stream\r\n\r\n".encode()
            )
            assert stream.recv(1024).startswith(b"HTTP/1.1 200")
            assert served.stop() == 130
