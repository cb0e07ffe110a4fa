"""The proxy: it leads to what its owner connects to, as CONNECT or as a whole URL, and to nothing
else.
"""

import contextlib
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from tests.support.descriptors import opened
from vespe.errors import Refused
from vespe.processes.sandbox.proxy import Proxy


class Away:
    """A server that answers everything with what it was sent, and a proxy that leads to it under
    the name `good.example`.
    """

    def __init__(self) -> None:
        self.server = socket.create_server(("127.0.0.1", 0))
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.asked: list[tuple[str, int]] = []
        self.serving = threading.Thread(target=self.serve)
        self.serving.start()
        self.proxy = Proxy(self.connect)
        with socket.socket(fileno=self.proxy.theirs) as theirs:
            socket.send_fds(theirs, [b"l"], [self.listening.fileno()])

    def serve(self) -> None:
        with contextlib.suppress(OSError):  # it was shut down
            while True:
                one, _ = self.server.accept()
                with one:
                    one.sendall(b"got:" + one.recv(1000))

    def connect(self, host: str, port: int) -> socket.socket:
        self.asked.append((host, port))
        if host != "good.example":
            raise Refused(f"no way to {host}")
        return socket.create_connection(self.server.getsockname())

    def ask(self, request: bytes, then: bytes = b"") -> bytes:
        with socket.create_connection(self.listening.getsockname(), timeout=10) as one:
            one.sendall(request)
            answer = one.recv(1000) if then else b""
            one.sendall(then)
            while more := one.recv(1000):
                answer += more
        return answer


@pytest.fixture
def away() -> Iterator[Away]:
    made = Away()
    yield made
    made.proxy.close()
    # a close would let `accept` wait on a number that is another file's soon
    made.server.shutdown(socket.SHUT_RDWR)
    made.serving.join()
    made.server.close()
    made.listening.close()


def test_a_tunnel_leads_to_the_host_that_was_named_and_carries_bytes_both_ways(away: Away) -> None:
    answer = away.ask(b"CONNECT good.example:443 HTTP/1.1\r\nHost: x\r\n\r\n", b"hello")
    assert answer == b"HTTP/1.1 200 Connection established\r\n\r\ngot:hello" and away.asked == [
        ("good.example", 443)
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="no sandbox passes a socket here")
def test_no_process_that_is_started_meanwhile_inherits_the_listening_socket(away: Away) -> None:
    away.ask(b"CONNECT good.example:443 HTTP/1.1\r\nHost: x\r\n\r\n", b"hello")
    # the test's own end of it is inherited by nobody
    inode = f"socket:[{os.fstat(away.listening.fileno()).st_ino}]"
    assert [held for _, held in opened()].count(inode) == 2
    shown = subprocess.run(
        ["ls", "-l", "/proc/self/fd"],
        close_fds=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    ).stdout
    assert inode not in shown


def test_a_whole_url_is_sent_on_with_the_host_that_was_judged(away: Away) -> None:
    answer = away.ask(
        b"GET http://good.example/a?b HTTP/1.1\r\nHost: evil.example\r\nProxy-Authorization: "
        b"x\r\nA: b\r\n\r\n"
    )
    assert (
        answer
        == b"got:GET /a?b HTTP/1.1\r\nHost: good.example\r\nConnection: close\r\nA: b\r\n\r\n"
    )


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"CONNECT evil.example:443 HTTP/1.1\r\n\r\n", b"403"),
        (b"GET http://evil.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n", b"403"),
        (b"GET / HTTP/1.1\r\nHost: good.example\r\n\r\n", b"400"),
        (b"GET ftp://good.example/ HTTP/1.1\r\n\r\n", b"400"),
        (b"CONNECT good.example HTTP/1.1\r\n\r\n", b"400"),
        (b"CONNECT good.example:99999 HTTP/1.1\r\n\r\n", b"400"),
        (b"CONNECT good.example:0 HTTP/1.1\r\n\r\n", b"400"),
        (b"GET http://good.example:99999/ HTTP/1.1\r\n\r\n", b"400"),
        (b"GET http://good.example@evil.example/ HTTP/1.1\r\n\r\n", b"403"),
    ],
)
def test_anything_else_is_refused(away: Away, request_: bytes, status: bytes) -> None:
    assert away.ask(request_).startswith(b"HTTP/1.1 " + status)


def test_noise_ends_the_connection_and_the_next_one_is_served(away: Away) -> None:
    assert away.ask(b"\x16\x03\x01\r\n\r\n") == b""
    assert away.ask(b"CONNECT evil.example:1 HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 403")


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\0"])
def test_a_line_that_only_some_servers_end_passes_no_second_host(away: Away, end: bytes) -> None:
    hidden = b"GET http://good.example/ HTTP/1.1\r\nX: y" + end + b"Host: evil.example\r\n\r\n"
    assert away.ask(hidden) == b"" and away.asked == []
