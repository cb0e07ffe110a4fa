"""Bodies within their cap, as sent and as decompressed, and their text."""

import gzip
import tracemalloc
import zlib

import pytest

from vespe.errors import OutputTooLarge, ToolExecutionError
from vespe.http import bodies

GZIP = (("content-encoding", "gzip"),)


def read(*chunks: bytes, headers: tuple[tuple[str, str], ...] = (), cap: int = 1000) -> bytes:
    return bodies.read(chunks, headers, host="host", max_bytes=cap)


def test_a_body_of_exactly_the_cap_is_whole_and_one_byte_more_is_refused() -> None:
    assert read(b"x" * 999, b"y") == b"x" * 999 + b"y"
    with pytest.raises(OutputTooLarge) as caught:
        read(b"x" * 999, b"yz")
    assert caught.value.kept == b"x" * 999 + b"y"


@pytest.mark.parametrize("coding", ["gzip", "X-GZip", "deflate", "identity, gzip"])
def test_a_compressed_body_is_decompressed_however_it_is_cut(coding: str) -> None:
    data = zlib.compress(b"hello") if coding == "deflate" else gzip.compress(b"hello", mtime=0)
    assert (
        read(*(data[i : i + 1] for i in range(len(data))), headers=(("content-encoding", coding),))
        == b"hello"
    )


def test_several_members_are_one_body() -> None:
    assert (
        read(gzip.compress(b"a", mtime=0) + gzip.compress(b"b") * 20, headers=GZIP)
        == b"a" + b"b" * 20
    )


def test_p40_a_bomb_is_never_decompressed_past_the_cap() -> None:
    with pytest.raises(OutputTooLarge) as caught:
        read(gzip.compress(bytes(10_000_000)), headers=GZIP)
    assert len(caught.value.kept) == 1000


def test_p40_a_bomb_takes_no_memory() -> None:
    bomb = gzip.compress(bytes(20_000_000))
    tracemalloc.start()
    with pytest.raises(OutputTooLarge):
        read(bomb, headers=GZIP)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


def test_p40_many_empty_members_count_as_what_was_sent() -> None:
    with pytest.raises(OutputTooLarge):
        read(*[gzip.compress(b"", mtime=0)] * 100, headers=GZIP)


@pytest.mark.parametrize(
    ("chunk", "coding", "says"),
    [
        (gzip.compress(b"hello", mtime=0)[:-4], "gzip", "ends in the middle"),
        (b"no gzip", "gzip", "is broken"),
        (b"x", "br", "with the encoding br, although none was requested"),
        (b"x", "gzip, gzip", "with the encoding gzip, gzip"),
    ],
)
def test_what_cannot_be_decompressed_is_said(chunk: bytes, coding: str, says: str) -> None:
    with pytest.raises(ToolExecutionError, match=says):
        read(chunk, headers=(("content-encoding", coding),))


def test_an_empty_body_is_no_broken_one_whatever_its_coding() -> None:
    assert read(headers=GZIP) == b""
    assert read(headers=(("content-encoding", "br"),)) == b""


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        ("naïve".encode(), "application/json", "naïve"),
        ("naïve".encode("latin-1"), 'text/plain; Charset="ISO-8859-1"', "naïve"),
        ("日本".encode("shift_jis"), "text/html;charset=Shift_JIS", "日本"),
        (b"\xef\xbb\xbf{}", "application/json", "{}"),
        ("a".encode("utf-16"), "text/plain; charset=utf-16", "a"),
        (b"plain", "text/plain; charset=punycode", "plain"),
        (b"plain", "text/plain; charset=iso-8859-99", "plain"),
    ],
)
def test_a_body_is_decoded_by_its_charset(body: bytes, content_type: str, text: str) -> None:
    assert bodies.decode(body, content_type) == (text, "")


def test_bytes_that_are_no_text_are_repaired_and_noted() -> None:
    assert bodies.decode(b"a\xffb", "text/plain") == (
        "a\ufffdb",
        "bytes of the response that are no utf-8 became U+FFFD",
    )
