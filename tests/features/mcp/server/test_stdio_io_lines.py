"""Lines in bounded memory."""

import os

from vespe.features.mcp.server.stdio_io import lines


def read(data: bytes, *, limit: int = 10) -> list[bytes | None]:
    reader, writer = os.pipe()
    os.write(writer, data)
    os.close(writer)
    try:
        return list(lines(reader, limit=limit, ready=lambda: True))
    finally:
        os.close(reader)


def test_each_line_comes_without_its_end_and_the_last_one_too() -> None:
    assert read(b"a\n\nbc\nd") == [b"a", b"", b"bc", b"d"]


def test_a_line_at_the_limit_passes_and_one_past_it_is_thrown_away() -> None:
    assert read(b"0123456789\n0123456789x\nnext\n") == [b"0123456789", None, b"next"]


def test_a_long_last_line_without_an_end_is_thrown_away_too() -> None:
    assert read(b"a\n" + b"x" * 50_000) == [b"a", None]


def test_nothing_more_is_read_when_nothing_more_is_wanted() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"a\nb\n")
    answers = iter([True, False])
    assert list(lines(reader, limit=9, ready=lambda: next(answers))) == [b"a", b"b"]
    os.close(reader)
    os.close(writer)
