"""What servers read of a request: bodies that are too large, too slow or cut off."""

import asyncio
from typing import Any

import pytest

from vespe.http import asgi


def piece(data: bytes, *, more: bool = True) -> dict[str, Any]:
    return {"type": "http.request", "body": data, "more_body": more}


def read(
    *came: dict[str, Any], declared: int = 0, waits: bool = False, seconds: float = 20.0
) -> tuple[bytes | int, int]:
    """Return the body that a client sends so, or the status that refuses it, and how much of it was
    not read.
    """
    left = list(came)

    async def receive() -> dict[str, Any]:
        if not left:
            await asyncio.Event().wait()
        return left.pop(0)

    async def whole() -> bytes | int:
        try:
            return await asgi.read_body(
                receive, declared=declared, limit=10, waits=waits, seconds=seconds
            )
        except asgi.BodyRefused as refused:
            return refused.status

    return asyncio.run(whole()), len(left)


def test_a_body_is_read_in_its_pieces_up_to_the_limit() -> None:
    assert read(piece(b"12345"), piece(b"67890", more=False)) == (b"1234567890", 0)


@pytest.mark.parametrize("declared", [0, 11])
def test_what_is_on_its_way_of_a_body_that_is_too_large_is_read_and_thrown_away(
    declared: int,
) -> None:
    pieces = [piece(b"1234567"), piece(b"89012"), piece(b"x" * 100), piece(b"", more=False)]
    assert read(*pieces, declared=declared) == (413, 0)


def test_not_more_than_so_much_is_thrown_away() -> None:
    status, left = read(*[piece(b"x" * 10) for _ in range(100)])
    assert status == 413 and 80 <= left <= 85


def test_a_client_that_asks_first_is_refused_without_reading() -> None:
    assert read(piece(b"x" * 11), declared=11, waits=True) == (413, 1)


def test_a_body_that_ends_early_is_no_request() -> None:
    assert read(piece(b"{}"), {"type": "http.disconnect"}) == (400, 0)


def test_a_body_that_does_not_come_is_given_up_on() -> None:
    assert read(piece(b"{}"), seconds=0.05) == (408, 0)


def test_a_header_that_came_twice_has_a_value_that_no_header_has() -> None:
    assert asgi.single([(b"a", b"1"), (b"b", b"2"), (b"a", b"1")]) == {b"a": "\0", b"b": "2"}
