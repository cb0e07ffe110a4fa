"""Writing down what a client asks of an MCP server and what it answers, without the secrets in
either.
"""

import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

from vespe.calls.secrets import redact
from vespe.documents import secret_shapes
from vespe.documents.redaction import MASK, SHORTEST
from vespe.errors import StorageError
from vespe.features.mcp.recordings.server_recording import Exchange, RecordingFile
from vespe.features.mcp.server import messages
from vespe.models import JsonObject, JsonValue

_MAX_OPEN: Final = 1000
_MAX_NOTIFIED: Final = 100
SECRET_ARGUMENTS: Final = frozenset(
    (
        "accesstoken",
        "apikey",
        "authorization",
        "authtoken",
        "bearertoken",
        "clientsecret",
        "credentials",
        "idtoken",
        "passphrase",
        "passwd",
        "password",
        "privatekey",
        "pwd",
        "refreshtoken",
        "secret",
        "secretkey",
        "token",
    )
)
"""Names of arguments, in small letters and without `_` and `-`, whose strings are never written."""


class _Open:
    __slots__ = ("method", "notified", "number", "params", "token")

    def __init__(self, number: int, method: str, params: JsonObject) -> None:
        self.number, self.method = number, method
        meta = params.get("_meta")
        self.token = meta.get("progressToken") if isinstance(meta, dict) else None
        self.params = {key: value for key, value in params.items() if key != "_meta"}
        self.notified: list[JsonObject] = []


class ServerRecorder:
    """Sees each line that passes between a client and a server, and keeps the exchanges in a file.

    `secrets` are values that stand as `***`. Safe to share between two threads. A file that can no
    longer be written ends the recording, not the calls: `failed` is told once.
    """

    def __init__(
        self,
        file: RecordingFile,
        *,
        secrets: tuple[str, ...],
        failed: Callable[[StorageError], None],
    ) -> None:
        self._file, self._secrets, self._failed = file, frozenset(secrets), failed
        self._lock = threading.Lock()
        self._open: dict[str, _Open] = {}
        self._count = 0
        self.error: StorageError | None = None

    def asked(self, line: bytes) -> None:
        """Note the requests in a line of the client's."""
        for message in messages.messages_in(line):
            method, params = message.get("method"), message.get("params", {})
            if "id" in message and isinstance(method, str) and isinstance(params, dict):
                with self._lock:
                    self._count += 1
                    if len(self._open) >= _MAX_OPEN:
                        del self._open[next(iter(self._open))]
                    self._open[messages.request_key(message["id"])] = _Open(
                        self._count, method, params
                    )

    def answered(self, line: bytes) -> None:
        """Write down what a line of the server's answers."""
        for message in messages.messages_in(line):
            if "method" in message:
                self._note(message)
            elif "id" in message:
                with self._lock:
                    found = self._open.pop(messages.request_key(message["id"]), None)
                if found is not None:
                    answer: JsonObject = {
                        key: message[key] for key in ("result", "error") if key in message
                    }
                    self._write(found, answer)

    def close(self) -> None:
        """Write down the requests that have no answer, and close the file."""
        for key in list(self._open):
            self._write(self._open.pop(key), None)
        self._file.close()

    def _note(self, message: JsonObject) -> None:
        """Keep a notification with the request that it belongs to: the one whose progress it tells,
        else the last.
        """
        params = message.get("params")
        if "id" in message or not isinstance(params, dict):  # a request of the server's
            return
        token = params.get("progressToken")
        with self._lock:
            found = [one for one in self._open.values() if token is None or one.token == token]
            if found and len(found[-1].notified) < _MAX_NOTIFIED:
                found[-1].notified.append({"method": message["method"], "params": params})

    def _write(self, found: _Open, answer: JsonObject | None) -> None:
        if self.error is not None:
            return
        arguments = found.params.get("arguments")
        # A server may say in its answer what it was given.
        self._secrets |= {text for text in _named_secrets(arguments) if len(text) >= SHORTEST}
        params = found.params | ({"arguments": _masked_names(arguments)} if arguments else {})
        exchange = Exchange(
            number=found.number,
            method=found.method,
            params=self._hidden(params),
            answer=self._hidden(answer),
            notified=tuple(self._hidden(one) for one in found.notified),
        )
        try:
            with self._lock:
                self._file.add(exchange)
        except StorageError as error:
            self.error = error
            self._failed(error)

    def _hidden(self, value: JsonValue) -> Any:
        return _without_shapes(redact(value, self._secrets))


def _named_secrets(value: JsonValue, *, secret: bool = False) -> Iterator[str]:
    if isinstance(value, str) and secret:
        yield value
    for key, item in value.items() if isinstance(value, dict) else ():
        yield from _named_secrets(item, secret=secret or is_secret_name(key))
    for item in value if isinstance(value, list) else ():
        yield from _named_secrets(item, secret=secret)


def _masked_names(value: JsonValue, *, secret: bool = False) -> JsonValue:
    if isinstance(value, str):
        return MASK if secret and value else value
    if isinstance(value, list):
        return [_masked_names(item, secret=secret) for item in value]
    if isinstance(value, dict):
        return {
            key: _masked_names(item, secret=secret or is_secret_name(key))
            for key, item in value.items()
        }
    return value


def is_secret_name(name: str) -> bool:
    """Say whether an argument of that name holds a secret."""
    return name.lower().replace("_", "").replace("-", "") in SECRET_ARGUMENTS


def _without_shapes(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return secret_shapes.masked(value)
    if isinstance(value, list):
        return [_without_shapes(item) for item in value]
    if isinstance(value, dict):
        return {key: _without_shapes(item) for key, item in value.items()}
    return value
