"""One operation of a description as one http_request tool."""

from dataclasses import dataclass, field
from typing import Any, Final

from vespe.features.imports.made import LeftOut, Made, plain, short
from vespe.features.imports.openapi import names, parameters, servers
from vespe.features.imports.openapi.bodies import Bodies, Body, is_json
from vespe.features.imports.openapi.documents import At, Documents
from vespe.features.imports.openapi.parameters import Parameter
from vespe.features.imports.openapi.schemas import Converted, Schemas, names_in
from vespe.features.imports.openapi.security import Credentials, Security
from vespe.lazy import urls
from vespe.models import JsonObject
from vespe.types.http_request.form import METHODS, OWN_HEADERS

_SCALARS: Final = {"string", "number", "integer", "boolean"}
_IGNORED_HEADERS: Final = frozenset({"accept", "content-type"})
_SECRET_NAMES: Final = frozenset(
    (
        "authorization",
        "proxy-authorization",
        "x-api-key",
        "api-key",
        "apikey",
        "api_key",
        "access_token",
        "access-token",
        "x-auth-token",
        "auth_token",
        "x-access-token",
        "private-token",
    )
)
_MAX_PARAMETERS: Final = 300
_ARGS: Final = {"query": "query", "header": "headers", "cookie": "cookies"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method of one path as the description says it."""

    method: str
    path: str
    item: At
    said: At

    @property
    def source(self) -> str:
        """How people call it: `GET /pets/{id}`."""
        return f"{self.method} {self.path}"

    @property
    def tags(self) -> list[str]:
        """The tags that it bears."""
        listed = self.said.get("tags").value
        return (
            [plain(tag) for tag in listed if isinstance(tag, str) and plain(tag)]
            if isinstance(listed, list)
            else []
        )


@dataclass(slots=True, kw_only=True)
class _Parts:
    """A tool in the making."""

    properties: dict[str, Any] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    converted: list[Converted] = field(default_factory=list)
    args: JsonObject = field(default_factory=dict)
    path_inputs: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, section: str, key: str, value: Any) -> None:
        """Set one member of a section of `args`."""
        self.args.setdefault(section, {})[key] = value


class Builder:
    """Makes the tools of one description."""

    def __init__(self, documents: Documents, *, kit_id: str, server: str | None) -> None:
        self._documents, self._server = documents, server
        self._schemas = Schemas(documents)
        self._security = Security(documents, kit_id)
        self._bodies = Bodies(documents, self._schemas)
        self.secrets: dict[str, str] = {}
        self.urls: list[str] = []
        self.notes: dict[str, None] = {}

    def build(self, operation: Operation, name: str) -> Made | LeftOut:
        """Return the tool of an operation under a name, or why it is none."""
        if operation.method not in METHODS:
            return LeftOut(
                what=operation.source,
                reason=f"Vespe does not support the method {operation.method}",
            )
        server = servers.server_of(
            self._documents,
            levels=(operation.said, operation.item, self._documents.root),
            given=self._server,
        )
        if server.problem:
            return LeftOut(what=operation.source, reason=server.problem)
        parts = _Parts()
        credentials = self._security.of(operation.said)
        found = self._read_parameters(operation, parts)
        if len(found) > _MAX_PARAMETERS:
            return LeftOut(
                what=operation.source,
                reason=f"it has {len(found)} parameters, "
                f"and a tool here has at most {_MAX_PARAMETERS}",
            )
        for one in found:
            self._add_parameter(one, parts, credentials)
        body = self._body(operation)
        if body is not None and body.problem:
            return LeftOut(what=operation.source, reason=body.problem)
        if body is not None:
            self._add_body(body, parts)
        url = server.url + self._path(operation, parts)
        self._credentials(credentials, parts)
        self._accept(operation, parts)
        self.urls.append(server.url)
        if server.note:
            self.notes[server.note] = None
        return self._made(operation, name, url, parts=parts, credentials=credentials)

    def _made(
        self, operation: Operation, name: str, url: str, *, parts: _Parts, credentials: Credentials
    ) -> Made:
        definitions, notes = self._schemas.definitions(names_in(parts.converted))
        schema: JsonObject = {"type": "object", "properties": parts.properties}
        if parts.required:
            schema["required"] = list(dict.fromkeys(parts.required))
        schema["additionalProperties"] = False
        if definitions:
            schema["$defs"] = definitions
        said = [note for one in parts.converted for note in one.notes]
        text = _text(operation)
        document: JsonObject = {
            "name": name,
            "description": short(text) or f"{operation.source} of this API.",
            "schema": {"input": schema},
            "implementation_details": {
                "type": "http_request",
                "path": url,
                "entrypoint": operation.method,
                "args": parts.args,
            },
            "tags": list(dict.fromkeys(operation.tags)),
            "secrets": sorted(credentials.secrets),
            "annotations": _annotations(operation),
        }
        self.secrets |= credentials.secrets
        return Made(
            document={key: value for key, value in document.items() if value or key == "schema"},
            source=operation.source,
            long_text=text if len(text) > len(str(document["description"])) else "",
            notes=tuple(dict.fromkeys((*parts.notes, *credentials.notes, *said, *notes))),
        )

    # Parameters

    def _read_parameters(self, operation: Operation, parts: _Parts) -> list[Parameter]:
        found, notes = parameters.parameters(self._documents, operation.item, operation.said)
        parts.notes += notes
        in_path = list(parameters.names_in_path(operation.path))
        kept = []
        for one in found:
            if one.place == "path" and one.name not in in_path:
                parts.notes.append(
                    f"the parameter {one.name} is declared as part of the path, but the path does "
                    "not contain it"
                )
            else:
                kept.append(one)
        described = {one.name for one in kept if one.place == "path"}
        bare = [
            Parameter(
                name=name,
                place="path",
                schema=At({"type": "string"}, ""),
                required=True,
                style={},
                scalar={},
            )
            for name in in_path
            if name not in described
        ]
        parts.notes += [
            f"{one.name} in the path is not described, so it is a string" for one in bare
        ]
        return [*bare, *kept]

    def _add_parameter(self, one: Parameter, parts: _Parts, credentials: Credentials) -> None:
        """Make a parameter an input, or a secret."""
        header = one.name.lower() if one.place == "header" else ""
        if header in _IGNORED_HEADERS:
            return  # the specification says so: they are what the body and the answers say
        if self._is_secret(one, credentials):
            self._as_secret(one, parts, credentials)
            return
        if header in OWN_HEADERS:
            parts.notes.append(
                f"the header {one.name} belongs to the connection, so a tool cannot set it"
            )
            return
        if one.note:
            parts.notes.append(f"the parameter {one.name}: {one.note}")
        converted = self._schemas.convert(one.schema)
        name = names.input_name(one.name, one.place, parts.properties)
        parts.properties[name] = _described(converted.schema, one.description)
        parts.converted.append(converted)
        if one.required:
            parts.required.append(name)
        self._place(one, name, parts)

    def _place(self, one: Parameter, name: str, parts: _Parts) -> None:
        slot = f"{{{name}}}"
        if one.place == "path":
            parts.path_inputs[one.name] = name
        elif one.place == "form":
            form = parts.args.setdefault("body", {"form": {}})
            form["form"][one.name] = slot
        elif one.place == "querystring":
            bare = one.media_type.partition(";")[0]
            kind = (
                "form"
                if bare == "application/x-www-form-urlencoded"
                else "json"
                if is_json(bare)
                else "text"
            )
            parts.args["querystring"] = {kind: slot}
            return
        else:
            parts.add(_ARGS[one.place], one.name, slot)
        kinds = self._schemas.kinds(one.schema)
        style = one.scalar if kinds and kinds <= _SCALARS else one.style
        if not style:
            return
        if one.place == "form":
            parts.args["body"].setdefault("encoding", {})[one.name] = style
        else:
            parts.add(
                "styles",
                name,
                {
                    **style,
                    **(
                        {"name": one.name}
                        if style.get("style") == "matrix" and one.name != name
                        else {}
                    ),
                },
            )

    def _is_secret(self, one: Parameter, credentials: Credentials) -> bool:
        """Whether a parameter is a credential that a description forgot to call one: a model is no
        place for it.
        """
        if one.place not in ("header", "query", "form", "cookie"):
            return False
        name = one.name.lower()
        if name in credentials.args.get("headers", {}) or name in _SECRET_NAMES:
            return True
        return name == "token" and "authentication token" in one.description.lower()

    def _as_secret(self, one: Parameter, parts: _Parts, credentials: Credentials) -> None:
        sent = {key.lower() for section in credentials.args.values() for key in section}
        if one.name.lower() in sent or (one.name.lower() == "authorization" and credentials.auth):
            return
        if not one.required:
            parts.notes.append(
                f"the parameter {one.name} is an optional credential, and is not sent"
            )
            return
        slot = self._security.as_secret(credentials, one.name)
        parts.notes.append(
            f"the parameter {one.name} is a credential: it is filled with the secret {slot[6:-1]}"
        )
        if one.place == "form":
            parts.args.setdefault("body", {"form": {}})["form"][one.name] = slot
        else:
            parts.add(_ARGS[one.place], one.name, slot)

    # The rest of the request

    def _body(self, operation: Operation) -> Body | None:
        if self._documents.root.get("swagger").value is None:
            return self._bodies.of(operation.said)
        parameter = parameters.body_parameter(self._documents, operation.item, operation.said)
        consumes = (
            operation.said.get("consumes").value or self._documents.root.get("consumes").value
        )
        listed = (
            [one for one in consumes if isinstance(one, str)] if isinstance(consumes, list) else []
        )
        return None if parameter is None else self._bodies.older(parameter, listed)

    def _add_body(self, body: Body, parts: _Parts) -> None:
        name = "body" if "body" not in parts.properties else "request_body"
        parts.args["body"] = {
            key: f"{{{name}}}" if value == "{body}" else value
            for key, value in body.content.items()
        }
        parts.properties[name] = _described(body.schema.schema, body.description)
        parts.converted.append(body.schema)
        parts.notes += body.notes
        if body.required:
            parts.required.append(name)

    def _path(self, operation: Operation, parts: _Parts) -> str:
        """Return the path with a slot for each input; a form's own media type is settled here too,
        where all parameters are known.
        """
        self._settle_form(operation, parts)
        path, _, fragment = operation.path.partition("#")
        if fragment:
            parts.notes.append(f"#{fragment} of its path is never sent")
        for name, slot in parts.path_inputs.items():
            path = path.replace(f"{{{name}}}", f"\0{slot}\1")
        path = urls.quote(
            path if path.startswith("/") else f"/{path}", safe="/%:@!$&'()*+,;=~-._?\0\1"
        )
        return path.replace("\0", "{").replace("\1", "}")

    def _settle_form(self, operation: Operation, parts: _Parts) -> None:
        """Make the form of a description before 3.0 one of parts where it has files, or consumes
        nothing else.
        """
        if "form" not in parts.args.get("body", {}) or not isinstance(
            parts.args["body"]["form"], dict
        ):
            return
        consumes = (
            operation.said.get("consumes").value or self._documents.root.get("consumes").value or []
        )
        files = [
            name
            for name, one in parts.properties.items()
            if isinstance(one, dict) and one.get("format") == "binary"
        ]
        if files or (
            "multipart/form-data" in consumes
            and "application/x-www-form-urlencoded" not in consumes
        ):
            body = parts.args["body"]
            body["multipart"] = body.pop("form")
            for key, slot in body["multipart"].items():
                if slot[1:-1] in files:
                    body.setdefault("encoding", {})[key] = {"file": True}

    def _credentials(self, credentials: Credentials, parts: _Parts) -> None:
        for section, members in credentials.args.items():
            for key, value in members.items():
                parts.add(section, key, value)
        if credentials.auth:
            parts.args["auth"] = credentials.auth

    def _accept(self, operation: Operation, parts: _Parts) -> None:
        """Ask for JSON where an answer may come in several ways, and nothing else asks."""
        found: dict[str, None] = {}
        for status, at in operation.said.get("responses").items():
            if str(status).startswith("2") or status == "default":
                found |= {
                    name: None
                    for name, _ in at.get("content").items()
                    if isinstance(at.get("content").value, dict)
                }
        produces = (
            operation.said.get("produces").value or self._documents.root.get("produces").value
        )
        found |= (
            {one: None for one in produces if isinstance(one, str)}
            if isinstance(produces, list)
            else {}
        )
        best = next((one for one in found if is_json(one)), None)
        if best is not None and len(found) > 1 and "Accept" not in parts.args.get("headers", {}):
            parts.add("headers", "Accept", best)


def _described(schema: Any, description: str) -> Any:
    text = short(plain(description), most=400)
    if schema is True:
        schema = {}
    if not text or not isinstance(schema, dict):
        return schema
    own = str(schema.get("description", ""))
    if own and own.lower() not in text.lower():
        text = f"{text} {own}" if len(text) + len(own) < 400 else text
    return {**schema, "description": text}


def _text(operation: Operation) -> str:
    summary, description = (
        plain(operation.said.text("summary")),
        plain(operation.said.text("description")),
    )
    summary = summary or plain(operation.item.text("summary"))
    description = description or ("" if summary else plain(operation.item.text("description")))
    if summary and description and not description.lower().startswith(summary.lower().rstrip(".")):
        made = f"{summary.rstrip('.')}.\n\n{description}"
    else:
        made = description or summary
    return f"Deprecated. {made}".strip() if operation.said.value.get("deprecated") is True else made


def _annotations(operation: Operation) -> JsonObject:
    made: JsonObject = {"openWorldHint": True}
    if operation.method in (
        "GET",
        "HEAD",
        "OPTIONS",
        "TRACE",
        "QUERY",
        "SEARCH",
        "PROPFIND",
        "REPORT",
    ):
        made["readOnlyHint"] = True
    elif operation.method in ("PUT", "DELETE"):
        made["idempotentHint"] = True
    if operation.method == "DELETE":
        made["destructiveHint"] = True
    title = plain(operation.said.text("summary"))
    return {"title": title, **made} if title and len(title) <= 80 and "\n" not in title else made
