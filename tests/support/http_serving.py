"""`vespe mcp serve --http` in a process of its own, and raw requests to it."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.ondisk import PATIENCE_S, interruptible, python_tool
from tests.support.pids import SAYS, outside

INITIALIZE = (
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
    '"clientInfo":{"name":"raw","version":"1"}}}'
)
_NAP = (
    f'import os, subprocess\nopen(inputs["mark"], "w").write({SAYS})\n'
    'subprocess.run(["sleep", "600"])\nreturn "slept"'
)
_NUMBERS = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}
_MARK = {"type": "object", "properties": {"mark": {"type": "string"}}, "required": ["mark"]}


@dataclass(frozen=True)
class Serving:
    """A server that is up: its address, its token, and its process; `err` is the file that its
    stderr goes to.
    """

    port: int
    token: str | None
    process: subprocess.Popen[bytes]
    err: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    def stop(self, number: int = signal.SIGINT) -> int:
        """Send a signal, and give the exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_S)

    def request(self, text: str | bytes, *, timeout_s: float = PATIENCE_S) -> tuple[int, bytes]:
        """Send raw bytes, and give the status and the whole answer; 0 where the server just hung
        up.
        """
        data = text.encode("latin-1") if isinstance(text, str) else text
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout_s) as connection:
            connection.sendall(data)
            answer = b""
            while not _whole(answer) and (piece := connection.recv(65536)):
                answer += piece
            return int(answer.split(b" ", 2)[1]) if answer else 0, answer

    def post(self, body: str = INITIALIZE, **headers: str | None) -> tuple[int, bytes]:
        """POST to the endpoint as its owner does; a header whose value is None is left out, `_` in
        names stands for `-`.
        """
        given: dict[str, str | None] = {
            "Host": f"127.0.0.1:{self.port}",
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Connection": "close",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        lines = "".join(
            f"{name}: {value}\r\n" for name, value in given.items() if value is not None
        )
        return self.request(
            f"POST /mcp HTTP/1.1\r\n{lines}Content-Length: {len(body.encode())}\r\n\r\n".encode(
                "latin-1"
            )
            + body.encode()
        )


def _whole(answer: bytes) -> bool:
    head, _, body = answer.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: (\d+)", head)
    return b"\r\n\r\n" in answer and (
        len(body) >= int(length[1]) if length else body.endswith(b"0\r\n\r\n")
    )


def stocked(project: Path) -> Path:
    """Give the project two tools: `add`, and `nap`, which notes its process in the file `mark` and
    sleeps.
    """
    python_tool(
        project / ".vespe/tools/tool-add",
        "add",
        "return a + b",
        params="a: int = 0, b: int = 0",
        schema=_NUMBERS,
    )
    mark = project.parent / "mark"
    mark.touch()
    python_tool(
        project / ".vespe/tools/tool-nap",
        "nap",
        _NAP,
        schema=_MARK,
        permissions={"write": [".", str(mark)]},
    )
    return project


@contextlib.contextmanager
def serving(
    project: Path, *options: str, address: str = "127.0.0.1:0", env: dict[str, str] | None = None
) -> Iterator[Serving]:
    """Serve a project until the block ends."""
    err = project.parent / f"http-{os.urandom(4).hex()}.err"
    with open(err, "wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "vespe", "mcp", "serve", "--http", address, *options],
            cwd=project,
            env=interruptible(**(env or {})),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=file,
        )
    try:
        yield _up(process, err)
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(PATIENCE_S)


def _up(process: subprocess.Popen[bytes], err: Path) -> Serving:
    while True:
        said = err.read_text(encoding="utf-8")
        if found := re.search(r"serving on http://\S+:(\d+)/mcp\n", said):
            break
        assert process.poll() is None, said
        time.sleep(0.02)
    token = re.search(r"Bearer (\S+)", said)
    kept = re.search(r"the token is in (\S+?),? ?(?:which was just created)?\n", said)
    known = (
        token[1] if token else Path(kept[1]).read_text(encoding="utf-8").strip() if kept else None
    )
    serving = Serving(port=int(found[1]), token=known, process=process, err=err)
    _answering(serving)
    return serving


def _answering(serving: Serving) -> None:
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            if (
                serving.request(
                    f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{serving.port}\r\nConnection: "
                    "close\r\n\r\n"
                )[0]
                == 200
            ):
                return
    raise AssertionError(serving.err.read_text(encoding="utf-8"))


def gone(pid: int) -> bool:
    """Whether a process ends within the time that a slow machine may need."""
    with contextlib.suppress(ProcessLookupError, FileNotFoundError):
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            os.kill(pid, 0)
            state: Any = (
                Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
            )
            if state == "Z":
                return True
            time.sleep(0.01)
        return False
    return True


def noted(mark: Path) -> int:
    """Give the process that a `nap` noted, once it has."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        if mark.exists() and (text := mark.read_text(encoding="ascii")):
            return outside(text)
        time.sleep(0.01)
    raise AssertionError(f"nothing wrote {mark}")
