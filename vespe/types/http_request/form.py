"""What `implementation_details` of an http_request may be, and what an mcp_tool has of it: the URL
and the headers.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from vespe.documents.pointers import escape_pointer
from vespe.lazy import pattern
from vespe.models import JsonObject
from vespe.schemas import forms
from vespe.schemas.explain import describe, short
from vespe.schemas.forms import DETAILS, UNPRINTABLE, Form, Found

METHODS: Final = (
    "GET",
    "HEAD",
    "POST",
    "PUT",
    "PATCH",
    "DELETE",
    "OPTIONS",
    "TRACE",
    "QUERY",
    "PROPFIND",
    "PROPPATCH",
    "MKCOL",
    "COPY",
    "MOVE",
    "LOCK",
    "UNLOCK",
    "SEARCH",
    "REPORT",
    "LINK",
    "UNLINK",
)
"""Those of https://www.iana.org/assignments/http-methods that APIs use; CONNECT is no request to a
host.
"""
MAX_REDIRECTS: Final = 5
_CONNECTION_HEADERS: Final = (
    "connection keep-alive proxy-connection proxy-authorization te "
    "trailer transfer-encoding upgrade expect"
)
OWN_HEADERS: Final = frozenset({"host", "content-length", *_CONNECTION_HEADERS.split()})
"""Headers that are the connection's own: a tool that sets one could split a request in two, or name
another host.
"""
STYLES: Final = (
    "simple",
    "label",
    "matrix",
    "form",
    "spaceDelimited",
    "pipeDelimited",
    "tabDelimited",
    "deepObject",
    "cookie",
    "json",
)
"""How a value that is a list or an object is written: OpenAPI's names, one of Swagger's, and
`json`.
"""
_AUTH: Final = {
    "bearer": ("token",),
    "basic": ("username", "password"),
    "header": ("name", "value"),
    "query": ("name", "value"),
}
_CONTENTS: Final[dict[str, Any]] = {
    "json": object,
    "form": (dict, str),
    "multipart": (dict, str),
    "binary": str,
    "text": str,
}
_URL: Final = pattern(r"https?://(?P<authority>[^/?#]*).*", re.IGNORECASE)
_AUTHORITY: Final = pattern(
    r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?"
)
_TOKEN: Final = pattern(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}")


def wrong_with_url(url: str) -> str | None:
    """Say why a URL cannot be called; its scheme, host and port are literal, whatever the inputs
    are.
    """
    if not url.isprintable() or " " in url or "\\" in url:
        return (
            "`path` holds white space, a backslash or a control character; "
            "a URL has them percent-encoded"
        )
    parts = _URL.fullmatch(url)
    if parts is None:
        return f"`path` must be a URL that begins with https:// or http://, not {short(url)}"
    if set("{}$@") & set(parts["authority"]):
        _, at, host = parts["authority"].rpartition("@")
        return (
            "the host and port of the URL must be literal, without an input, a secret or a user "
            f"name, not {short(f'***@{host}' if at else parts['authority'])}"
        )
    authority = _AUTHORITY.fullmatch(parts["authority"])
    if authority is None or not 0 < int(authority["port"] or 80) < 65_536:
        return (
            "`path` must name a host in ASCII, and a port from 1 to 65535 if any, "
            f"not {short(parts['authority'])}"
        )
    return None


_PORT: Final = (
    "0{0,4}[1-9]|0{0,3}[1-9][0-9]|0{0,2}[1-9][0-9]{2}|0?[1-9][0-9]{3}|[1-5][0-9]{4}"
    "|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]"
)
"""The numbers from 1 to 65535 with at most five digits."""
URL: Final[JsonObject] = {
    "type": "string",
    "pattern": r"^[Hh][Tt][Tt][Pp][Ss]?://(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)"
    rf"(?::(?:{_PORT}))?(?:[/?#][^{UNPRINTABLE} \\]*)?$",
}


def _url(url: Any, at: str, name: str) -> Iterator[Found]:
    if not isinstance(url, str):
        yield DETAILS, "an http_request needs `path`, the URL", "path"
    elif wrong := wrong_with_url(url):
        yield at, wrong


def _is_method(value: Any) -> bool:
    return value is None or value.upper() in METHODS


def _any_case(word: str) -> str:
    return "".join(f"[{letter.upper()}{letter.lower()}]" for letter in word)


def wrong_with_headers(headers: Any, at: str) -> Iterator[Found]:
    """Yield what is wrong with the headers of a request, where they are an object."""
    for name, value in headers.items() if isinstance(headers, dict) else ():
        place = f"{at}/{escape_pointer(name)}"
        if not _TOKEN.fullmatch(name):
            yield place, f"{short(name)} is not a name of a header"
        elif name.lower() in OWN_HEADERS:
            yield (
                place,
                f"the header {short(name)} belongs to the connection, so a tool cannot set it",
            )
        elif isinstance(value, str) and not value.isprintable():
            yield place, f"the header {short(name)} holds a control character, which no header can"


_PRINTABLE: Final[JsonObject] = {"pattern": f"^[^{UNPRINTABLE}]*$"}
HEADERS: Final[JsonObject] = {
    "type": "object",
    "propertyNames": {
        "pattern": f"^{_TOKEN.pattern}$",
        "not": {"pattern": f"^(?:{'|'.join(_any_case(name) for name in sorted(OWN_HEADERS))})$"},
    },
    "additionalProperties": _PRINTABLE,
}


def _headers(headers: Any, at: str, name: str) -> Iterator[Found]:
    yield from forms.fields({}).found(headers, at, name)
    yield from wrong_with_headers(headers, at)


def _styles(styles: Any, at: str, name: str) -> Iterator[Found]:
    for key, said in styles.items() if isinstance(styles, dict) else ():
        place = f"{at}/{escape_pointer(key)}"
        if (
            not isinstance(said, dict)
            or said.get("style", "form") not in STYLES
            or not isinstance(said.get("explode", True), bool)
        ):
            yield (
                place,
                f"`{name}.{key}` must be an object with a `style` of {', '.join(STYLES)}, "
                "and `explode`, true or false",
            )
        elif not _is_media_type(said.get("media_type", "")):
            yield f"{place}/media_type", f"`{name}.{key}.media_type` must be a media type"


def _is_media_type(value: Any) -> bool:
    return isinstance(value, str) and value.isprintable()


_MEDIA_TYPE: Final[JsonObject] = {"type": "string", **_PRINTABLE}
_STYLES: Final[JsonObject] = {
    "additionalProperties": {
        "type": "object",
        "properties": {
            "style": {"enum": [*STYLES]},
            "explode": {"type": "boolean"},
            "media_type": _MEDIA_TYPE,
        },
    },
}


def _stated_styles(styles: Any, at: str, name: str) -> Iterator[Found]:
    yield from forms.fields({}).found(styles, at, name)
    yield from _styles(styles, at, name)


def _content(content: Any, at: str, name: str) -> Iterator[Found]:
    """Judge `body`, or `querystring`, which is made as a body is."""
    if content is None:
        return
    kinds = [kind for kind in _CONTENTS if kind in content] if isinstance(content, dict) else []
    if len(kinds) != 1 or content.keys() - {*kinds, "media_type", "encoding"}:
        yield (
            at,
            f"`{name}` must be an object with one of {', '.join(_CONTENTS)}, and optionally "
            "`media_type` and `encoding`",
        )
        return
    kind = kinds[0]
    if not isinstance(content[kind], _CONTENTS[kind]):
        wanted = "a string" if _CONTENTS[kind] is str else "an object, or the one input that is one"
        yield f"{at}/{kind}", f"`{name}.{kind}` must be {wanted}, not {describe(content[kind])}"
    if not _is_media_type(media_type := content.get("media_type", "")):
        yield (
            f"{at}/media_type",
            f"`{name}.media_type` must be a media type, not {describe(media_type)}",
        )
    yield from _styles(content.get("encoding"), f"{at}/encoding", f"{name}.encoding")


_TYPES: Final[dict[Any, JsonObject]] = {
    object: {},
    str: {"type": "string"},
    (dict, str): {"type": ["object", "string"]},
}
_MEANINGS: Final = {
    "json": "Any JSON value, sent as application/json.",
    "form": "The fields of a form, sent as application/x-www-form-urlencoded.",
    "multipart": "The fields of a form, sent as multipart/form-data.",
    "binary": "Bytes, written in base64 or as a data: URL.",
    "text": "A string, sent as text/plain.",
}
_CONTENT: Final[JsonObject] = {
    "type": "object",
    "oneOf": [{"required": [kind]} for kind in _CONTENTS],
    "properties": {
        **{
            kind: {"description": _MEANINGS[kind], **_TYPES[taken]}
            for kind, taken in _CONTENTS.items()
        },
        "media_type": _MEDIA_TYPE,
        "encoding": _STYLES,
    },
    "additionalProperties": False,
}


def _querystring(content: Any, at: str, name: str) -> Iterator[Found]:
    yield from forms.fields({}).found(content, at, name)
    yield from _content(content, at, name)


def _auth(auth: Any, at: str, name: str) -> Iterator[Found]:
    wanted = _AUTH.get(str(auth.get("type")), ()) if isinstance(auth, dict) else ()
    if auth is not None and not (wanted and all(isinstance(auth.get(key), str) for key in wanted)):
        shapes = "; ".join(f"{kind}: {', '.join(keys)}" for kind, keys in _AUTH.items())
        yield at, f"`{name}` must have a `type` and its strings ({shapes})"


def _is_response(value: Any) -> bool:
    return isinstance(value, str) and (value in ("", "json", "text") or _is_pointer(value))


def _is_pointer(text: str) -> bool:
    return text.startswith("/") and "~" not in text.replace("~0", "").replace("~1", "")


FORM: Final = forms.DetailsForm(
    keys={
        "path": Form(
            _url,
            URL,
            "The URL. The scheme, the host and the port are fixed. The path can contain inputs, as "
            "{input}.",
        ),
        "entrypoint": forms.kind(
            f"the method, one of {', '.join(METHODS)}",
            _is_method,
            {
                "type": ["string", "null"],
                "pattern": f"^(?:{'|'.join(_any_case(method) for method in METHODS)})$",
            },
        ).described("The HTTP method. Default: GET."),
    },
    args={
        "query": forms.fields({}, "The query parameters, by name."),
        "querystring": Form(
            _querystring,
            _CONTENT,
            "The complete query string, in one of the formats of `args.body`, instead of "
            "`args.query`.",
        ),
        "headers": Form(_headers, HEADERS, "The headers, by name."),
        "cookies": forms.fields({}, "The cookies, by name."),
        "styles": Form(
            _stated_styles,
            _STYLES | {"type": "object"},
            "How the lists and objects of inputs are written, by input: `style`, `explode` and "
            "`allow_reserved` of OpenAPI.",
        ),
        "body": Form(
            _content,
            {"anyOf": [{"type": "null"}, _CONTENT]},
            "The body: an object with exactly one of json, form, multipart, binary and text, and "
            "with media_type and encoding if needed.",
        ),
        "auth": Form(
            _auth,
            {
                "oneOf": [
                    {"type": "null"},
                    *(
                        {
                            "type": "object",
                            "required": ["type", *keys],
                            "properties": {
                                "type": {"const": kind},
                                **{key: {"type": "string"} for key in keys},
                            },
                        }
                        for kind, keys in _AUTH.items()
                    ),
                ]
            },
            "The credentials: `type` is bearer (with `token`), basic (`username`, `password`), "
            "header or query (`name`, `value`).",
        ),
        "response": forms.kind(
            '"json", "text" or a JSON Pointer such as /items/0',
            _is_response,
            {"type": "string", "pattern": "^(?:json|text|(?:/(?:[^~]|~[01])*)?)$"},
            "Which part of the answer is the result: json, text, or a JSON Pointer such as "
            "/items/0. Default: by its Content-Type.",
        ),
        "redirects": forms.integer(0, MAX_REDIRECTS, shown=describe).described(
            "How many redirects to follow. Default: 0."
        ),
        "success_statuses": forms.integers(range(100, 600)).described(
            "The status codes of success. Default: 200 to 299."
        ),
    },
    required=("path",),
    closed=True,
)
