"""A wrapped server from outside: what passes, what ends it, and that nothing of it is left."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.processes.test_process import alive, gone
from tests.support.ondisk import PATIENCE_S, interruptible
from tests.support.stdio_client import LineClient
from vespe.features.mcp.server import wrapping

SERVER = """
import os, subprocess, sys
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", sys.argv[1]], start_new_session=True)
os.write(2, b"up\\n")
for line in sys.stdin.buffer:
    if b"flood" in line:
        sys.stdout.buffer.write(b"x" * 9_000_000)
    if b"stay" in line:
        import signal
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if b"leave" in line:
        sys.exit(5)
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
"""


@pytest.fixture
def started(home: Path, tmp_path: Path) -> Iterator[Callable[[], tuple[LineClient, str]]]:
    """Start `vespe mcp wrap` around a server that echoes; the marker is on its command line and on
    those of what it starts.
    """
    with contextlib.ExitStack() as ended:

        def start() -> tuple[LineClient, str]:
            marker = f"marker-{uuid4()}"
            argv = [
                sys.executable,
                "-m",
                "vespe",
                "mcp",
                "wrap",
                sys.executable,
                "-c",
                SERVER,
                marker,
            ]
            pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
            process = subprocess.Popen(argv, cwd=tmp_path, env=interruptible(), **pipes)  # type: ignore[call-overload]  # options as a dict
            ended.enter_context(process)
            ended.callback(process.kill)
            client = LineClient(process)
            assert process.stderr is not None and process.stderr.readline() == b"up\n"
            return client, marker

        yield start


def test_lines_pass_as_they_are_in_both_directions_at_once(
    started: Callable[[], tuple[LineClient, str]],
) -> None:
    client, marker = started()
    lines = [
        b'{ "a" :  1 }',
        b"no json \xff",
        b"",
        b'"' + b"x" * 5_000_000 + b'"',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}',
    ]
    for sent in (lines[:3], lines[3:]):
        data = b"".join(line + b"\n" for line in sent)
        client.write(data)
        got = b""
        while len(got) < len(data):
            got += os.read(client.process.stdout.fileno(), 1 << 20)  # type: ignore[union-attr]  # it is a pipe
        assert got == data
    assert client.close() == 0 and gone(marker)


def test_a_line_that_is_too_long_is_an_error_to_the_client_and_the_end_of_a_server(
    started: Callable[[], tuple[LineClient, str]],
) -> None:
    client, marker = started()
    client.write(b"x" * (wrapping.MAX_LINE_BYTES + 1) + b"\n" + b'{"id": 7}\n')
    assert client.read()["error"]["code"] == -32700 and client.read() == {"id": 7}
    client.write(b"flood\n")
    assert client.process.wait(PATIENCE_S) == 1 and gone(marker)
    assert b"a line of more than 8388608 bytes" in client.process.stderr.read()  # type: ignore[union-attr]  # it is a pipe


def test_the_exit_code_is_the_servers_also_where_it_ends_by_itself(
    started: Callable[[], tuple[LineClient, str]],
) -> None:
    client, marker = started()
    client.write(b"leave\n")
    assert client.process.wait(PATIENCE_S) == 5 and gone(marker)


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)]
)
def test_however_vespe_ends_nothing_of_the_server_is_left(
    started: Callable[[], tuple[LineClient, str]], number: int, code: int
) -> None:
    client, marker = started()
    client.write(b'"stay"\n')
    assert client.read() == "stay" and len(alive(marker)) >= 2
    client.process.send_signal(number)
    assert client.process.wait(PATIENCE_S) == code and gone(marker)


def test_a_client_that_reads_nothing_more_ends_it(
    started: Callable[[], tuple[LineClient, str]],
) -> None:
    client, marker = started()
    client.process.stdout.close()  # type: ignore[union-attr]  # it is a pipe
    assert client.process.wait(PATIENCE_S) in (143, 137) and gone(marker)
