"""The kept session's own process: what it is asked line by line, and what it says with each
number.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.mcp_servers import ByHand, definition
from vespe.tools import mcp_definitions

DIGEST = mcp_definitions.digest(definition())


class Kept:
    """A session to talk to."""

    def __init__(self, reach: dict[str, Any]) -> None:
        reader, writer = os.pipe()
        code = "from vespe.types.mcp_tool.kept_session import main; main()"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, str(writer)],
            stdin=subprocess.PIPE,
            pass_fds=(writer,),
            stderr=subprocess.DEVNULL,
        )
        os.close(writer)
        self.said = os.fdopen(reader, "rb")
        self.send(reach)

    def send(self, request: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self) -> tuple[int, Any]:
        number, _, text = self.said.readline().strip().partition(b" ")
        return int(number), json.loads(text) if text.startswith(b"{") else text.decode()

    def end(self) -> bytes:
        assert self.process.stdin is not None
        self.process.stdin.close()
        rest = self.said.read()
        self.process.wait()
        self.said.close()
        return rest


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    made = Kept({"command": list(ByHand(tmp_path).command), "cwd": str(tmp_path)})
    yield made
    made.end()


def test_calls_are_answered_by_their_numbers_after_it_was_said_that_they_were_sent(
    kept: Kept,
) -> None:
    assert kept.hear() == (0, "open")
    for number in (7, 8):
        kept.send(
            {"id": number, "tool": "echo", "arguments": {"text": str(number)}, "digest": DIGEST}
        )
        assert kept.hear() == (number, "sent")
        answered, answer = kept.hear()
        assert answered == number and json.loads(answer["result"]["content"][0]["text"]) == {
            "text": str(number)
        }


def test_a_call_that_is_cancelled_after_its_answer_has_ended(kept: Kept) -> None:
    kept.send({"id": 1, "tool": "echo", "arguments": {}, "digest": DIGEST})
    assert [kept.hear()[1] for _ in range(2)] == ["open", "sent"] and "result" in kept.hear()[1]
    kept.send({"cancel": 1})
    assert kept.hear() == (1, "ended")


def test_a_definition_that_is_not_the_approved_one_is_not_sent(kept: Kept) -> None:
    kept.send({"id": 1, "tool": "echo", "arguments": {}, "digest": "sha256:other"})
    kept.send({"id": 2, "tool": "other", "arguments": {}, "digest": DIGEST})
    assert kept.hear() == (0, "open")
    answers = dict([kept.hear(), kept.hear()])
    assert answers[1]["error"]["kind"] == "changed" and answers[2]["error"]["kind"] == "gone"


def test_it_ends_with_its_stdin_and_with_the_server(tmp_path: Path) -> None:
    server = ByHand(tmp_path, mode="crash")
    kept = Kept({"command": list(server.command), "cwd": str(tmp_path)})
    assert kept.hear() == (0, "open")
    kept.send({"id": 1, "tool": "echo", "arguments": {}, "digest": DIGEST})
    assert kept.hear() == (1, "sent")
    assert kept.hear()[1]["error"]["kind"] == "lost"
    assert kept.end() == b"" and kept.process.returncode == 0
    idle = Kept({"command": list(ByHand(tmp_path).command), "cwd": str(tmp_path)})
    assert idle.hear() == (0, "open") and idle.end() == b"" and idle.process.returncode == 0


def test_an_error_of_a_server_that_has_the_code_of_a_lost_connection_is_its_answer(
    tmp_path: Path,
) -> None:
    kept = Kept({"command": list(ByHand(tmp_path, mode="error").command), "cwd": str(tmp_path)})
    assert kept.hear() == (0, "open")
    for number in (1, 2):
        kept.send({"id": number, "tool": "echo", "arguments": {}, "digest": DIGEST})
        assert kept.hear() == (number, "sent")
        error = kept.hear()[1]["error"]
        assert (error["kind"], error["message"]) == ("server", "out of paper")
    assert kept.end() == b""


def test_a_server_that_does_not_start_is_said_of_the_session(tmp_path: Path) -> None:
    kept = Kept({"command": ["/nonexistent"], "cwd": str(tmp_path)})
    number, answer = kept.hear()
    assert number == 0 and "cannot start" in answer["error"]["message"]
    assert kept.end() == b""
