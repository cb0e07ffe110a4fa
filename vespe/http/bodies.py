"""The body of an HTTP response: read within a cap, as it is sent and as it is decompressed, and
decoded to text.
"""

import codecs
import re
import zlib
from collections.abc import Iterable, Iterator
from typing import Final

from vespe.errors import OutputTooLarge, ToolExecutionError

_ZLIB_OR_GZIP: Final = 32 + zlib.MAX_WBITS
_CODINGS: Final = (["gzip"], ["x-gzip"], ["deflate"])
_CHARSET = re.compile(r"charset\s*=\s*\"?([A-Za-z0-9._-]+)", re.IGNORECASE)
# What web servers use. Python knows more names, some of which (punycode, idna) take quadratic time
# to decode.
_CHARSETS = re.compile(
    r"utf-?(8|16|16le|16be|32|32le|32be)|utf-(16|32)-?(le|be)|us-ascii|ascii|latin-?1|iso-?8859-[0-9]{1,2}|(windows-|cp)125[0-8]"
    r"|shift[_-]jis|sjis|euc-(jp|kr)|iso-2022-(jp|kr)|gbk|gb2312|gb18030|big5|koi8-[ru]",
    re.IGNORECASE,
)


def read(
    stream: Iterable[bytes], headers: Iterable[tuple[str, str]], *, host: str, max_bytes: int
) -> bytes:
    """Read a body whole, decompressed where its (lowercased) headers say so; a server may compress
    though asked not to.

    Raises OutputTooLarge past `max_bytes`, with what fits, and ToolExecutionError for an unknown
    coding or broken data.
    """
    made: list[bytes] = []
    try:
        for piece in pieces(stream, headers, host=host, max_bytes=max_bytes):
            made.append(piece)
    except OutputTooLarge as error:
        raise OutputTooLarge(error.message, kept=b"".join(made)[:max_bytes]) from None
    return b"".join(made)


def pieces(
    stream: Iterable[bytes], headers: Iterable[tuple[str, str]], *, host: str, max_bytes: int
) -> Iterator[bytes]:
    """Return a body as it comes, decompressed; raises as `read` does, OutputTooLarge behind the
    piece that passed `max_bytes`.
    """
    codings = [
        coding.strip().lower()
        for name, value in headers
        if name == "content-encoding"
        for coding in value.split(",")
    ]
    codings = [coding for coding in codings if coding not in ("", "identity")]
    inflate = _Inflate(host) if codings else None
    sent = size = 0
    for chunk in stream:
        if codings and codings not in _CODINGS:
            raise ToolExecutionError(
                f"{host} answered with the encoding {', '.join(codings)}, "
                "although none was requested"
            )
        piece = inflate.feed(chunk, max_bytes - size + 1) if inflate else chunk
        sent, size = sent + len(chunk), size + len(piece)
        yield piece
        if max(size, sent) > max_bytes:
            raise OutputTooLarge(f"the response of {host} is larger than {max_bytes} bytes")
    if inflate and sent and not inflate.whole:
        raise ToolExecutionError(f"the compressed response of {host} ends in the middle")


def decode(body: bytes, content_type: str) -> tuple[str, str]:
    """Return a body as text by the charset of its Content-Type (UTF-8 without one), and a note
    where bytes were repaired.

    A byte order mark is dropped; bytes that the charset cannot read become U+FFFD; an unknown
    charset counts as UTF-8.
    """
    charset = _charset(content_type)
    try:
        return body.decode(charset).removeprefix("\ufeff"), ""
    except UnicodeDecodeError:
        return body.decode(charset, "replace").removeprefix(
            "\ufeff"
        ), f"bytes of the response that are no {charset} became U+FFFD"


def _charset(content_type: str) -> str:
    named = _CHARSET.search(content_type)
    if named is None or not _CHARSETS.fullmatch(named[1]):
        return "utf-8"
    try:
        return codecs.lookup(named[1]).name
    except LookupError:
        return "utf-8"


class _Inflate:
    """Decompresses gzip or zlib, several members too, never more than it is asked for."""

    def __init__(self, host: str) -> None:
        self._host, self._member = host, zlib.decompressobj(_ZLIB_OR_GZIP)

    @property
    def whole(self) -> bool:
        return self._member.eof

    def feed(self, data: bytes, limit: int) -> bytes:
        made = b""
        try:
            while data and len(made) < limit:
                if self._member.eof:
                    self._member = zlib.decompressobj(_ZLIB_OR_GZIP)
                made += self._member.decompress(data, limit - len(made))
                data = self._member.unused_data
        except zlib.error as error:
            raise ToolExecutionError(
                f"the compressed response of {self._host} is broken: {error}"
            ) from error
        return made
