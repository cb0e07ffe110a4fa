"""`vespe inspect` in a process of its own, raw requests to it, and its pages without a server."""

import asyncio
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from tests.support.ondisk import PATIENCE_S, interruptible
from vespe.calls.path import open_path
from vespe.features.inspector.gate import PageAnswer, PageRequest, Secrets
from vespe.features.inspector.inspected import Inspected
from vespe.features.inspector.site import Site
from vespe.projects.workspace import open_workspace

_OPENED = re.compile(rb"(?i)location: (/\S+/)\r\nset-cookie: ([^;]+);")


@dataclass
class Inspecting:
    """An inspector that is up: its port, its one-time link, its process, and what it said."""

    port: int
    link: str
    process: subprocess.Popen[bytes]
    err: Path
    project: Path
    room: str = ""
    cookie: str = ""
    token: str = ""

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def open(self) -> "Inspecting":
        """Use the link, as a browser does, and read the forms' token from the first page."""
        found = _OPENED.search(
            self.raw(
                f"GET {self.link.removeprefix(self.origin)} HTTP/1.1\r\nHost: "
                f"127.0.0.1:{self.port}\r\n\r\n"
            )[1]
        )
        assert found
        self.room, self.cookie = found[1].decode(), found[2].decode()
        return self

    def raw(self, data: str | bytes, *, timeout_s: float = PATIENCE_S) -> tuple[int, bytes]:
        """Send raw bytes, and return the status and the whole answer; 0 where the server just hung
        up.
        """
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout_s) as connection:
            connection.sendall(data.encode("latin-1") if isinstance(data, str) else data)
            answer = b""
            with contextlib.suppress(ConnectionResetError):
                while not _whole(answer) and (piece := connection.recv(65536)):
                    answer += piece
            return int(answer.split(b" ", 2)[1]) if answer else 0, answer

    def send(
        self, method: str, path: str, body: str = "", **headers: str | None
    ) -> tuple[int, bytes]:
        """Send what the browser would that opened the link; a header that is None is left out, `_`
        in names stands for `-`.
        """
        given: dict[str, str | None] = {
            "Host": f"127.0.0.1:{self.port}",
            "Cookie": self.cookie,
            "Sec-Fetch-Site": "same-origin",
            "Connection": "close",
            **(
                {"Origin": self.origin, "Content-Type": "application/x-www-form-urlencoded"}
                if method == "POST"
                else {}
            ),
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        lines = "".join(
            f"{name}: {value}\r\n" for name, value in given.items() if value is not None
        )
        length = f"Content-Length: {len(body.encode())}\r\n" if body or method == "POST" else ""
        return self.raw(
            f"{method} {path} HTTP/1.1\r\n{lines}{length}\r\n".encode("latin-1") + body.encode()
        )

    def get(self, page: str = "", **headers: str | None) -> tuple[int, bytes]:
        """Ask for a page by its path after the room."""
        return self.send("GET", self.room + page, "", **headers)

    def post(
        self, page: str, fields: Mapping[str, str], **headers: str | None
    ) -> tuple[int, bytes]:
        """Send a form of a page, with its token."""
        if not self.token:
            found = re.search(rb'name="token" value="(\w+)"', self.get(page)[1])
            assert found, f"no form on {page}"
            self.token = found[1].decode()
        return self.send(
            "POST", self.room + page, urlencode({"token": self.token, **fields}), **headers
        )

    def stop(self, number: int = signal.SIGINT) -> int:
        """Send a signal, and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_S)


def _whole(answer: bytes) -> bool:
    head, end, body = answer.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: (\d+)", head)
    return bool(end) and length is not None and len(body) >= int(length[1])


@contextlib.contextmanager
def inspecting(
    project: Path, *options: str, env: Mapping[str, str] | None = None
) -> Iterator[Inspecting]:
    """Inspect a project until the block ends; nobody has used the link yet."""
    err = project.parent / f"inspect-{os.urandom(4).hex()}.err"
    with open(err, "wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "vespe", "inspect", *options],
            cwd=project,
            env=interruptible(**(env or {})),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=file,
        )
    try:
        while not (
            found := re.search(
                r"(http://127\.0\.0\.1:(\d+)/\w+)\n", err.read_text(encoding="utf-8")
            )
        ):
            assert process.poll() is None, err.read_text(encoding="utf-8")
            time.sleep(0.02)
        yield Inspecting(
            port=int(found[2]), link=found[1], process=process, err=err, project=project
        )
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(PATIENCE_S)


class Pages:
    """The pages of a project without a server: what the gate lets in goes straight to them."""

    def __init__(self, project: Path, *recordings: str) -> None:
        self.secrets = Secrets()
        self.site = Site(Inspected(open_path(open_workspace(project)), recordings), self.secrets)

    def get(self, *words: str, **query: str) -> str:
        """Return a page that there is."""
        answer = self.answer(*words, **query)
        assert answer.status == 200, answer.body.decode()
        return answer.body.decode()

    def answer(self, *words: str, **query: str) -> PageAnswer:
        """Return whatever is answered."""
        return asyncio.run(self.site(PageRequest(path=words or ("",), query=query)))

    def post(self, *words: str, **fields: str) -> PageAnswer:
        """Send a form; `in_NAME` is an input's field."""
        form = tuple((key.replace("in_", "in:"), value) for key, value in fields.items())
        return asyncio.run(self.site(PageRequest(path=words, query={}, form=form)))

    def follow(self, answer: PageAnswer) -> str:
        """Return the page that a form that was sent leads to."""
        assert answer.status == 303, answer.body.decode()
        path, _, query = answer.headers["location"].partition("#")[0].partition("?")
        return self.get(*path.split("/")[2:], **dict(parse_qsl(query)))
