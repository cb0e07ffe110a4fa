"""The forms of a reference: what `secrets.NAME` of the user's configuration may be besides a value.

A reference has exactly one of these keys; keys that are not known are kept and mean nothing.

- `{"ref": "keyring:SERVICE/USER"}`: an entry of the operating system's keyring.
- `{"ref": "file:PATH"}`: the content of a private file.
- `{"ref": "env:NAME"}`: an environment variable of another name.
- `{"command": ["op", "read", "op://…"]}`: what a program prints, with `timeout_s` (seconds, 30) and
  `lines` (`one`, or `first` or `all` of several).
- `{"token": {"url": …, "client_id": …, "client_secret": …}}`: an access token that is fetched there
  (OAuth's client credentials), with `scope` and `audience`. The secret is a reference, the id a
  value or a reference.
"""

import os
from collections.abc import Callable
from typing import Final, NamedTuple

from vespe.documents.pointers import escape_pointer
from vespe.errors import InvalidDocument, Refused
from vespe.http.addresses import parse_url
from vespe.lazy import pattern
from vespe.models import JsonObject, JsonValue

TIMEOUT_S: Final = 30.0
_LONGEST_S: Final = 600
LINES: Final = ("one", "first", "all")
"""What a command may print: one line (else it is refused), or several, of which these count."""
KNOWN: Final = ("ref", "command", "timeout_s", "lines", "token")
"""The keys of a reference that mean something."""
_VARIABLE: Final = pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_LOOPBACK: Final = pattern(r"127\.[0-9.]+|::1|localhost")


class ReferenceProblem(NamedTuple):
    """What is wrong with a reference: the pointer inside it, and the end of a sentence."""

    pointer: str
    said: str


def check(name: str, value: JsonValue, path: str) -> None:
    """Check what stands under `secrets.NAME` and is no string; raises InvalidDocument with the
    pointer. What is wrong may be a secret all the same: it is never quoted.
    """
    if found := problem(value):
        pointer = f"/secrets/{escape_pointer(name)}{found.pointer}"
        raise InvalidDocument(found.said, path=path, pointer=pointer)


def problem(value: JsonValue) -> ReferenceProblem | None:
    """Return what is wrong with a reference, or None."""
    if not isinstance(value, dict):
        return ReferenceProblem("", f"must be a string, or an object with {_LISTED}")
    given = [kind for kind in _FORMS if kind in value]
    if len(given) != 1:
        return ReferenceProblem("", f"must have exactly one of {_LISTED}")
    return _FORMS[given[0]](value)


def store_of(value: JsonValue) -> str:
    """Name where a secret is kept: `value` (the configuration itself), `keyring`, `file`, `env`,
    `command`, or `token`.
    """
    if not isinstance(value, dict):
        return "value"
    kind = next((kind for kind in _FORMS if kind in value), "")
    return str(value["ref"]).partition(":")[0] if kind == "ref" else kind


def shown(value: JsonValue) -> str:
    """Say where a secret is kept in a few words that hold no secret: a command by its program's
    name alone, since its arguments may.
    """
    if not isinstance(value, dict):
        return "your configuration"
    if "ref" in value:
        return str(value["ref"])
    if "token" in value:
        return f"the token endpoint of {parse_url(value['token']['url']).authority}"
    return f"the command {os.path.basename(value['command'][0])}"


def _ref(value: JsonObject) -> ReferenceProblem | None:
    ref = value["ref"]
    if not isinstance(ref, str):
        return ReferenceProblem(
            "/ref",
            f"must be a string such as {_EXAMPLES}: a reference cannot refer to another reference",
        )
    store, _, rest = ref.partition(":")
    if store not in _STORES:
        return ReferenceProblem(
            "/ref", f"does not name a store: write {_EXAMPLES}; any other program is a `command`"
        )
    said = _STORES[store](rest)
    return ReferenceProblem("/ref", said) if said else None


def _keyring(rest: str) -> str:
    service, _, user = rest.rpartition("/")
    if not service or not user or "\0" in rest:
        return "needs a service and a user: keyring:SERVICE/USER"
    return ""


def _file(rest: str) -> str:
    if not os.path.isabs(os.path.expanduser(rest)) or "\0" in rest:
        return "needs an absolute path, or one that begins with ~/: file:~/.config/keys/token"
    return ""


def _env(rest: str) -> str:
    return "" if _VARIABLE.fullmatch(rest) else "needs the name of a variable: env:NAME"


def _command(value: JsonObject) -> ReferenceProblem | None:
    argv, timeout_s, lines = value["command"], value.get("timeout_s", TIMEOUT_S), value.get("lines")
    if (
        not isinstance(argv, list)
        or not argv
        or not all(isinstance(word, str) and "\0" not in word for word in argv)
    ):
        said = 'must be a list of strings, such as ["op", "read", "op://vault/item/field"]: '
        return ReferenceProblem("/command", said + "it is not passed to a shell")
    if not argv[0] or ("/" in argv[0] and not os.path.isabs(argv[0])):
        said = "must be the name of a program on PATH, or an absolute path"
        return ReferenceProblem("/command/0", said)
    if (
        isinstance(timeout_s, bool)
        or not isinstance(timeout_s, (int, float))
        or not 0 < timeout_s <= _LONGEST_S
    ):
        said = f"must be a number of seconds above 0, at most {_LONGEST_S}"
        return ReferenceProblem("/timeout_s", said)
    if "lines" in value and lines not in LINES:
        return ReferenceProblem("/lines", 'must be "one", "first" or "all"')
    return None


def _token(value: JsonObject) -> ReferenceProblem | None:
    token = value["token"]
    if not isinstance(token, dict):
        said = "must be an object with `url`, `client_id` and `client_secret`"
        return ReferenceProblem("/token", said)
    if said := _endpoint(token.get("url")):
        return ReferenceProblem("/token/url", said)
    for key in ("client_id", "client_secret"):
        source = token.get(key)
        if key == "client_id" and isinstance(source, str) and source:
            continue
        if isinstance(source, str):
            said = f"must be {'a string or ' if key == 'client_id' else ''}a reference: an object"
            return ReferenceProblem(f"/token/{key}", f"{said} with `ref` or `command`")
        if isinstance(source, dict) and "token" in source:
            return ReferenceProblem(f"/token/{key}", "cannot be a token itself")
        if found := problem(source):
            return ReferenceProblem(f"/token/{key}{found.pointer}", found.said)
    for key in ("scope", "audience"):
        if not isinstance(token.get(key, ""), str):
            return ReferenceProblem(f"/token/{key}", "must be a string")
    return None


def _endpoint(url: JsonValue) -> str:
    """Return what is wrong with a token endpoint, to which a secret is sent."""
    if not isinstance(url, str) or "@" in url.partition("://")[2].partition("/")[0]:
        return "must be a URL without a user"
    try:
        made = parse_url(url)
    except Refused:
        return "must be a URL such as https://login.example.com/oauth/token"
    if made.scheme != "https" and not _LOOPBACK.fullmatch(made.host):
        return "must begin with https:// (http:// is for this machine alone)"
    return ""


_STORES: Final[dict[str, Callable[[str], str]]] = {
    "keyring": _keyring,
    "file": _file,
    "env": _env,
}
"""What is wrong with the rest of a `ref`, by its store."""
_FORMS: Final[dict[str, Callable[[JsonObject], ReferenceProblem | None]]] = {
    "ref": _ref,
    "command": _command,
    "token": _token,
}
_LISTED: Final = " or ".join(f"`{kind}`" for kind in _FORMS)
_EXAMPLES: Final = "keyring:SERVICE/USER, file:PATH or env:NAME"
