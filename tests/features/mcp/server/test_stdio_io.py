"""Messages out of one descriptor."""

import json
import os
import threading
from collections.abc import Iterator

import pytest

from vespe.features.mcp.server.pages import Ready
from vespe.features.mcp.server.stdio_io import Outbox, encoded


def test_p24_a_lone_surrogate_goes_out_repaired_and_a_ready_result_as_it_is() -> None:
    assert (
        json.loads(encoded({"id": 1, "result": {"text": "\ud800"}}))["result"]["text"] == "\ufffd"
    )
    line = encoded({"jsonrpc": "2.0", "id": 'a"b', "result": Ready('{"tools":[]}')})
    assert json.loads(line) == {
        "jsonrpc": "2.0",
        "id": 'a"b',
        "result": {"tools": []},
    } and line.endswith(b"}\n")


def test_messages_of_several_threads_are_never_mixed() -> None:
    (source, _), (reader, writer) = os.pipe(), os.pipe()
    outbox = Outbox(writer, source=source)
    threads = [
        threading.Thread(target=outbox.send, args=({"id": n, "text": str(n) * 100_000},))
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    with open(reader, "rb") as stream:
        found = [json.loads(stream.readline()) for _ in threads]
    assert {message["id"]: set(message["text"]) for message in found} == {
        n: {str(n)} for n in range(4)
    }
    for fd in (source, _, writer):
        os.close(fd)


def test_a_reader_that_is_gone_makes_the_client_gone() -> None:
    (source, other), (reader, writer) = os.pipe(), os.pipe()
    os.close(reader)
    outbox = Outbox(writer, source=source)
    outbox.send({"id": 1})
    assert outbox.gone
    for fd in (source, other, writer):
        os.close(fd)


def test_a_full_pipe_is_not_waited_for_once_the_client_no_longer_writes() -> None:
    (source, other), (reader, writer) = os.pipe(), os.pipe()
    os.close(other)
    outbox = Outbox(writer, source=source)
    outbox.send({"text": "x" * 1_000_000})
    assert outbox.gone
    for fd in (source, reader, writer):
        os.close(fd)


@pytest.fixture
def outbox() -> Iterator[tuple[Outbox, int]]:
    source, heard = os.pipe(), os.pipe()
    os.set_blocking(heard[0], False)
    yield Outbox(heard[1], source=source[0]), heard[0]
    for descriptor in (*source, *heard):
        os.close(descriptor)


def read_now(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1 << 16)
    except BlockingIOError:
        return b""


def test_what_the_reading_thread_sends_leaves_together_when_it_is_about_to_wait(
    outbox: tuple[Outbox, int],
) -> None:
    box, heard = outbox
    box.hold()
    for number in range(3):
        box.send({"id": number})
    assert read_now(heard) == b""
    box.release()
    assert read_now(heard) == b'{"id":0}\n{"id":1}\n{"id":2}\n'
    box.send({"id": 3})
    assert read_now(heard) == b'{"id":3}\n'


def test_another_thread_s_message_takes_what_is_held_along(outbox: tuple[Outbox, int]) -> None:
    box, heard = outbox
    box.hold()
    box.send({"id": 0})
    other = threading.Thread(target=box.send, args=({"id": 1},))
    other.start()
    other.join()
    assert read_now(heard) == b'{"id":0}\n{"id":1}\n'


def test_a_long_message_is_not_held(outbox: tuple[Outbox, int]) -> None:
    box, heard = outbox
    box.hold()
    box.send({"text": "x" * 5000})
    assert len(read_now(heard)) > 5000
