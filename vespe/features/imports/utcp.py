"""UTCP manuals, of both major versions: their HTTP tools, and their commands that need no shell."""

import re
import shlex
from typing import Any, Final

from vespe.errors import Refused
from vespe.features.imports.made import (
    Imported,
    LeftOut,
    Made,
    Selection,
    plain,
    selected,
    short,
    slug,
)
from vespe.features.imports.openapi.documents import At, Documents
from vespe.features.imports.openapi.names import secret_name
from vespe.features.imports.openapi.schemas import Schemas, names_in
from vespe.http.addresses import parse_url
from vespe.models import JsonObject

_VARIABLE: Final = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?")
_ARGUMENT: Final = re.compile(r"UTCP_ARG_(.+?)_UTCP_END")
_SHELL: Final = re.compile(r"[|&;<>()$`\\*?\[\]#~!{}\n]")
_PLACES: Final = {"header": "headers", "query": "query", "cookie": "cookies"}
_HTTP: Final = ("http", "http_stream", "streamable_http", "sse")


class _Unsaid(ValueError):
    """What of a tool cannot be said here: the end of a sentence."""


def is_manual(value: object) -> bool:
    """Whether a document looks like a manual: tools that say their `inputs`, or how they are
    called.
    """
    if not isinstance(value, dict) or not isinstance(tools := value.get("tools"), list):
        return False
    keys = {"inputs", "tool_call_template", "tool_provider"}
    return (
        "utcp_version" in value
        or "manual_version" in value
        or any(isinstance(tool, dict) and keys & tool.keys() for tool in tools)
    )


def import_manual(documents: Documents, *, kit_id: str, selection: Selection) -> Imported:
    """Make a tool of each one of a manual that is selected."""
    root = documents.root
    reader = _Reader(Schemas(documents), kit_id)
    tools: list[Made] = []
    left_out: list[LeftOut] = []
    named = [
        (at.text("name") or f"tool {number}", at)
        for number, (_, at) in enumerate(root.get("tools").items(), 1)
    ]
    wanted = selected(
        named, selection, tags=lambda one: one[1].get("tags").value, path=lambda one: one[0]
    )
    for name, at in wanted:
        try:
            tools.append(reader.tool(name, at))
        except _Unsaid as error:
            left_out.append(LeftOut(what=name, reason=str(error)))
    title = plain(root.text("name")) or kit_id
    return Imported(
        kind="utcp",
        title=title,
        description=short(plain(root.text("description"))),
        version=plain(str(root.get("manual_version").value or root.get("version").value or ""))
        or "0",
        tools=tuple(tools),
        left_out=tuple(left_out),
        hosts=tuple(dict.fromkeys(reader.hosts)),
        unselected=len(named) - len(wanted),
    )


