"""git's own smart HTTP server on loopback, with TLS: `git http-backend` behind a small server that
can also misbehave.
"""

import os
import ssl
import subprocess
import threading
from pathlib import Path
from typing import Self

import pytest

from tests.support.loopback import Exchange, Handler, Loopback

TLS = Path(__file__).parents[1] / "cases" / "tls"


class GitServer:
    """Serves the repositories beneath `root` at `url(NAME)`; `misbehave`, where set, answers in
    git's place.
    """

    def __init__(self, root: Path) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(TLS / "loopback.pem", TLS / "loopback.key")
        self._root = root
        self.server = Loopback(self._answer, tls=context)
        self.misbehave: Handler | None = None
        self.asked = threading.Event()

    def url(self, name: str) -> str:
        return self.server.url(f"/{name}", scheme="https", host="localhost")

    def __enter__(self) -> Self:
        self.server.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.__exit__()

    def _answer(self, exchange: Exchange) -> bool:
        self.asked.set()
        return (self.misbehave or self.backend)(exchange)

    def backend(self, exchange: Exchange) -> bool:
        """Let git answer, as a web server would."""
        path, _, query = exchange.target.partition("?")
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self._root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": exchange.method,
            "CONTENT_TYPE": exchange.headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(exchange.body)),
            "HTTP_CONTENT_ENCODING": exchange.headers.get("content-encoding", ""),
            "GIT_PROTOCOL": exchange.headers.get("git-protocol", ""),
            "REMOTE_ADDR": "127.0.0.1",
        }
        done = subprocess.run(
            ["git", "http-backend"],
            input=exchange.body,
            capture_output=True,
            env=environment,
            check=False,
        )
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        lines = [line.decode("latin-1") for line in head.split(b"\r\n") if line]
        status = next(
            (int(line.split(" ")[1]) for line in lines if line.startswith("Status:")), 200
        )
        kind = next(
            (line.split(": ")[1] for line in lines if line.startswith("Content-Type:")),
            "text/plain",
        )
        return exchange.reply(body, status=status, kind=kind)


def trusted_by_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the git that Vespe runs believe the tests' own certificate."""
    monkeypatch.setenv("GIT_SSL_CAINFO", str(TLS / "loopback.pem"))
