"""What runs a tool, as its config.json says: the shape of `implementation_details` for each type,
and where secrets may stand.
"""

import keyword
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeAlias

from vespe.documents.pointers import pointer_to
from vespe.lazy import pattern
from vespe.schemas import validator
from vespe.schemas.explain import describe, short
from vespe.tool_types import TYPES, type_in, type_of
from vespe.tools.fields import Found
from vespe.tools.templates import input_names

Steps: TypeAlias = tuple[str | int, ...]

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
HTTP_ARGS: Final = frozenset(
    (
        "query",
        "querystring",
        "headers",
        "cookies",
        "styles",
        "body",
        "auth",
        "response",
        "success_statuses",
        "redirects",
    )
)
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
_SECRET: Final = pattern(r"\$\{env:(?:(?P<name>[A-Za-z_][A-Za-z0-9_]*)\})?")
_MCP_ARGS: Final = frozenset(("command", "url", "headers", "digest"))
_RUST_NAME: Final = pattern(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_DIGEST: Final = pattern(r"sha256:[0-9a-f]{64}")
_AT: Final = "/implementation_details"
_ELSEWHERE: Final = (
    "name",
    "description",
    "kit_id",
    "version",
    "tags",
    "schema",
    "permissions",
    "annotations",
)


def found_in_implementation(
    document: dict[str, Any], *, source: bytes | None = None
) -> list[Found]:
    """Return all that is wrong with `implementation_details`, and with every `${env:NAME}` of a
    config.json.

    A tool without implementation_details is found by name among the in-process ones: nothing is
    wrong with it.
    """
    details = document.get("implementation_details")
    found: list[Found] = []
    if details is not None and not isinstance(details, dict):
        found.append((_AT, f"`implementation_details` must be an object, not {describe(details)}"))
    elif details:
        found += _checked(details, document)
    if source is None or b"${env:" in source or b"\\u" in source:
        found += _secrets(document)
    return found


def named_secrets(details: dict[str, Any]) -> list[str]:
    """Return the names of the secrets that `${env:NAME}` asks for in the arguments of an
    implementation, each once.
    """
    kind = type_in(details)
    slots = [details.get(key) for key in (kind.secret_keys if kind is not None else ("args",))]
    texts = (text for _, text, is_key in _strings(slots, ()) if not is_key)
    return list(
        dict.fromkeys(
            place["name"] for text in texts for place in _SECRET.finditer(text) if place["name"]
        )
    )


def _checked(details: dict[str, Any], document: dict[str, Any]) -> Iterator[Found]:
    kind = details.get("type")
    for key in ("path", "entrypoint"):
        if not isinstance(details.get(key), (str, type(None))):
            yield (
                f"{_AT}/{key}",
                f"`implementation_details.{key}` must be a text, not {describe(details[key])}",
            )
            details = {**details, key: None}
    if not isinstance(args := details.get("args", {}), dict):
        yield (
            f"{_AT}/args",
            f"`implementation_details.args` must be an object, not {describe(args)}",
        )
        details = {**details, "args": {}}
    if isinstance(kind, str) and kind in TYPES:
        yield from CHECKS.get(kind, _by_form)(details, document)
    elif "type" in details:
        yield (
            f"{_AT}/type",
            f"`implementation_details.type` must be one of {', '.join(sorted(TYPES))}, "
            f"not {describe(kind)}",
        )
    else:
        yield _AT, f"`implementation_details` needs `type`: one of {', '.join(sorted(TYPES))}"


def _by_form(details: dict[str, Any], document: dict[str, Any]) -> Iterator[Found]:
    """Judge the details of a type that has no check of its own here by its form alone."""
    from vespe.schemas import published

    form = type_of(details["type"]).form()
    shared = published.read_published("tool")["$defs"]
    whole = validator.Validator({"$defs": shared, **form})
    for one in whole.violations(details, subject="`implementation_details`"):
        yield _AT + one.pointer, one.message


def _python_script(details: dict[str, Any], document: dict[str, Any]) -> Iterator[Found]:
    yield from _own_file(details.get("path"), "a .py file inside the tool's directory", ends=".py")
    entrypoint = details.get("entrypoint")
    if (
        not isinstance(entrypoint, str)
        or not entrypoint.isidentifier()
        or keyword.iskeyword(entrypoint)
    ):
        at = f"{_AT}/entrypoint" if "entrypoint" in details else _AT
        yield (
            at,
            f"`entrypoint` must be the name of the function that runs, not {describe(entrypoint)}",
        )
    if details.get("environment", "project") != "project":
        yield (
            f"{_AT}/environment",
            f'`environment` is "project" or is not there, not {describe(details["environment"])}',
        )
    yield from _fixed(details, document)


def _wasm(details: dict[str, Any], document: dict[str, Any]) -> Iterator[Found]:
    yield from _own_file(
        details.get("path"), "a .wasm file inside the tool's directory", ends=".wasm"
    )
    if "source" in details:
        yield from _own_file(
            details["source"], "a source file inside the tool's directory", key="source"
        )
    yield from _fixed(details, document)


def _rust_function(details: dict[str, Any], document: dict[str, Any]) -> Iterator[Found]:
    yield from _own_file(details.get("path"), "a .rs file inside the tool's directory", ends=".rs")
    entrypoint = details.get("entrypoint")
    if not isinstance(entrypoint, str) or not _RUST_NAME.fullmatch(entrypoint):
        at = f"{_AT}/entrypoint" if "entrypoint" in details else _AT
        yield (
            at,
            f"`entrypoint` must be the name of the function that runs, not {describe(entrypoint)}",
        )
    yield from _fixed(details, document)


def _fixed(details: dict[str, Any], document: dict[str, Any]) -> Iterator[Found]:
    """Find fixed arguments that are inputs too: a tool gets both as one object."""
    if args := details.get("args"):
        names = input_names(_input_schema(document))
        yield from (
            (_arg(key), f"the fixed argument {short(key)} is also an input; it can be one of them")
            for key in args
            if key in names
        )


def _shell_command(details: dict[str, Any], document: dict[str, Any]) -> Iterator[Found]:
    path, entrypoint, args = details.get("path"), details.get("entrypoint"), details.get("args", {})
    if path is not None:
        yield from _own_file(path, "an executable file inside the tool's directory")
    elif not entrypoint:
        yield (
            _AT,
            "a shell_command needs `entrypoint`, a program found on PATH, or `path`, "
            "an executable file inside the tool's directory",
        )
    elif (
        "/" in entrypoint
        or entrypoint.startswith("-")
        or entrypoint in (".", "..")
        or not entrypoint.isprintable()
    ):
        message = (
            "`entrypoint` must be the name of a program found on PATH, "
            f"not {short(entrypoint)}; a file of the tool's own is its `path`"
        )
        yield f"{_AT}/entrypoint", message
    if "argv" in args:
        yield from _argv(args["argv"], ("argv",))
    if not isinstance(args.get("stdin", ""), str):
        yield (
            _arg("stdin"),
            f'`args.stdin` must be a template, or "json", not {describe(args["stdin"])}',
        )
    yield from _choice(args, "cwd", ("project", "tool"))
    yield from _choice(args, "output", ("text", "json", "lines"))
    yield from _integers(args, "success_codes", range(256))


def _argv(value: Any, steps: Steps) -> Iterator[Found]:
    name = "args.argv" + "".join(f"[{step}]" for step in steps[1:])
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _argv(item, (*steps, index))
    elif len(steps) == 1:
        yield _arg(*steps), f"`{name}` must be a list of templates, not {describe(value)}"
    elif not isinstance(value, str):
        yield (
            _arg(*steps),
            f"`{name}` must be a template, a text, or a list of them, not {describe(value)}",
        )
    elif "\0" in value:
        yield _arg(*steps), f"`{name}` holds a NUL character, which no argument of a program can"


def _http_request(details: dict[str, Any], document: dict[str, Any]) -> Iterator[Found]:
    url, method, args = details.get("path"), details.get("entrypoint"), details.get("args", {})
    if not isinstance(url, str):
        yield _AT, "an http_request needs `path`, the URL", "path"
    elif wrong := _wrong_with_url(url):
        yield f"{_AT}/path", wrong
    if method is not None and method.upper() not in METHODS:
        yield (
            f"{_AT}/entrypoint",
            f"`entrypoint` must be the method, one of {', '.join(METHODS)}, not {describe(method)}",
        )
    for key in sorted(args.keys() - HTTP_ARGS):
        yield _arg(key), f"`args` takes {', '.join(sorted(HTTP_ARGS))}, and no {short(key)}"
    for key in ("query", "querystring", "headers", "cookies", "styles"):
        if not isinstance(args.get(key, {}), dict):
            yield _arg(key), f"`args.{key}` must be an object, not {describe(args[key])}"
    yield from _headers(args.get("headers"))
    yield from _styles(args.get("styles"), "styles")
    yield from _content(args.get("querystring"), "querystring")
    yield from _content(args.get("body"), "body")
    yield from _auth(args.get("auth"))
    response, redirects = args.get("response", "json"), args.get("redirects", 0)
    if not isinstance(response, str) or (
        response not in ("", "json", "text") and not _is_pointer(response)
    ):
        yield (
            _arg("response"),
            '`args.response` must be "json", "text" or a JSON Pointer such as /items/0, '
            f"not {describe(response)}",
        )
    if (
        isinstance(redirects, bool)
        or not isinstance(redirects, int)
        or not 0 <= redirects <= MAX_REDIRECTS
    ):
        yield (
            _arg("redirects"),
            f"`args.redirects` must be an integer from 0 to {MAX_REDIRECTS}, "
            f"not {describe(redirects)}",
        )
    yield from _integers(args, "success_statuses", range(100, 600))


def _mcp_tool(details: dict[str, Any], document: dict[str, Any]) -> Iterator[Found]:
    args, entrypoint = details.get("args", {}), details.get("entrypoint")
    if not isinstance(entrypoint, str) or not entrypoint:
        yield _AT, "an mcp_tool needs `entrypoint`, the tool's name at the server"
    if details.get("path") is not None:
        yield f"{_AT}/path", "an mcp_tool takes no `path`: `args` says which server it is of"
    for key in sorted(args.keys() - _MCP_ARGS):
        yield _arg(key), f"`args` takes {', '.join(sorted(_MCP_ARGS))}, and no {short(key)}"
    command, url, headers = args.get("command"), args.get("url"), args.get("headers", {})
    if (command is None) == (url is None):
        yield (
            _arg(),
            "`args` needs `command`, the argv that starts the server, or `url`, where it listens",
        )
    if command is not None and not (
        isinstance(command, list)
        and command
        and all(isinstance(w, str) and w and "\0" not in w for w in command)
    ):
        yield _arg("command"), f"`args.command` must be a list of texts, not {short(command)}"
    if url is not None and (
        wrong := _wrong_with_url(url) if isinstance(url, str) else "`args.url` must be a URL"
    ):
        yield _arg("url"), wrong.replace("`path`", "`args.url`")
    if not isinstance(headers, dict) or not all(
        isinstance(value, str) for value in headers.values()
    ):
        yield _arg("headers"), "`args.headers` must be an object of texts"
    else:
        yield from _headers(headers)
    if not isinstance(args.get("digest"), str) or not _DIGEST.fullmatch(args["digest"]):
        yield (
            _arg("digest"),
            "`args.digest` must be `sha256:` and 64 hexadecimal digits: "
            "the definition that was approved",
        )


def _wrong_with_url(url: str) -> str | None:
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
        return (
            "the URL's host and port stand as they are, with no slot, secret or user in them, "
            f"not {short(parts['authority'])}"
        )
    authority = _AUTHORITY.fullmatch(parts["authority"])
    if authority is None or not 0 < int(authority["port"] or 80) < 65_536:
        return (
            "`path` must name a host in ASCII, and a port from 1 to 65535 if any, "
            f"not {short(parts['authority'])}"
        )
    return None


def _headers(headers: Any) -> Iterator[Found]:
    for name, value in headers.items() if isinstance(headers, dict) else ():
        if not _TOKEN.fullmatch(name):
            yield _arg("headers", name), f"{short(name)} is not a name of a header"
        elif name.lower() in OWN_HEADERS:
            yield (
                _arg("headers", name),
                f"the header {short(name)} is the connection's own, and not a tool's to set",
            )
        elif isinstance(value, str) and not value.isprintable():
            yield (
                _arg("headers", name),
                f"the header {short(name)} holds a control character, which no header can",
            )


def _content(content: Any, key: str) -> Iterator[Found]:
    """Judge `body`, or `querystring`, which is made as a body is."""
    if content is None:
        return
    kinds = [kind for kind in _CONTENTS if kind in content] if isinstance(content, dict) else []
    if len(kinds) != 1 or content.keys() - {*kinds, "media_type", "encoding"}:
        yield (
            _arg(key),
            f"`args.{key}` must be an object with one of {', '.join(_CONTENTS)}, "
            "and `media_type` and `encoding` if need be",
        )
        return
    kind = kinds[0]
    if not isinstance(content[kind], _CONTENTS[kind]):
        wanted = "a text" if _CONTENTS[kind] is str else "an object, or the one input that is one"
        yield (
            _arg(key, kind),
            f"`args.{key}.{kind}` must be {wanted}, not {describe(content[kind])}",
        )
    media_type = content.get("media_type", "")
    if not isinstance(media_type, str) or not media_type.isprintable():
        yield (
            _arg(key, "media_type"),
            f"`args.{key}.media_type` must be a media type, not {describe(media_type)}",
        )
    yield from _styles(content.get("encoding"), key, "encoding")


def _styles(styles: Any, *steps: str) -> Iterator[Found]:
    name = ".".join(("args", *steps))
    for key, said in styles.items() if isinstance(styles, dict) else ():
        if (
            not isinstance(said, dict)
            or said.get("style", "form") not in STYLES
            or not isinstance(said.get("explode", True), bool)
        ):
            yield (
                _arg(*steps, key),
                f"`{name}.{key}` must be an object with a `style` of {', '.join(STYLES)}, "
                "and `explode`, true or false",
            )
        elif (
            not isinstance(said.get("media_type", ""), str)
            or not str(said.get("media_type", "")).isprintable()
        ):
            yield _arg(*steps, key, "media_type"), f"`{name}.{key}.media_type` must be a media type"


def _auth(auth: Any) -> Iterator[Found]:
    wanted = _AUTH.get(str(auth.get("type")), ()) if isinstance(auth, dict) else ()
    if auth is not None and not (wanted and all(isinstance(auth.get(key), str) for key in wanted)):
        shapes = "; ".join(f"{kind}: {', '.join(keys)}" for kind, keys in _AUTH.items())
        yield (
            _arg("auth"),
            f"`args.auth` must have a `type` and the texts that go with it ({shapes})",
        )


def _is_pointer(text: str) -> bool:
    return text.startswith("/") and "~" not in text.replace("~0", "").replace("~1", "")


def _own_file(path: Any, what: str, *, ends: str = "", key: str = "path") -> Iterator[Found]:
    if not isinstance(path, str):
        yield _AT, f"`implementation_details` needs `{key}`: {what}", "path"
        return
    if (
        not path
        or path.startswith("/")
        or "\\" in path
        or not path.isprintable()
        or {"", ".", ".."} & set(path.split("/"))
    ):
        yield (
            f"{_AT}/{key}",
            f"`{key}` must be {what}, written relative to it without . and .., not {short(path)}",
        )
    if not path.endswith(ends):
        yield f"{_AT}/{key}", f"`{key}` must be a {ends} file, not {short(path)}"


def _choice(args: dict[str, Any], key: str, choices: tuple[str, ...]) -> Iterator[Found]:
    if key in args and args[key] not in choices:
        yield (
            _arg(key),
            f"`args.{key}` must be one of {', '.join(choices)}, not {describe(args[key])}",
        )


def _integers(args: dict[str, Any], key: str, allowed: range) -> Iterator[Found]:
    value = args.get(key, [allowed[0]])
    if (
        not isinstance(value, list)
        or not value
        or any(isinstance(v, bool) or not isinstance(v, int) or v not in allowed for v in value)
    ):
        yield (
            _arg(key),
            f"`args.{key}` must be a list of integers from {allowed[0]} to {allowed[-1]}, "
            f"not {short(value)}",
        )


def _secrets(document: dict[str, Any]) -> Iterator[Found]:
    """Find `${env:NAME}` where it does not stand in `args`, or names no declared secret."""
    details = document.get("implementation_details")
    details = details if isinstance(details, dict) else {}
    for key in _ELSEWHERE:
        yield from _misplaced(document.get(key), (key,))
    kind = type_in(details)
    slots = ("args",) if kind is None else kind.secret_keys
    for key in ("type", "path", "entrypoint", "args"):
        if key in slots:
            continue
        yield from _misplaced(details.get(key), ("implementation_details", key))
    declared = document.get("secrets")
    stated = {key: details[key] for key in slots if key in details}
    for steps, text, is_key in _strings(stated, ("implementation_details",)):
        for place in _SECRET.finditer(text):
            if is_key:
                yield (
                    pointer_to(steps),
                    "`${env:NAME}` is in a key; only values may have it",
                    "secret",
                )
            elif place["name"] is None:
                yield (
                    pointer_to(steps),
                    f"`${{env:` begins no secret in {short(text)}: write ${{env:NAME}}",
                    "secret",
                )
            elif not isinstance(declared, list) or place["name"] not in declared:
                yield (
                    pointer_to(steps),
                    f"`${{env:{place['name']}}}` is not a declared secret: "
                    f"add {short(place['name'])} to `secrets`",
                    "secret",
                )


def _misplaced(value: Any, steps: Steps) -> Iterator[Found]:
    for at, text, _ in _strings(value, steps):
        if "${env:" in text:
            yield (
                pointer_to(at),
                "`${env:NAME}` can stand in `implementation_details.args` alone",
                "secret",
            )


def _strings(value: Any, steps: Steps) -> Iterator[tuple[Steps, str, bool]]:
    if isinstance(value, str):
        yield steps, value, False
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _strings(item, (*steps, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield (*steps, key), key, True
            yield from _strings(item, (*steps, key))


def _input_schema(document: dict[str, Any]) -> Any:
    schema = document.get("schema")
    return schema.get("input") if isinstance(schema, dict) else None


def _arg(*steps: str | int) -> str:
    return pointer_to(("implementation_details", "args", *steps))


CHECKS: Final[dict[str, Callable[[dict[str, Any], dict[str, Any]], Iterable[Found]]]] = {
    "python_script": _python_script,
    "shell_command": _shell_command,
    "http_request": _http_request,
    "mcp_tool": _mcp_tool,
    "wasm": _wasm,
    "rust_function": _rust_function,
}
"""Each type's own check of `implementation_details` within its document."""
