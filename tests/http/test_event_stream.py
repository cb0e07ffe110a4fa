"""Event streams by the WHATWG's rules, and lines, from bytes cut anywhere."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vespe.http.event_stream import EventStream, Lines

# What the WHATWG's page on server-sent events says of each body, but that the last event counts
# without its blank line.
FRAMES = [
    (b"data: YHOO\ndata: +2\ndata: 10\n\n", [("", b"YHOO\n+2\n10")]),
    (
        b": test stream\n\ndata: first event\nid: "
        b"1\n\ndata:second event\nid\n\ndata:  third event\n\n",
        ["first event", "second event", " third event"],
    ),
    (b"data\n\ndata\ndata\n\ndata:", ["", "\n", ""]),
    (b"data:test\n\ndata: test\n\n", ["test", "test"]),
    (b"data: a\r\rdata: b\r\n\r\ndata: c\n\n", ["a", "b", "c"]),
    (b"\xef\xbb\xbfdata: after a mark\n\n", ["after a mark"]),
    (b"\xef\xbb\xbf: comment\ndata: x\n\n", ["x"]),
    (b"data: \xef\xbb\xbfx\n\n", [("", b"\xef\xbb\xbfx")]),
    (
        b"event: add\ndata: 73857293\n\ndata: 2\n\nevent: remove\ndata: 3\n\n",
        [("add", b"73857293"), ("", b"2"), ("remove", b"3")],
    ),
    (b"event: lost\n\ndata: x\n\n", ["x"]),
    (b"event: a\nevent: b\ndata: x\n\n", [("b", b"x")]),
    (b"retry: 10\ndata: x\nunknown: y\nnonsense\n data: z\n\n", ["x"]),
    (b"data: no blank line", ["no blank line"]),
    (b"data: no blank line\n", ["no blank line"]),
    (b"data: one\n\n\n\n\ndata: two\n\n", ["one", "two"]),
    (b"", []),
]


def read(body: bytes, size: int = 0) -> list[tuple[str, bytes]]:
    stream = EventStream()
    step = size or len(body) or 1
    return [
        *(event for at in range(0, len(body), step) for event in stream.feed(body[at : at + step])),
        *stream.close(),
    ]


@pytest.mark.parametrize(("body", "wanted"), FRAMES)
def test_events_are_read_by_the_whatwgs_rules_however_they_are_cut(
    body: bytes, wanted: list[str | tuple[str, bytes]]
) -> None:
    events = [("", one.encode()) if isinstance(one, str) else one for one in wanted]
    assert [read(body, size) for size in (0, 1, 2, 3, 5)] == [events] * 5


@given(
    st.lists(
        st.sampled_from(
            [
                b"data: x",
                b"data:",
                b"event: e",
                b"\r",
                b"\n",
                b"\r\n",
                b": c",
                b"id: 1",
                b"\xef\xbb\xbf",
                b"{",
                b"\xff",
            ]
        )
    )
)
def test_cuts_never_change_what_is_read(parts: list[bytes]) -> None:
    body = b"".join(parts)
    assert read(body, 1) == read(body, 2) == read(body)


def test_an_event_is_given_with_the_byte_that_ends_it() -> None:
    stream = EventStream()
    assert stream.feed(b"data: x\r\n\r") == [("", b"x")]
    assert stream.feed(b"\ndata: y\n\n") == [("", b"y")]


def test_lines_that_are_no_fields_are_kept_where_no_event_came() -> None:
    stream = EventStream()
    assert stream.feed(b'<html>\n  "error": 1\n') == []
    assert stream.close() == []
    assert stream.stray() == b'<html>\n  "error": 1'


def test_behind_an_event_only_what_begins_as_an_object_is_kept() -> None:
    stream = EventStream()
    stream.feed(b'data: x\n\nnoise\n{"error": 1}\n')
    assert stream.stray() == b'{"error": 1}'


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_p40_a_line_past_its_cap_ends_the_reading_and_what_stood_before_is_given(size: int) -> None:
    stream = EventStream(max_event=100)
    body = b"data: whole\n\ndata: " + b"x" * 200 + b"\n\ndata: behind\n\n"
    events = [
        event for at in range(0, len(body), size) for event in stream.feed(body[at : at + size])
    ]
    assert [*events, *stream.close()] == [("", b"whole")]
    assert stream.fault is not None and stream.fault.message == "a line is longer than 100 bytes"


def test_p40_an_event_of_many_lines_has_a_cap_too() -> None:
    stream = EventStream(max_event=50)
    assert stream.feed(b"data: 0123456789\n" * 10 + b"\n") == []
    assert stream.fault is not None and stream.fault.message == "an event is larger than 50 bytes"


@pytest.mark.parametrize("size", [1, 9, 10_000])
def test_p40_a_body_past_its_cap_is_read_up_to_it(size: int) -> None:
    stream = EventStream(max_body=100)
    body = b"data: 0123456789\n\n" * 20
    events = [
        event for at in range(0, len(body), size) for event in stream.feed(body[at : at + size])
    ]
    assert (
        len(events) == 5
        and stream.fault is not None
        and stream.fault.message == "the body is larger than 100 bytes"
    )
    assert stream.feed(b"data: x\n\n") == stream.close() == []


def test_other_buffers_than_bytes_are_taken_too() -> None:
    stream = EventStream()
    buffers: list[Any] = [memoryview(b"data: "), bytearray(b"x\n\n")]
    assert [event for buffer in buffers for event in stream.feed(buffer)] == [("", b"x")]


def test_lines_end_with_lf_or_crlf_and_the_last_one_with_the_body() -> None:
    lines = Lines()
    assert lines.feed(b'\xef\xbb\xbf{"a":1}\r\n{"b"') == [b'{"a":1}']
    assert lines.feed(b':"\r"}\nlast') == [b'{"b":"\r"}']
    assert lines.close() == [b"last"]