class _Reader:
    def __init__(self, schemas: Schemas, kit_id: str) -> None:
        self._schemas, self._kit_id = schemas, kit_id
        self._names: set[str] = set()
        self.hosts: list[str] = []

    def tool(self, source: str, at: At) -> Made:
        """Return one tool; raises _Unsaid."""
        template = (
            at.get("tool_call_template")
            if at.get("tool_call_template").value
            else at.get("tool_provider")
        )
        if not isinstance(template.value, dict):
            raise _Unsaid("the manual does not say how it is called")
        kind = (
            template.text("call_template_type")
            or template.text("provider_type")
            or template.text("type")
        )
        converted = self._schemas.convert(at.get("inputs"))
        inputs = converted.schema if isinstance(converted.schema, dict) else {}
        definitions, notes = self._schemas.definitions(names_in([converted]))
        schema: JsonObject = {
            "type": "object",
            "properties": {},
            **inputs,
            **({"$defs": definitions} if definitions else {}),
        }
        secrets: dict[str, None] = {}
        said: list[str] = []
        if kind in _HTTP:
            details = self._http(template, schema, secrets, said)
        elif kind == "cli":
            details = _command(template, schema)
        else:
            raise _Unsaid(_why(kind))
        name = slug(source)
        if name in self._names:
            raise _Unsaid("another tool of the manual has its name")
        self._names.add(name)
        document: JsonObject = {
            "name": name,
            "description": short(plain(at.text("description")))
            or f"The tool {plain(source)} of a manual, which does not describe it.",
            "schema": {"input": schema},
            "implementation_details": details,
            "tags": _tags(at),
            "secrets": list(secrets),
        }
        document = {key: value for key, value in document.items() if value}
        return Made(
            document=document,
            source=source,
            notes=tuple(dict.fromkeys((*said, *converted.notes, *notes))),
        )

    def _http(
        self, template: At, schema: JsonObject, secrets: dict[str, None], said: list[str]
    ) -> JsonObject:
        """Return an http_request as UTCP has it: slots of the URL, header fields and the body
        field; the rest is the query.
        """
        if (
            template.text("call_template_type") in _HTTP[1:]
            or template.text("provider_type") in _HTTP[1:]
        ):
            said.append("its answer is a stream, which is read whole")
        url, args = template.text("url"), {}
        headers = {
            name: self._text(str(value), secrets)
            for name, value in (template.get("headers").value or {}).items()
        }
        left = {name: f"{{{name}}}" for name in schema["properties"] if f"{{{name}}}" not in url}
        for name in template.get("header_fields").value or []:
            if name in left:
                headers[name] = left.pop(name)
        field = template.value.get("body_field", "body")
        if field in left:
            args["body"] = {"json": left.pop(field), **_media_type(template.text("content_type"))}
        if left:
            args["query"] = left
        self._authenticate(template.get("auth"), args, headers, secrets=secrets, said=said)
        if headers:
            args["headers"] = headers
        if _VARIABLE.search(url):
            raise _Unsaid(
                f"its URL holds the variable {_VARIABLE.search(url)[0]}, "  # type: ignore[index]  # found above
                "but the URL of a tool must be literal"
            )
        try:
            self.hosts.append(parse_url(re.sub(r"\{[^{}]*\}", "x", url)).authority)
        except Refused as error:
            raise _Unsaid(f"its URL cannot be called: {error}") from None
        method = (template.text("http_method") or "GET").upper()
        return {
            "type": "http_request",
            "path": url,
            "entrypoint": method,
            **({"args": args} if args else {}),
        }

    def _authenticate(
        self,
        auth: At,
        args: JsonObject,
        headers: JsonObject,
        *,
        secrets: dict[str, None],
        said: list[str],
    ) -> None:
        kind = auth.text("auth_type")
        if kind == "api_key":
            name, place = auth.text("var_name") or "X-Api-Key", auth.text("location") or "header"
            value = self._secret(auth.text("api_key"), "API_KEY", secrets, said)
            (headers if place == "header" else args.setdefault(_PLACES.get(place, "query"), {}))[
                name
            ] = value
        elif kind == "basic":
            user, password = (
                self._secret(auth.text(key), key.upper(), secrets, said)
                for key in ("username", "password")
            )
            args["auth"] = {"type": "basic", "username": user, "password": password}
        elif kind == "oauth2":
            args["auth"] = {
                "type": "bearer",
                "token": self._secret("", "ACCESS_TOKEN", secrets, said),
            }
            said.append("it wants an access token of OAuth 2; getting one is not the tool's")
        elif kind:
            raise _Unsaid(f"Vespe does not support its authentication {kind}")

    def _secret(self, text: str, word: str, secrets: dict[str, None], said: list[str]) -> str:
        """Return the slot of a secret; one that stands in the manual is not taken over."""
        if text and _VARIABLE.search(text):
            return self._text(text, secrets)
        name = secret_name(self._kit_id, word)
        if text:
            said.append(
                f"the manual contains the value of {word}, which is not imported: "
                f"store it as the secret {name}"
            )
        secrets[name] = None
        return f"${{env:{name}}}"

    def _text(self, text: str, secrets: dict[str, None]) -> str:
        def secret(found: re.Match[str]) -> str:
            secrets[found[1]] = None
            return f"${{env:{found[1]}}}"

        return _VARIABLE.sub(secret, text)


def _media_type(content_type: str) -> JsonObject:
    return {} if content_type in ("", "application/json") else {"media_type": content_type}


def _tags(at: At) -> list[str]:
    listed = at.get("tags").value
    return (
        [plain(tag) for tag in listed if isinstance(tag, str) and plain(tag)]
        if isinstance(listed, list)
        else []
    )


def _command(template: At, schema: JsonObject) -> JsonObject:
    """Return a shell_command of one command without a shell's characters; every argument is one
    word of its own.
    """
    commands = [at.text("command") for _, at in template.get("commands").items()]
    line = (
        commands[0]
        if len(commands) == 1
        else template.text("command_name") or template.text("command")
    )
    if not line or len(commands) > 1:
        raise _Unsaid(
            "it needs a shell to run several commands, and Vespe does not use one"
            if commands
            else "it names no command"
        )
    names = schema["properties"]
    plain_line = _ARGUMENT.sub("x", line)
    if _SHELL.search(plain_line):
        raise _Unsaid("its command needs a shell, which Vespe does not start")
    try:
        words = [_ARGUMENT.sub(lambda found: f"{{{found[1]}}}", word) for word in shlex.split(line)]
    except ValueError as error:
        raise _Unsaid(f"its command cannot be read: {error}") from None
    if "/" in words[0]:
        raise _Unsaid(
            f"its command {words[0]} is a path, which may not exist on other machines; "
            "a tool can only start a program on PATH"
        )
    argv: list[Any] = words[1:]
    if not commands:
        argv += [[f"--{name}", f"{{{name}}}"] for name in names]
    return {"type": "shell_command", "entrypoint": words[0], "args": {"argv": argv}}


def _why(kind: str) -> str:
    if kind == "mcp":
        return "it is an MCP server's: `vespe kit add-mcp` takes those"
    return f"it is called by {kind or 'an unnamed protocol'}, which Vespe does not support"
