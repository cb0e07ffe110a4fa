"""From an http_request tool's URL and `args`, and one call's inputs, to the request: each value in
one encoded slot.
"""

import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Final, NoReturn

from vespe.errors import InvalidArguments, InvalidTool, Refused
from vespe.http.addresses import parse_url
from vespe.http.client import Request
from vespe.lazy import pattern, urls
from vespe.models import JsonObject, JsonValue, Tool
from vespe.tools import templates
from vespe.types.http_request import bodies as http_bodies
from vespe.types.http_request.form import FORM, METHODS, OWN_HEADERS
from vespe.types.http_request.slots import Slots
from vespe.types.http_request.styles import Style, as_it_is, encoded

ARGUMENTS: Final = frozenset(FORM.args)

_URL = pattern(r"(https?://[^/?#]*)([^?#]*)(\?[^#]*)?(?:#.*)?", re.DOTALL | re.IGNORECASE)
_TOKEN = pattern(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_TEXT = pattern(r"[\x20-\x7e]*")
_COOKIE_TEXT = pattern(r"[\x20-\x3a\x3c-\x7e]*")
_ENCODED_SECRET = pattern(r"%24%7Benv%3A([A-Za-z0-9_]+)%7D")
_AUTH: Final = {
    "bearer": ("token",),
    "basic": ("username", "password"),
    "header": ("name", "value"),
    "query": ("name", "value"),
}


def build(tool: Tool, inputs: JsonObject, *, secrets: Mapping[str, str] | None) -> Request:
    """Return the request of one call. Without `secrets` it is one to show: `${env:NAME}` stands in
    its places, unencoded.

    Raises InvalidTool where the tool is at fault, Refused for a host or a secret that HTTP cannot
    carry, and InvalidArguments where a value does not fit its slot: an empty, `.` or `..` path
    segment, control characters in a header.
    """
    return _Build(tool, Slots(tool, inputs, secrets)).request()


def _carried(name: str, text: str) -> str:
    if not _HEADER_TEXT.fullmatch(text):
        raise Refused(
            f"the header {name} cannot carry the value of its secret",
            hint="does it contain a line break, perhaps at its end?",
        )
    return text.strip(" ")


def _encoded_value(value: JsonValue) -> str:
    return encoded(templates.value_text(value))


def _unfit(name: str, message: str) -> NoReturn:
    raise InvalidArguments(message, violations=[{"pointer": f"/{name}", "message": message}])


class _Build:
    """One request in the making."""

    def __init__(self, tool: Tool, slots: Slots) -> None:
        self._tool, self._slots = tool, slots
        details = tool.implementation
        self._path, self._args = (details.path or "", details.args) if details else ("", {})
        self._method = ((details.entrypoint if details else None) or "GET").upper()
        self._auth = self._args.get("auth")
        self._styles = self._object("styles")

    def request(self) -> Request:
        unknown = sorted(self._args.keys() - ARGUMENTS)
        if unknown:
            self._invalid(
                f"args.{unknown[0]}",
                "is not an argument of http_request; its arguments are "
                f"{', '.join(sorted(ARGUMENTS))}",
            )
        if self._method not in METHODS:
            self._invalid(
                "entrypoint", f"must be a method, one of {', '.join(METHODS)}, not {self._method!r}"
            )
        self._check_auth()
        url = self._url()
        body, content_type = self._body()
        headers = self._headers()
        if content_type and not any(name.lower() == "content-type" for name, _ in headers):
            headers.append(("Content-Type", content_type))
        credentials = self._credentials()
        headers = [
            (name, value)
            for name, value in headers
            if name.lower() not in {c.lower() for c, _ in credentials}
        ] + credentials
        secret = {
            name for name, value in self._object("headers").items() if templates.secret_names(value)
        }
        private = frozenset(name.lower() for name in secret | {name for name, _ in credentials})
        return Request(
            method=self._method, url=url, headers=tuple(headers), body=body, private=private
        )

    def _invalid(self, where: str, problem: str) -> NoReturn:
        raise InvalidTool(
            self._tool.uid,
            [f"implementation_details.{where} {problem}"],
            path=self._tool.directory or "",
        )

    def _object(self, key: str) -> JsonObject:
        value = self._args.get(key, {})
        return (
            value if isinstance(value, dict) else self._invalid(f"args.{key}", "must be an object")
        )

    # The URL

    def _url(self) -> str:
        parts = _URL.fullmatch(self._path)
        if parts is None:
            self._invalid("path", f"must be an http:// or https:// URL, not {self._path!r}")
        if set("{}$") & set(parts[1]):
            self._invalid(
                "path",
                "must state its scheme, host and port literally, without {name} or "
                "${env:NAME} in them",
            )
        parse_url(parts[1])
        path = "/".join(self._segment(text) for text in parts[2].split("/"))
        pairs = [
            pair
            for piece in (parts[3] or "")[1:].split("&")
            if piece
            for pair in self._literal_pair(piece)
        ]
        pairs += [
            pair for key, value in self._object("query").items() for pair in self._pairs(key, value)
        ]
        pairs += self._whole_query()
        if self._auth and self._auth["type"] == "query":
            pairs.append(
                f"{encoded(self._auth['name'])}={self._shown(self._slots.fill_secrets(self._auth['value']))}"
            )
        return parts[1] + path + ("?" + "&".join(pairs) if pairs else "")

    def _segment(self, text: str) -> str:
        template = self._literal_template(text)
        if not template.slots:
            return text
        for name in template.slots:
            if name not in self._slots.inputs:
                _unfit(name, f"the URL's path needs {name!r}")
        made = "".join(
            piece if isinstance(piece, str) else self._in_path(piece.name)
            for piece in template.pieces
        )
        if urls.unquote(made) in ("", ".", ".."):
            _unfit(
                template.slots[0],
                f"{template.slots[0]!r} would make a path segment that is empty, . or .., "
                "which changes the path",
            )
        return made

    def _in_path(self, name: str) -> str:
        value, said = self._slots.inputs[name], self._styles.get(name)
        if said is None:
            return _encoded_value(value)
        return Style.of(said, default="simple", in_path=True).segment(
            str(said.get("name", name)), value
        )

    def _pairs(self, key: str, value: JsonValue) -> Iterator[str]:
        """Return the pairs of one entry of `query`, each written and encoded."""
        name = self._slots.parse(value).whole if isinstance(value, str) else None
        if name in self._styles:
            given = self._slots.inputs.get(name)
            yield from (
                "=".join(pair)
                for pair in Style.of(self._styles[name], default="form").pairs(key, given)
            )
        else:
            yield from (f"{encoded(key)}={self._shown(text)}" for text in self._slots.texts(value))

    def _whole_query(self) -> list[str]:
        """Return what stands for the whole query where the tool says so: a form, or any other text,
        encoded.
        """
        content = self._object("querystring")
        if not content:
            return []
        kind = next(iter(content))
        data, _ = http_bodies.build(kind, content, self._slots)
        return (
            []
            if not data
            else [data.decode("ascii") if kind == "form" else encoded(data.decode("utf-8"))]
        )

    def _literal_pair(self, piece: str) -> list[str]:
        """Return a piece of the URL's own query as it is written, but for the slots in its
        value.
        """
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
            self._invalid(
                "path",
                "contains ${env:…}, but a secret is only allowed in args (`auth`, `query`, "
                "`headers`, `body`)",
            )
        return template

    def _shown(self, text: str) -> str:
        made = encoded(text)
        return made if self._slots.secrets is not None else _ENCODED_SECRET.sub(r"${env:\1}", made)

    # Headers and credentials

    def _headers(self) -> list[tuple[str, str]]:
        headers = []
        for name, value in self._object("headers").items():
            self._check_name(name, "headers")
            filled = self._header(
                name, value if isinstance(value, str) else templates.value_text(value)
            )
            if filled is not None:
                headers.append((name, _carried(name, filled)))
        cookies = [
            pair
            for name, value in self._object("cookies").items()
            for pair in self._cookie(name, str(value))
        ]
        return (
            [*headers, ("Cookie", _carried("Cookie", "; ".join(cookies)))] if cookies else headers
        )

    def _header(self, name: str, text: str) -> str | None:
        template = self._slots.parse(text)
        if template.whole not in self._styles:
            filled = self._slots.fill(text)
            if filled is not None:
                self._check_text(name, template)
            return filled
        value = self._slots.inputs.get(template.whole)
        written = (
            None
            if value is None
            else Style.of(self._styles[template.whole], default="simple", encode=as_it_is).text(
                value
            )
        )
        if written is not None and not _HEADER_TEXT.fullmatch(written):
            _unfit(
                template.whole,
                f"the header {name} accepts only printable ASCII: no line breaks, control or "
                "other characters",
            )
        return written

    def _cookie(self, name: str, text: str) -> list[str]:
        """Return the pairs of one cookie; exploded ones of the style `form` are joined by &, as
        OpenAPI's table has them.
        """
        template = self._slots.parse(text)
        if template.whole is None:
            filled = self._slots.fill(text)
            return [] if filled is None else [f"{name}={filled}"]
        said = self._styles.get(template.whole, {})
        raw = said.get("style") == "cookie"
        written = Style.of(said, default="form", encode=as_it_is if raw else encoded).pairs(
            name, self._slots.inputs.get(template.whole)
        )
        if raw and any(not _COOKIE_TEXT.fullmatch(part) for pair in written for part in pair):
            _unfit(template.whole, f"the cookie {name} accepts only printable ASCII, without ;")
        pairs = ["=".join(pair) for pair in written]
        return pairs if raw or not pairs else ["&".join(pairs)]

    def _check_name(self, name: str, where: str) -> None:
        if not _TOKEN.fullmatch(name):
            self._invalid(f"args.{where}", f"names {name!r}, which is not a header name")
        if name.lower() in OWN_HEADERS:
            self._invalid(f"args.{where}", f"sets {name}, which belongs to the connection")

    def _check_text(self, name: str, template: templates.Template) -> None:
        """Blame the inputs, or the tool, before any secret is in the text."""
        if not _HEADER_TEXT.fullmatch(template.render(self._slots.inputs) or ""):
            if not template.slots:
                self._invalid(
                    f"args.headers.{name}", "contains a character that is not allowed in headers"
                )
            _unfit(
                template.slots[0],
                f"the header {name} accepts only printable ASCII: no line breaks, control or "
                "other characters",
            )

    def _check_auth(self) -> None:
        if self._auth is None:
            return
        wanted = _AUTH.get(str(self._auth.get("type"))) if isinstance(self._auth, dict) else None
        if wanted is None or not all(isinstance(self._auth.get(key), str) for key in wanted):
            shapes = "; ".join(f"{kind}: {', '.join(keys)}" for kind, keys in _AUTH.items())
            self._invalid("args.auth", f"must have a type and its strings ({shapes})")
        if self._auth["type"] == "header":
            self._check_name(self._auth["name"], "auth")

    def _credentials(self) -> list[tuple[str, str]]:
        """Return the header of `auth`; it stands for one of the same name in `headers`."""
        if self._auth is None or self._auth["type"] == "query":
            return []
        texts = {
            key: self._slots.fill_secrets(self._auth[key]) for key in _AUTH[self._auth["type"]]
        }
        if self._auth["type"] == "header":
            return [(texts["name"], _carried(texts["name"], texts["value"]))]
        if self._auth["type"] == "bearer":
            return [("Authorization", _carried("Authorization", f"Bearer {texts['token']}"))]
        pair = f"{texts['username']}:{texts['password']}"
        # Shown as it is, sent in base64: a plan names the secrets that it takes.
        if self._slots.secrets is None:
            return [("Authorization", f"Basic {pair}")]
        return [
            (
                "Authorization",
                "Basic "
                + binascii.b2a_base64(pair.encode("utf-8", "replace"), newline=False).decode(
                    "ascii"
                ),
            )
        ]

    # The body

    def _body(self) -> tuple[bytes | None, str]:
        body = self._args.get("body")
        if body is None:
            return None, ""
        kinds = (
            [key for key in body if key in http_bodies.MEDIA_TYPES]
            if isinstance(body, dict)
            else []
        )
        if len(kinds) != 1 or body.keys() - {*kinds, "media_type", "encoding"}:
            self._invalid(
                "args.body", f"must be an object with one of {', '.join(http_bodies.MEDIA_TYPES)}"
            )
        kind = kinds[0]
        if kind in ("text", "binary") and not isinstance(body[kind], str):
            self._invalid(f"args.body.{kind}", "must be a string")
        if kind in ("form", "multipart") and not isinstance(body[kind], (dict, str)):
            self._invalid(f"args.body.{kind}", "must be an object")
        return http_bodies.build(kind, body, self._slots)
