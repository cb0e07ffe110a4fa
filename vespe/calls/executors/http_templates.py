"""From an http_request tool's URL and `args`, and one call's inputs, to the request: each value in one encoded slot."""

import binascii
import re
from collections.abc import Mapping
from typing import Any, Final, NoReturn

from vespe.documents.strict_json import compact_json, repair_surrogates
from vespe.errors import InvalidArguments, InvalidTool, Refused
from vespe.http.addresses import parse_url
from vespe.http.client import Request
from vespe.lazy import urls
from vespe.models import JsonObject, JsonValue, Tool
from vespe.tools import templates
from vespe.tools.implementations import METHODS, OWN_HEADERS

ARGUMENTS: Final = frozenset({"query", "headers", "body", "auth", "response", "success_statuses", "redirects"})

_URL = re.compile(r"(https?://[^/?#]*)([^?#]*)(\?[^#]*)?(?:#.*)?", re.DOTALL | re.IGNORECASE)
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_TEXT = re.compile(r"[\x20-\x7e]*")
_ENCODED_SECRET = re.compile(r"%24%7Benv%3A([A-Za-z0-9_]+)%7D")
_AUTH: Final = {"bearer": ("token",), "basic": ("username", "password"), "header": ("name", "value"), "query": ("name", "value")}
_BODIES: Final = {"json": "application/json", "form": "application/x-www-form-urlencoded", "text": "text/plain; charset=utf-8"}


def build(tool: Tool, inputs: JsonObject, *, secrets: Mapping[str, str] | None) -> Request:
    """Return the request of one call. Without `secrets` it is one to show: `${env:NAME}` stands in its places, unencoded.

    Raises InvalidTool where the tool is at fault, Refused for a host or a secret that HTTP cannot carry, and InvalidArguments
    where a value does not fit its slot: an empty, `.` or `..` path segment, control characters in a header.
    """
    return _Build(tool, Slots(tool, inputs, secrets)).request()


def _carried(name: str, text: str) -> str:
    if not _HEADER_TEXT.fullmatch(text):
        raise Refused(f"the header {name} cannot carry the value of its secret", hint="does it hold a line break, perhaps at its end?")
    return text.strip(" ")


def _encoded(text: str) -> str:
    try:
        return urls.quote(text, safe="")
    except UnicodeEncodeError:
        raise InvalidArguments("a value holds a lone surrogate, which a URL cannot carry") from None


def _encoded_value(value: JsonValue) -> str:
    return _encoded(templates.value_text(value))


def _unfit(name: str, message: str) -> NoReturn:
    raise InvalidArguments(message, violations=[{"pointer": f"/{name}", "message": message}])


ABSENT: Final = object()
"""What a text becomes that names an absent input; null is a value."""


class Slots:
    """Fills the templates of a tool. Without `secrets`, `${env:NAME}` stays in its places, to be shown."""

    def __init__(self, tool: Tool, inputs: JsonObject, secrets: Mapping[str, str] | None) -> None:
        self.inputs, self.secrets = inputs, secrets
        self._names = templates.input_names(tool.input_schema)

    def parse(self, text: str) -> templates.Template:
        """Read a template over the tool's inputs."""
        return templates.parse(text, self._names)

    def fill(self, text: str) -> str | None:
        """Fill one text; None where it names an absent input."""
        return self.parse(text).render(self.inputs, secrets=self.secrets)

    def fill_secrets(self, text: str) -> str:
        """Fill a text that takes secrets alone, such as a credential: braces in it are itself."""
        return templates.parse(text, ()).render({}, secrets=self.secrets) or ""

    def repeated(self, text: str) -> list[JsonValue] | None:
        """Return the items where the text is one whole slot whose value is a list, else None."""
        whole = self.parse(text).whole
        value = self.inputs.get(whole) if whole else None
        return value if isinstance(value, list) else None

    def texts(self, value: JsonValue) -> list[str]:
        """Return the texts of a query or form value: none for an absent input, one for each item of a list."""
        if isinstance(value, list):
            return [text for item in value for text in self.texts(item)]
        if not isinstance(value, str):
            return [templates.value_text(value)]
        items = self.repeated(value)
        if items is not None:
            return [templates.value_text(item) for item in items]
        filled = self.fill(value)
        return [] if filled is None else [filled]

    def structure(self, value: JsonValue) -> Any:
        """Fill a JSON structure: a text that is one whole slot becomes the input itself, with its JSON type.

        Members and items that name an absent input are left out; an absent root gives ABSENT.
        """
        if isinstance(value, dict):
            members = {key: self.structure(item) for key, item in value.items()}
            return {key: item for key, item in members.items() if item is not ABSENT}
        if isinstance(value, list):
            return [item for item in map(self.structure, value) if item is not ABSENT]
        if not isinstance(value, str):
            return value
        whole = self.parse(value).whole
        if whole:
            return self.inputs.get(whole, ABSENT)
        filled = self.fill(value)
        return ABSENT if filled is None else filled


