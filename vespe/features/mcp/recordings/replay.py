"""A recorded MCP server, served over stdin and stdout: what was recorded is answered, and nothing
else is. `http_replay.py` serves it over HTTP.

A request is matched by its method and parameters, without `_meta`; where the recording has `***`,
any text stands for it. The same request is answered in the order of the recording, and the last
answer stays.
"""

import copy
import select
from collections.abc import Callable, Iterator
from typing import Any, Final

from vespe.documents import strict_json
from vespe.documents.escaping import inert_line
from vespe.documents.redaction import MASK
from vespe.features.mcp.recordings.server_recording import Exchange, ServerRecording
from vespe.features.mcp.server import messages
from vespe.features.mcp.server.stdio import claimed
from vespe.features.mcp.server.stdio_io import Outbox, lines
from vespe.models import JsonObject, JsonValue

_MAX_LINE_BYTES: Final = 8 * 1024 * 1024
_BY_METHOD: Final = frozenset(("initialize", "server/discover", "subscriptions/listen"))
"""Requests whose parameters tell about the client, and not what is asked."""
_STAYS_OPEN: Final = "subscriptions/listen"
_FLAT: Final = "\x00"


def serve(recording: ServerRecording, *, warn: Callable[[str], None]) -> None:
    """Answer one client over this process's stdin and stdout until stdin ends or the client is
    gone. `warn` takes a sentence on each request that the recording does not have.

    Raises StorageError where stdin or stdout is closed.
    """
    replay = Replay(recording, warn=warn)
    with claimed() as streams:
        outbox = Outbox(streams.target, source=streams.source)
        events = select.poll()
        events.register(streams.source, select.POLLIN)
        events.register(streams.target, 0)

        def ready() -> bool:
            outbox.release()
            found = dict(events.poll())
            return not outbox.gone and streams.target not in found

        for line in lines(streams.source, limit=_MAX_LINE_BYTES, ready=ready):
            outbox.hold()
            for message in replay.answers(line):
                outbox.send(message)
        outbox.release()


class Replay:
    """What a recording answers; it keeps count of what was asked already."""

    def __init__(self, recording: ServerRecording, *, warn: Callable[[str], None]) -> None:
        self._path, self._warn = recording.path, warn
        self._exchanges: dict[str, list[Exchange]] = {}
        for exchange in recording.exchanges:
            self._exchanges.setdefault(_key(exchange.method, exchange.params), []).append(exchange)
        self._masked = [
            found[0] for key, found in self._exchanges.items() if MASK in key.partition(_FLAT)[2]
        ]
        self._asked: dict[str, int] = {}

    def begun_anew(self) -> "Replay":
        """Return what answers another client from the beginning; both share what was read of the
        recording, which may have many megabytes.
        """
        other = copy.copy(self)
        other._asked = {}
        return other

    def answers(self, line: bytes | None) -> Iterator[JsonObject]:
        """Return what answers a line: notifications, and the answers to its requests."""
        found = [] if line is None else list(messages.messages_in(line))
        if not found and (line is None or line.strip()):
            yield messages.failed(None, messages.PARSE_ERROR, "the line is not an MCP message")
        for message in found:
            if "method" not in message or "id" not in message:
                continue  # what nobody answers
            if why := messages.why_no_request(message):
                yield messages.failed(None, messages.INVALID_REQUEST, f"not a request: {why}")
            else:
                yield from self.answer(message)

    def answer(self, message: JsonObject) -> Iterator[JsonObject]:
        """Return what answers one request: notifications, then the answer; no answer to one that
        stays open.
        """
        params = message.get("params")
        asked: JsonObject = params if isinstance(params, dict) else {}
        exchange = self._next(message["method"], asked)
        if exchange is None:
            yield self._missed(message, asked)
            return
        yield from _notifications(exchange, asked)
        if exchange.answer is not None:
            yield {"jsonrpc": "2.0", "id": message["id"], **exchange.answer}
        elif exchange.method != _STAYS_OPEN:
            said = "the server gave no answer to this when it was recorded"
            yield messages.failed(message["id"], messages.INTERNAL_ERROR, said)

    def _next(self, method: str, params: JsonObject) -> Exchange | None:
        key = _key(method, params)
        if key not in self._exchanges:
            without = {name: value for name, value in params.items() if name != "_meta"}
            fitting = (one for one in self._masked if one.method == method)
            like = next((one for one in fitting if _fits(one.params, without)), None)
            if like is None:
                return None
            key = _key(like.method, like.params)
        known, count = self._exchanges[key], self._asked.get(key, 0)
        self._asked[key] = count + 1
        return known[min(count, len(known) - 1)]

    def _missed(self, message: JsonObject, params: JsonObject) -> JsonObject:
        """Return the error of a request that was not recorded; nothing of its arguments is said."""
        method, name = inert_line(str(message["method"])[:80]), params.get("name")
        if method == "ping":
            return messages.answered(message["id"], {})
        same = [
            one
            for known in self._exchanges.values()
            for one in known
            if one.method == message["method"]
        ]
        what, code = method, messages.METHOD_NOT_FOUND
        if same:
            code = messages.INVALID_PARAMS
            what = f"{method} with these parameters"
        if method == "tools/call" and isinstance(name, str):
            calls = sum(1 for one in same if one.params.get("name") == name)
            what = f"call of {name[:80]!r}"
            what += f" with these arguments, but {calls} with others" if calls else ""
        sentence = f"the recording has no {what}"
        self._warn(f"{self._path}: {sentence}")
        return messages.failed(message["id"], code, sentence, data={"code": "not_recorded"})


