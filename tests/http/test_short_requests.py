"""Requests that are read at a glance: what is taken is what h11 reads, and what could be read in
two ways is not taken.
"""

import h11
import pytest

from vespe.http import short_requests
from vespe.http.short_requests import MAX_BYTES, ShortRequest

START = b"POST /mcp HTTP/1.1\r\n"
BODY = b'{"a":1}'


def raw(
    *lines: bytes, start: bytes = START, body: bytes = BODY, length: bytes = b"Content-Length: 7"
) -> bytes:
    return (
        start
        + b"".join(line + b"\r\n" for line in (b"Host: localhost", length, *lines))
        + b"\r\n"
        + body
    )


def as_h11_reads(data: bytes) -> ShortRequest:
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(data)
    head, body = connection.next_event(), b""
    assert isinstance(head, h11.Request) and head.method == b"POST" and head.http_version == b"1.1"
    while isinstance(event := connection.next_event(), h11.Data):
        body += event.data
    assert isinstance(event, h11.EndOfMessage) and connection.trailing_data == (b"", False)
    return ShortRequest(
        head.target.decode(), {name: value.decode() for name, value in head.headers}, body, 0
    )


@pytest.mark.parametrize(
    "data",
    [
        raw(),
        raw(
            b"Accept:application/json,  text/event-stream \t",
            b"X-Empty:",
            b"Connection: keep-alive",
        ),
        raw(start=b"POST / HTTP/1.1\r\n"),
        raw(b"X: " + b"x" * 8000, length=b"content-length:\t7"),
        raw(body=b"", length=b"Content-Length: 0"),
        raw(body=b"\r\n\r\n\x00\xff\r\n", length=b"Content-Length: 8"),
    ],
)
def test_what_is_taken_is_what_h11_reads(data: bytes) -> None:
    assert short_requests.read(data) == as_h11_reads(data)


@pytest.mark.parametrize(
    "data",
    [
        raw(b"Transfer-Encoding: chunked"),
        raw(b"Content-Length: 7"),
        raw(b"Content-Length: 8"),
        raw(b"X: 1", b"x: 2"),
        raw(b"Expect: 100-continue"),
        raw(b"Connection: close"),
        raw(b"Connection: upgrade", b"Upgrade: h2c"),
        raw(b"X : 1"),
        raw(b" folded: 1"),
        raw(b"X: 1\r\n folded"),
        raw(b"X: 1\nY: 2"),
        raw(b"X: \x00"),
        raw(b"X: \xe9"),
        raw(b"no colon"),
        raw(length=b"Content-Length: +7"),
        raw(length=b"Content-Length: 7, 7"),
        raw(length=b"Content-Length: \xd9\xa7"),
        raw(length=b"X: y"),
        raw(length=b"Content-Length: 6"),
        raw(length=b"Content-Length: 99999"),
        raw() + raw(),
        raw().replace(b"Host", b"X-Host"),
        raw().replace(b"\r\n", b"\n"),
        raw(start=b"GET /mcp HTTP/1.1\r\n"),
        raw(start=b"POST /mcp HTTP/1.0\r\n"),
        raw(start=b"POST  /mcp HTTP/1.1\r\n"),
        raw(start=b"POST /%6dcp HTTP/1.1\r\n"),
        raw(start=b"POST /mcp?a=b HTTP/1.1\r\n"),
        raw(start=b"POST http://localhost/mcp HTTP/1.1\r\n"),
        raw(start=b"\r\n" + START),
        START,
        b"",
        raw(b"X: " + b"x" * MAX_BYTES),
    ],
)
def test_what_could_be_read_in_another_way_is_left_to_h11(data: bytes) -> None:
    assert short_requests.read(data) is None


def test_a_request_whose_body_comes_apart_is_completed_by_just_that_body() -> None:
    begun = short_requests.read(raw(body=b'{"a'))
    assert begun is not None and begun.missing == 4
    assert short_requests.completed(begun, b'":1}') == as_h11_reads(raw())
    assert (
        short_requests.completed(begun, b'":1') is None
        and short_requests.completed(begun, b'":1}P') is None
    )


def test_an_answer_is_one_that_a_client_reads() -> None:
    client = h11.Connection(h11.CLIENT)
    client.send(
        h11.Request(
            method="POST", target="/mcp", headers=[("host", "localhost"), ("content-length", "0")]
        )
    )
    client.send(h11.EndOfMessage())
    client.receive_data(short_requests.answered(b"{}", [(b"date", b"today")]))
    head, body = client.next_event(), client.next_event()
    assert (
        isinstance(head, h11.Response)
        and head.status_code == 200
        and (b"date", b"today") in head.headers
    )
    assert isinstance(body, h11.Data) and body.data == b"{}"