class _Build:
    """One request in the making."""

    def __init__(self, tool: Tool, slots: Slots) -> None:
        self._tool, self._slots = tool, slots
        details = tool.implementation
        self._path, self._args = (details.path or "", details.args) if details else ("", {})
        self._method = ((details.entrypoint if details else None) or "GET").upper()
        self._auth = self._args.get("auth")

    def request(self) -> Request:
        unknown = sorted(self._args.keys() - ARGUMENTS)
        if unknown:
            self._invalid(f"args.{unknown[0]}", f"means nothing to http_request; it knows {', '.join(sorted(ARGUMENTS))}")
        if self._method not in METHODS:
            self._invalid("entrypoint", f"must be a method, one of {', '.join(METHODS)}, not {self._method!r}")
        self._check_auth()
        url = self._url()
        body, content_type = self._body()
        headers = self._headers()
        if content_type and not any(name.lower() == "content-type" for name, _ in headers):
            headers.append(("Content-Type", content_type))
        credentials = self._credentials()
        headers = [(name, value) for name, value in headers if name.lower() not in {c.lower() for c, _ in credentials}] + credentials
        secret = {name for name, value in self._object("headers").items() if templates.secret_names(value)}
        private = frozenset(name.lower() for name in secret | {name for name, _ in credentials})
        return Request(method=self._method, url=url, headers=tuple(headers), body=body, private=private)

    def _invalid(self, where: str, problem: str) -> NoReturn:
        raise InvalidTool(self._tool.uid, [f"implementation_details.{where} {problem}"], path=self._tool.directory or "")

    def _object(self, key: str) -> JsonObject:
        value = self._args.get(key, {})
        return value if isinstance(value, dict) else self._invalid(f"args.{key}", "must be an object")

    # The URL

    def _url(self) -> str:
        parts = _URL.fullmatch(self._path)
        if parts is None:
            self._invalid("path", f"must be an http:// or https:// URL, not {self._path!r}")
        if set("{}$") & set(parts[1]):
            self._invalid("path", "must name its scheme, host and port literally, with no {name} or ${env:NAME} in them")
        parse_url(parts[1])
        path = "/".join(self._segment(text) for text in parts[2].split("/"))
        pairs = [pair for piece in (parts[3] or "")[1:].split("&") if piece for pair in self._literal_pair(piece)]
        pairs += [
            f"{_encoded(key)}={self._shown(text)}" for key, value in self._object("query").items() for text in self._slots.texts(value)
        ]
        if self._auth and self._auth["type"] == "query":
            pairs.append(f"{_encoded(self._auth['name'])}={self._shown(self._slots.fill_secrets(self._auth['value']))}")
        return parts[1] + path + ("?" + "&".join(pairs) if pairs else "")

    def _segment(self, text: str) -> str:
        template = self._literal_template(text)
        if not template.slots:
            return text
        encoded = template.render(self._slots.inputs, encode=_encoded_value)
        if encoded is None:
            missing = next(name for name in template.slots if name not in self._slots.inputs)
            _unfit(missing, f"the URL's path needs {missing!r}")
        if urls.unquote(encoded) in ("", ".", ".."):
            _unfit(template.slots[0], f"{template.slots[0]!r} would make a path segment that is empty, . or .., which leads elsewhere")
        return encoded

    def _literal_pair(self, piece: str) -> list[str]:
        """Return a piece of the URL's own query as it is written, but for the slots in its value."""
        key, equals, text = piece.partition("=")
        if not self._literal_template(piece).slots:
            return [piece]
        items = self._slots.repeated(text)
        if items is not None:
            return [f"{key}{equals}{_encoded_value(item)}" for item in items]
        encoded = self._slots.parse(piece).render(self._slots.inputs, encode=_encoded_value)
        return [] if encoded is None else [encoded]

    def _literal_template(self, text: str) -> templates.Template:
        template = self._slots.parse(text)
        if template.secrets:
            self._invalid("path", "holds ${env:…}; a secret stands only in args (`auth`, `query`, `headers`, `body`)")
        return template

    def _shown(self, text: str) -> str:
        encoded = _encoded(text)
        return encoded if self._slots.secrets is not None else _ENCODED_SECRET.sub(r"${env:\1}", encoded)

    # Headers and credentials

    def _headers(self) -> list[tuple[str, str]]:
        headers = []
        for name, value in self._object("headers").items():
            self._check_name(name, "headers")
            text = value if isinstance(value, str) else templates.value_text(value)
            filled = self._slots.fill(text)
            if filled is not None:
                self._check_text(name, self._slots.parse(text))
                headers.append((name, _carried(name, filled)))
        return headers

    def _check_name(self, name: str, where: str) -> None:
        if not _TOKEN.fullmatch(name):
            self._invalid(f"args.{where}", f"names {name!r}, which is not a header name")
        if name.lower() in OWN_HEADERS:
            self._invalid(f"args.{where}", f"sets {name}, which is the connection's own")

    def _check_text(self, name: str, template: templates.Template) -> None:
        """Blame the inputs, or the tool, before any secret is in the text."""
        if not _HEADER_TEXT.fullmatch(template.render(self._slots.inputs) or ""):
            if not template.slots:
                self._invalid(f"args.headers.{name}", "holds a character that no header can carry")
            _unfit(template.slots[0], f"the header {name} takes printable ASCII alone: no line breaks, control or other characters")

    def _check_auth(self) -> None:
        if self._auth is None:
            return
        wanted = _AUTH.get(str(self._auth.get("type"))) if isinstance(self._auth, dict) else None
        if wanted is None or not all(isinstance(self._auth.get(key), str) for key in wanted):
            shapes = "; ".join(f"{kind}: {', '.join(keys)}" for kind, keys in _AUTH.items())
            self._invalid("args.auth", f"must have a type and its texts ({shapes})")
        if self._auth["type"] == "header":
            self._check_name(self._auth["name"], "auth")

    def _credentials(self) -> list[tuple[str, str]]:
        """Return the header of `auth`; it stands for one of the same name in `headers`."""
        if self._auth is None or self._auth["type"] == "query":
            return []
        texts = {key: self._slots.fill_secrets(self._auth[key]) for key in _AUTH[self._auth["type"]]}
        if self._auth["type"] == "header":
            return [(texts["name"], _carried(texts["name"], texts["value"]))]
        if self._auth["type"] == "bearer":
            return [("Authorization", _carried("Authorization", f"Bearer {texts['token']}"))]
        pair = f"{texts['username']}:{texts['password']}"
        # Shown as it is, sent in base64: a plan names the secrets that it takes.
        if self._slots.secrets is None:
            return [("Authorization", f"Basic {pair}")]
        return [("Authorization", "Basic " + binascii.b2a_base64(pair.encode("utf-8", "replace"), newline=False).decode("ascii"))]

    # The body

    def _body(self) -> tuple[bytes | None, str]:
        body = self._args.get("body")
        if body is None:
            return None, ""
        if not isinstance(body, dict) or len(body) != 1 or not body.keys() <= _BODIES.keys():
            self._invalid("args.body", 'must be {"json": …}, {"form": {…}} or {"text": "…"}')
        kind, content = next(iter(body.items()))
        data = {"json": self._json, "form": self._form, "text": self._text}[kind](content)
        return (None, "") if data is None else (repair_surrogates(data).encode("utf-8"), _BODIES[kind])

    def _json(self, content: JsonValue) -> str | None:
        value = self._slots.structure(content)
        return None if value is ABSENT else compact_json(value)

    def _text(self, content: JsonValue) -> str | None:
        return self._slots.fill(content) if isinstance(content, str) else self._invalid("args.body.text", "must be a text")

    def _form(self, content: JsonValue) -> str | None:
        if not isinstance(content, dict):
            self._invalid("args.body.form", "must be an object")
        pairs = [(key, repair_surrogates(text)) for key, value in content.items() for text in self._slots.texts(value)]
        return urls.urlencode(pairs)
