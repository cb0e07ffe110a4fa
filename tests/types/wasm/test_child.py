"""The program in a worker of compiled tools, asked by its own protocol."""

import json
import marshal
import os
import subprocess
import sys
from collections.abc import Mapping

import pytest

from tests.support.wasm_modules import ECHO, start
from vespe.processes import child_scripts
from vespe.types.wasm import child

OTHER_NAMES = "import wasmtime._ffi; del wasmtime._ffi.wasi_config_set_stdin_bytes; "
"""Makes of wasmtime one whose inner names are others."""


def asked(
    *requests: Mapping[str, object], before: str = ""
) -> list[tuple[dict[str, object], bytes]]:
    """Give a fresh program these requests, and return its answers."""
    reader, writer = os.pipe()
    data = child_scripts.boot_message(child.__file__, {"cache": None, "key": b""})
    for request in requests:
        made = marshal.dumps(
            {
                "name": "x",
                "memory": 1 << 20,
                "cap": 100,
                "directories": [],
                "timeout_s": 9.0,
                "code": None,
            }
            | dict(request)
        )
        data += len(made).to_bytes(8, "big") + made
    argv = [sys.executable, "-I", "-B", "-c", before + child_scripts.BOOT, str(writer)]
    done = subprocess.run(
        argv, input=data, pass_fds=(writer,), check=True, timeout=60, capture_output=True
    )
    os.close(writer)
    with open(reader, "rb") as file:
        answers = file.read()
    assert done.stderr == b"" and done.stdout == b""
    found = []
    while answers:
        head, _, answers = answers.partition(b"\n")
        size, _, text = head.partition(b" ")
        found.append((json.loads(text), answers[: int(size)]))
        answers = answers[int(size) :]
    return found


@pytest.mark.parametrize("before", ["", OTHER_NAMES], ids=["by the C API", "by the public way"])
def test_it_answers_each_request_in_turn_knows_modules_and_ends_with_its_stdin(before: str) -> None:
    first = {"module": "e", "code": ECHO, "stdin": b"one"}
    traps = {"module": "t", "code": start("unreachable"), "stdin": b""}
    again = {"module": "e", "stdin": b"two"}
    large = {"module": "e", "stdin": b"x" * 101}
    found = asked(first, traps, again, large, before=before)
    assert [(head["kind"], body) for head, body in found] == [
        ("ended", b"one"),
        ("trap", b""),
        ("ended", b"two"),
        ("large", b"x" * 100),
    ]


def test_the_cache_keeps_the_youngest(tmp_path: object) -> None:
    cache = child.Cache(str(tmp_path), b"k" * 32)
    for number in range(child.MAX_CACHED + 3):
        path = f"{tmp_path}/{number}.cwasm"
        with open(path, "wb"):
            os.utime(path, (number, number))
    cache.prune()
    assert (
        sorted(os.listdir(cache.directory), key=lambda name: int(name.partition(".")[0]))[0]
        == "3.cwasm"
    )
