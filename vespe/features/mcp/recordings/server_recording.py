"""The file of a recorded MCP server: a line of JSON for each request and its answer.

Each line ends in a digest of itself and the lines before it, so that an edit is noticed. What does
not work is one digest at the end: a server that is killed would leave a file without it.
"""

import contextlib
import hashlib
import os
from collections.abc import Iterator
from typing import Any, Final

from vespe import defaults
from vespe.documents import strict_json
from vespe.errors import InvalidDocument, Refused, StorageError
from vespe.files import atomic
from vespe.models import JsonObject, JsonValue
from vespe.records import dataclass

KIND: Final = "mcp_server"
VERSION: Final = 1
MAX_BYTES: Final = 256 * 1024 * 1024
_MAX_LINE_BYTES: Final = 4 * defaults.LARGER_CAP_BYTES
_MAX_PAGES: Final = 200
_DIGEST: Final = "sha256"
_AGAIN: Final = "record the server again: `vespe mcp wrap --record FILE -- COMMAND`"
_EXCHANGE: Final = {
    "number": (int,),
    "method": (str,),
    "params": (dict,),
    "answer": (dict, type(None)),
    "notified": (list,),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request and its answer. `answer` is `{"result"}` or `{"error"}`, None where the server
    gave none; `notified` are the notifications that came before it. `number` counts requests in the
    order in which they were sent.
    """

    number: int
    method: str
    params: JsonObject
    answer: JsonObject | None
    notified: tuple[JsonObject, ...] = ()

    def to_json(self) -> JsonObject:
        """Return the exchange as its line has it."""
        said: JsonObject = {
            "number": self.number,
            "method": self.method,
            "params": self.params,
            "answer": self.answer,
        }
        return said | ({"notified": list(self.notified)} if self.notified else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerRecording:
    """A recording that was read; `exchanges` are in the order of their requests."""

    path: str
    server: str
    exchanges: tuple[Exchange, ...]

    def definitions(self) -> tuple[list[JsonObject], JsonObject]:
        """Return the tools that the server listed last, and what it says of itself.

        Raises InvalidDocument where the recording has no whole list.
        """
        pages: dict[JsonValue, JsonObject] = {}
        about: JsonObject = {}
        for exchange in self.exchanges:
            result: Any = (exchange.answer or {}).get("result")
            if not isinstance(result, dict):
                continue
            if exchange.method == "tools/list":
                pages[exchange.params.get("cursor")] = result
            about = _server_of(result) or about
        return list(self._listed(pages)), about

    def _listed(self, pages: dict[JsonValue, JsonObject]) -> Iterator[JsonObject]:
        cursor: JsonValue = None
        for _ in range(_MAX_PAGES):
            page = pages.get(cursor)
            if page is None:
                raise InvalidDocument(
                    "does not contain a complete list of the server's tools",
                    path=self.path,
                    hint="record it again with a client that lists the tools",
                )
            tools = page.get("tools")
            yield from (
                (one for one in tools if isinstance(one, dict)) if isinstance(tools, list) else ()
            )
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str):
                return


def _server_of(result: JsonObject) -> JsonObject:
    meta = result.get("_meta")
    stamped = meta.get("io.modelcontextprotocol/serverInfo") if isinstance(meta, dict) else None
    found = result.get("serverInfo", stamped)
    return found if isinstance(found, dict) else {}


class RecordingFile:
    """A recording that grows by a line for each exchange; readable by its owner alone.

    Raises Refused where there is such a file already, StorageError where it cannot be written.
    """

    def __init__(self, path: str, *, server: str) -> None:
        self._path = path
        try:
            self._descriptor = os.open(
                path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
            )
        except FileExistsError:
            raise Refused(
                f"{path} already exists", hint="choose another name, or delete the file"
            ) from None
        except OSError as error:
            raise StorageError("write", path, error) from error
        self._digest, self._is_open, self._has_exchanges = "", True, False
        self._append(
            {"kind": KIND, "version": VERSION, "server": server, "vespe": defaults.VERSION}
        )

    def add(self, exchange: Exchange) -> None:
        """Write an exchange down. Raises StorageError."""
        self._append(exchange.to_json())
        self._has_exchanges = True

    def close(self) -> None:
        """Close the file; one without an exchange goes, so that it is in nobody's way."""
        if not self._is_open:
            return
        self._is_open = False
        os.close(self._descriptor)
        if not self._has_exchanges:
            with contextlib.suppress(OSError):
                os.unlink(self._path)

    def _append(self, document: JsonObject) -> None:
        self._digest = _digest_of(document, self._digest)
        line = strict_json.compact_bytes(document | {_DIGEST: self._digest}) + b"\n"
        with atomic.translated("write", self._path):
            atomic.write_all(self._descriptor, line)


def _digest_of(document: JsonObject, before: str) -> str:
    return hashlib.sha256(before.encode() + strict_json.compact_bytes(document)).hexdigest()


def read(path: str) -> ServerRecording:
    """Read a recording. Raises InvalidDocument for a file that is none, is damaged, or was changed
    after it was recorded, and StorageError.
    """
    shown, data = path, atomic.read_bytes(os.path.realpath(path), limit=MAX_BYTES)
    *lines, rest = data.split(b"\n")
    server, digest = _header(lines[0] if lines else rest, shown)
    exchanges: list[Exchange] = []
    for number, line in enumerate(lines[1:], start=2):
        document = _document(line, shown, number)
        digest = _check(document, digest, shown, number)
        exchanges.append(_exchange(document, shown, number))
    if rest:
        raise InvalidDocument(
            "its last line is incomplete", path=shown, line=len(lines) + 1, hint=_AGAIN
        )
    return ServerRecording(
        path=shown,
        server=server,
        exchanges=tuple(sorted(exchanges, key=lambda one: one.number)),
    )


def _header(line: bytes, path: str) -> tuple[str, str]:
    try:
        document = strict_json.parse_object(line, limit=_MAX_LINE_BYTES)
    except InvalidDocument:
        document = {}
    if document.get("kind") != KIND:
        raise InvalidDocument("is not a recording of an MCP server", path=path, hint=_AGAIN)
    if document.get("version") != VERSION:
        raise InvalidDocument(
            f"is a recording of version {document.get('version')!r}, "
            f"and this version of Vespe reads {VERSION}",
            path=path,
            hint=_AGAIN,
        )
    return str(document.get("server", "")), _check(document, "", path, 1)


def _document(line: bytes, path: str, number: int) -> JsonObject:
    try:
        return strict_json.parse_object(line, limit=_MAX_LINE_BYTES)
    except InvalidDocument as error:
        raise InvalidDocument(
            f"is damaged: {error.reason}", path=path, line=number, hint=_AGAIN
        ) from None


def _check(document: JsonObject, before: str, path: str, number: int) -> str:
    """Take the digest out of a line and return it; raises InvalidDocument where it is another."""
    stated, found = document.pop(_DIGEST, None), _digest_of(document, before)
    if stated != found:
        raise InvalidDocument(
            "was changed after it was recorded", path=path, line=number, hint=_AGAIN
        )
    return found


def _exchange(document: JsonObject, path: str, number: int) -> Exchange:
    for key, kinds in _EXCHANGE.items():
        if not isinstance(document.get(key, [] if key == "notified" else None), kinds):
            raise InvalidDocument(f"has no exchange: {key!r}", path=path, line=number, hint=_AGAIN)
    return Exchange(
        number=document["number"],
        method=document["method"],
        params=document["params"],
        answer=document["answer"],
        notified=tuple(one for one in document.get("notified", ()) if isinstance(one, dict)),
    )
