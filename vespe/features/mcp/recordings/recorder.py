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
from vespe.lazy import pattern
from vespe.models import JsonObject, JsonValue

_MAX_OPEN: Final = 1000
_MAX_NOTIFIED: Final = 100
_SECRET_PARTS: Final = (
    *("password", "passwd", "passphrase", "passcode", "apikey", "privatekey", "accesskey"),
    *("clientsecret", "secretkey"),
)
_SECRET_ENDS: Final = (
    *("pwd", "secret", "secrets", "credential", "credentials", "authorization", "bearer"),
    *("cookie", "cookies", "jwt", "token", "otp", "otpcode", "basicauth"),
    *("accesstokens", "apitokens", "authtokens", "bearertokens", "refreshtokens", "sessiontokens"),
    *("signingkey", "encryptionkey", "decryptionkey", "hmackey", "masterkey", "sshkey"),
    *("githubpat", "gitlabpat", "azurepat", "devopspat"),
)
_SECRET_VALUES: Final = frozenset(("pin", "session"))
"""Names of secrets, unless an object stands under them: that one describes a session."""
_SECRET_NAMES: Final = _SECRET_VALUES | {"auth"}
_FORMS: Final = frozenset(("header", "headers", "value", "json"))
"""Last words of names that say in which form a secret is: an `auth_header`, a `jwt_value`."""
_QUESTIONS: Final = frozenset(
    ("has", "is", "needs", "require", "requires", "allow", "allows", "accept", "accepts")
)
_FACTS: Final = frozenset(("policy", "length", "strength", "rules", "requirements", "name"))
"""First words of names that ask about a secret (`has_password`), and last words of names that tell
about one (`password_policy`): they hold none.
"""
_NUMBERS: Final = frozenset((*_SECRET_PARTS, *_SECRET_ENDS, "pin"))
_NUMBER_ENDS: Final = ("password", "passcode", "pwd", "otp", "otpcode")
"""Names under which a number is a secret. Others that end like a secret's hold counts and IDs: a
`special_token` is one of a model's, and its number may stand anywhere.
"""
_CURSORS: Final = ("pagetoken", "nexttoken", "continuationtoken", "synctoken", "progresstoken")
"""Ends of the names of tokens that say where to go on, and are no secrets."""
_PLAIN_TOKENS: Final = frozenset(
    (
        *("start", "stop", "end", "resume", "skip", "cursor", "delta", "scroll"),
        *("pad", "bos", "eos", "unk", "sep", "cls", "mask"),
    )
)
"""Words before `token` in the names of others like these, and of tokens that a model's text is made
of: they are no secrets. They count as words alone: a `notepad_token` may be one.
"""
_WORDS: Final = pattern(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


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

    def hide(self, secret: str) -> None:
        """Let another secret stand as `***`."""
        with self._lock:
            self._secrets |= {secret}

    def asked(self, line: bytes) -> None:
        """Note the requests in a line of the client's."""
        for message in messages.messages_in(line):
            method, params = message.get("method"), message.get("params", {})
            if "id" in message and isinstance(method, str) and isinstance(params, dict):
                # A server may say in any answer what it was given.
                named = {text for text in _named_secrets(params) if len(text) >= SHORTEST}
                with self._lock:
                    self._secrets |= named
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
        exchange = Exchange(
            number=found.number,
            method=self._hidden(found.method),
            params=self._hidden(_masked_names(found.params)),
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


def _named_secrets(value: JsonValue, *, secret: tuple[type, ...] = ()) -> Iterator[str]:
    """Yield what stands under the name of a secret, in any depth."""
    if _is_one_of(value, secret):
        yield str(value)
    for key, item in value.items() if isinstance(value, dict) else ():
        yield from _named_secrets(item, secret=_secret_types(value, key, within=secret))
    for item in value if isinstance(value, list) else ():
        yield from _named_secrets(item, secret=secret)


def _masked_names(value: JsonValue, *, secret: tuple[type, ...] = ()) -> Any:
    if isinstance(value, list):
        return [_masked_names(item, secret=secret) for item in value]
    if isinstance(value, dict):
        return {
            key: _masked_names(item, secret=_secret_types(value, key, within=secret))
            for key, item in value.items()
        }
    return MASK if value != "" and _is_one_of(value, secret) else value


def _secret_types(holder: JsonObject, key: str, *, within: tuple[type, ...]) -> tuple[type, ...]:
    """Return which types of values are secrets under a key of an object: by its name, by that of
    one that it stands in, or as the `value` of an object whose `name` or `key` is a secret's. A
    number is one by its own name alone: others in the same object are ports and sizes.
    """
    names = [] if isinstance(holder[key], dict) and _letters(key) in _SECRET_VALUES else [key]
    if key == "value":
        said = (holder.get("name"), holder.get("key"))
        names += [name for name in said if isinstance(name, str)]
    if any(map(is_name_of_secret_number, names)):
        return (str, int, float)
    return (str,) if within or any(map(is_secret_name, names)) else ()


def _is_one_of(value: JsonValue, types: tuple[type, ...]) -> bool:
    return isinstance(value, types) and not isinstance(value, bool)


def is_secret_name(name: str) -> bool:
    """Say whether an argument of that name holds a secret."""
    plain = _letters(name)
    if plain.endswith(_CURSORS):
        return False
    words = [word.lower() for word in _WORDS.findall(name)]
    if words[-1:] == ["token"] and not _PLAIN_TOKENS.isdisjoint(words[-2:-1]):
        return False
    if words and (words[0] in _QUESTIONS or words[-1] in _FACTS):
        return False
    while len(words) > 1 and words[-1] in _FORMS:
        plain = plain.removesuffix(words.pop())
    return (
        plain in _SECRET_NAMES
        or plain.endswith(_SECRET_ENDS)
        or any(part in plain for part in _SECRET_PARTS)
    )


def is_name_of_secret_number(name: str) -> bool:
    """Say whether a number is a secret under that name."""
    plain = _letters(name)
    return is_secret_name(name) and (plain in _NUMBERS or plain.endswith(_NUMBER_ENDS))


def _letters(name: str) -> str:
    return "".join(one for one in name.lower() if one.isalpha())


def _without_shapes(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return secret_shapes.masked(value)
    if isinstance(value, list):
        return [_without_shapes(item) for item in value]
    if isinstance(value, dict):
        return {key: _without_shapes(item) for key, item in value.items()}
    return value
