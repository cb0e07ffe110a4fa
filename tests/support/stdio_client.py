"""A client of `vespe mcp serve` that writes lines and reads lines, as hostile as a test wants
it.
"""

import contextlib
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.support.ondisk import PATIENCE_S, interruptible

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


class LineClient:
    """One server process; reading waits for PATIENCE_S at most, so that a test fails and never
    hangs.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None and process.stdout is not None
        self.process = process
        self._in, self._out = process.stdin, process.stdout.fileno()
        self._buffer = b""
        self._last = 0

    def write(self, data: bytes) -> None:
        self._in.write(data)
        self._in.flush()

    def send(self, method: str, params: Mapping[str, Any] | None = None, **more: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, **more} | (
            {} if params is None else {"params": dict(params)}
        )
        self.write(json.dumps(message).encode() + b"\n")

    def read(self, *, timeout_s: float = PATIENCE_S) -> Any:
        """Give the next message."""
        deadline = time.monotonic() + timeout_s
        while b"\n" not in self._buffer:
            assert select.select([self._out], [], [], max(deadline - time.monotonic(), 0))[0], (
                "the server says nothing"
            )
            chunk = os.read(self._out, 1 << 20)
            assert chunk, "the server is gone"
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        return json.loads(line)

    def answer(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        """Ask, and give the whole answer; what comes in between is passed over."""
        self._last += 1
        identifier = f"ask-{self._last}"
        self.send(method, params, id=identifier)
        while (message := self.read()).get("id") != identifier:
            pass
        return message

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        """Ask, and give the result."""
        answer = self.answer(method, params)
        assert "result" in answer, answer
        return answer["result"]

    def call(self, name: str, **arguments: Any) -> Any:
        """Call a tool and give the result."""
        return self.ask("tools/call", {"name": name, "arguments": arguments})

    def names(self) -> list[str]:
        """The names of the project's tools of the first page."""
        listed = [tool["name"] for tool in self.ask("tools/list")["tools"]]
        return [name for name in listed if name != "read_result"]

    def hello(self, revision: str = "2025-11-25") -> Any:
        """Shake hands."""
        client = {"name": "test", "version": "1"}
        result = self.ask(
            "initialize", {"protocolVersion": revision, "capabilities": {}, "clientInfo": client}
        )
        self.send("notifications/initialized")
        return result

    def close(self) -> int:
        """End stdin and give the exit code."""
        self._in.close()
        return self.process.wait(PATIENCE_S)


@contextlib.contextmanager
def served(
    project: Path,
    *arguments: str,
    code: str | None = None,
    stderr: Any = subprocess.DEVNULL,
    signalled: bool = False,
) -> Iterator[LineClient]:
    """Start `vespe mcp serve` in a project, or `code` in a Python of its own; it is gone at the
    end.

    One that is to be `signalled` is not measured.
    """
    argv = [
        sys.executable,
        *(("-c", code) if code is not None else ("-m", "vespe", "mcp", "serve", *arguments)),
    ]
    process = subprocess.Popen(
        argv,
        cwd=project,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env=_importable(signalled),
    )
    try:
        yield LineClient(process)
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()


def _importable(signalled: bool) -> dict[str, str]:
    """The environment, in which a program elsewhere finds the package as this one does."""
    import vespe

    root = str(Path(vespe.__file__).parent.parent)
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    return interruptible(PYTHONPATH=path) if signalled else {**os.environ, "PYTHONPATH": path}


def tool_processes(marker: str) -> list[int]:
    """The processes whose command line or environment holds `marker`."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            with contextlib.suppress(OSError):
                if marker.encode() in Path(f"/proc/{entry}/cmdline").read_bytes():
                    found.append(int(entry))
    return found
