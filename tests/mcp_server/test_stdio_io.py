"""Messages out of one descriptor."""

import json
import os
import threading

from vespe.mcp_server.pages import Ready
from vespe.mcp_server.stdio_io import Outbox, encoded


def test_p24_a_lone_surrogate_goes_out_repaired_and_a_ready_result_as_it_is() -> None:
    assert json.loads(encoded({"id": 1, "result": {"text": "\ud800"}}))["result"]["text"] == "\ufffd"
    line = encoded({"jsonrpc": "2.0", "id": 'a"b', "result": Ready({"tools": []})})
    assert json.loads(line) == {"jsonrpc": "2.0", "id": 'a"b', "result": {"tools": []}} and line.endswith(b"}\n")


def test_messages_of_several_threads_are_never_mixed() -> None:
    (source, _), (reader, writer) = os.pipe(), os.pipe()
    outbox = Outbox(writer, source=source)
    threads = [threading.Thread(target=outbox.send, args=({"id": n, "text": str(n) * 100_000},)) for n in range(4)]
    for thread in threads:
        thread.start()
    with open(reader, "rb") as stream:
        found = [json.loads(stream.readline()) for _ in threads]
    assert {message["id"]: set(message["text"]) for message in found} == {n: {str(n)} for n in range(4)}
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
