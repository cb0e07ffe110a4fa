"""Requests of the plainest form, read at a glance: small, and the only thing that came. All others
are left to h11.

What is read here, h11 would read as the same request (RFC 9112): whatever it could read in another
way is not taken.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple, TypeAlias

MAX_BYTES: Final = 64 * 1024
_HEAD: Final = re.compile(
    rb"POST /[A-Za-z0-9/_.-]* HTTP/1\.1\r\n(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e]*\r\n)+"
)
_LENGTH: Final = re.compile(r"[0-9]{1,5}")
_OTHERS: Final = frozenset((b"transfer-encoding", b"expect", b"upgrade", b"trailer", b"te"))
"""Headers that say more of how a request is sent than its length."""


class ShortRequest(NamedTuple):
    """A POST: its headers by their names in lower case, each of which came once, and its body, of
    which some bytes may be missing.
    """

    path: str
    headers: Mapping[bytes, str]
    body: bytes
    missing: int


Answering: TypeAlias = Callable[[ShortRequest], bytes | None]
"""Returns the JSON text that answers a request with status 200, or None where that is left to
others: then nothing was done.
"""


def read(data: bytes) -> ShortRequest | None:
    """Return the request that some bytes begin, with nothing after it; None for one that is to be
    read by h11.
    """
    head, end, body = data.partition(b"\r\n\r\n")
    if not end or not _HEAD.fullmatch(head + b"\r\n"):
        return None
    start, *lines = head.split(b"\r\n")
    headers = {
        name.lower(): value.strip(b" \t").decode("ascii")
        for name, _, value in [line.partition(b":") for line in lines]
    }
    if len(headers) != len(lines) or b"host" not in headers or not _OTHERS.isdisjoint(headers):
        return None
    length = headers.get(b"content-length", "")
    if (
        not _LENGTH.fullmatch(length)
        or headers.get(b"connection", "keep-alive").lower() != "keep-alive"
    ):
        return None
    missing = int(length) - len(body)
    whole = len(data) + missing
    return (
        ShortRequest(start.split(b" ")[1].decode("ascii"), headers, body, missing)
        if missing >= 0 and whole <= MAX_BYTES
        else None
    )


def completed(request: ShortRequest, data: bytes) -> ShortRequest | None:
    """Return a request with the bytes that were missing of it, neither fewer nor more; else
    None.
    """
    return (
        request._replace(body=request.body + data, missing=0)
        if len(data) == request.missing
        else None
    )


def answered(text: bytes, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return the whole answer that a JSON text is, with these headers too."""
    lines = b"".join(b"%b: %b\r\n" % header for header in headers)
    own = (
        b"content-type: application/json\r\ncontent-length: %d\r\ncache-control: no-store\r\n"
        % len(text)
    )
    return b"HTTP/1.1 200 OK\r\n%b%b\r\n%b" % (lines, own, text)