def _notifications(exchange: Exchange, asked: JsonObject) -> Iterator[JsonObject]:
    """Return what came before the answer; progress only for a client that asks for it, under its
    own token.
    """
    meta = asked.get("_meta")
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    for one in exchange.notified:
        params: Any = one.get("params")
        if isinstance(params, dict) and "progressToken" in params:
            if token is None:
                continue
            params = params | {"progressToken": token}
        yield messages.notification(str(one.get("method")), params)


def _key(method: str, params: JsonObject) -> str:
    """Return what two requests have in common that are the same one: whatever the order of names,
    and 1.0 is 1.
    """
    if method in _BY_METHOD:
        return f"{method}{_FLAT}"
    asked = {name: value for name, value in params.items() if name != "_meta"}
    if method == "tools/call" and asked.get("arguments") is None:
        asked["arguments"] = {}
    return f"{method}{_FLAT}{strict_json.compact_json(_canonical(asked))}"


def _canonical(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {key: _canonical(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_canonical(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _fits(recorded: JsonValue, asked: JsonValue) -> bool:
    """Say whether a value is what was recorded, with any text for each `***`."""
    if isinstance(recorded, str) and MASK in recorded:
        return isinstance(asked, (str, int, float)) and _fits_text(recorded, str(asked))
    if isinstance(recorded, dict):
        return (
            isinstance(asked, dict)
            and recorded.keys() == asked.keys()
            and all(_fits(value, asked[key]) for key, value in recorded.items())
        )
    if isinstance(recorded, list):
        return (
            isinstance(asked, list)
            and len(recorded) == len(asked)
            and all(map(_fits, recorded, asked))
        )
    return _canonical(recorded) == _canonical(asked) and isinstance(recorded, bool) == isinstance(
        asked, bool
    )


def _fits_text(recorded: str, asked: str) -> bool:
    first, *between, last = recorded.split(MASK)
    if not asked.startswith(first):
        return False
    done = len(first)
    for part in between:
        found = asked.find(part, done + 1)
        if found < 0:
            return False
        done = found + len(part)
    return asked.endswith(last) and len(asked) - len(last) > done
