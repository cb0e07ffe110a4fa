"""What `implementation_details` of an mcp_tool may be."""

from collections.abc import Iterator
from typing import Any, Final

from vespe.lazy import pattern
from vespe.models import JsonObject
from vespe.schemas import forms
from vespe.schemas.explain import short
from vespe.schemas.forms import DETAILS, Form, Found
from vespe.types.http_request.form import HEADERS, URL, wrong_with_headers, wrong_with_url

_VARIABLE: Final = pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_DIGEST: Final = pattern(r"sha256:[0-9a-f]{64}")


def _entrypoint(value: Any, at: str, name: str) -> Iterator[Found]:
    if not isinstance(value, str) or not value:
        yield DETAILS, "an mcp_tool needs `entrypoint`, the tool's name at the server"


def _no_path(value: Any, at: str, name: str) -> Iterator[Found]:
    if value is not None:
        yield at, "an mcp_tool takes no `path`: `args` says which server it is of"


def _one_server(details: JsonObject, document: JsonObject) -> Iterator[Found]:
    args = details.get("args", {})
    if (args.get("command") is None) == (args.get("url") is None):
        yield (
            forms.arg(),
            "`args` needs `command`, the argv that starts the server, or `url`, where it listens",
        )


def _command(value: Any, at: str, name: str) -> Iterator[Found]:
    if value is not None and not (
        isinstance(value, list)
        and value
        and all(isinstance(word, str) and word and "\0" not in word for word in value)
    ):
        yield at, f"`{name}` must be a list of strings, not {short(value)}"


def _url(value: Any, at: str, name: str) -> Iterator[Found]:
    if value is not None:
        wrong = wrong_with_url(value) if isinstance(value, str) else f"`{name}` must be a URL"
        if wrong:
            yield at, wrong.replace("`path`", f"`{name}`")


def _headers(value: Any, at: str, name: str) -> Iterator[Found]:
    if not isinstance(value, dict) or not all(isinstance(one, str) for one in value.values()):
        yield at, f"`{name}` must be an object of strings"
    else:
        yield from wrong_with_headers(value, at)


def _env(value: Any, at: str, name: str) -> Iterator[Found]:
    if not isinstance(value, dict) or not all(
        _VARIABLE.fullmatch(key) and isinstance(text, str) and "\0" not in text
        for key, text in value.items()
    ):
        yield at, f"`{name}` must be an object of strings by the names of variables"


def _digest(value: Any, at: str, name: str) -> Iterator[Found]:
    if not isinstance(value, str) or not _DIGEST.fullmatch(value):
        yield (
            at,
            f"`{name}` must be `sha256:` and 64 hexadecimal digits: "
            "the definition that was approved",
        )


def _skills(value: Any, at: str, name: str) -> Iterator[Found]:
    if value is not None and not (isinstance(value, dict) and all(map(_is_pinned, value.values()))):
        yield at, f"`{name}` must be the skills that were approved, as `vespe kit add-mcp` writes"


def _is_pinned(skill: Any) -> bool:
    files = skill.get("files") if isinstance(skill, dict) else None
    return (
        isinstance(files, dict)
        and isinstance(skill.get("uri"), str)
        and isinstance(skill.get("frontmatter"), str)
        and all(
            isinstance(file, dict)
            and isinstance(file.get("uri"), str)
            and isinstance(file.get("digest"), str)
            and isinstance(file.get("size"), int)
            for file in files.values()
        )
    )


_TEXT: Final[JsonObject] = {"type": "string"}
_SKILLS: Final[JsonObject] = {
    "type": ["object", "null"],
    "additionalProperties": {
        "type": "object",
        "required": ["uri", "frontmatter", "files"],
        "properties": {
            "uri": _TEXT,
            "frontmatter": _TEXT,
            "files": {
                "type": "object",
                "additionalProperties": {
                    "type": "object",
                    "required": ["uri", "digest", "size"],
                    "properties": {"uri": _TEXT, "digest": _TEXT, "size": {"type": "integer"}},
                },
            },
        },
    },
}


def _stated(key: str) -> JsonObject:
    return {"required": [key], "properties": {key: {"not": {"type": "null"}}}}


FORM: Final = forms.DetailsForm(
    keys={
        "path": Form(_no_path, {"type": "null"}),
        "entrypoint": Form(
            _entrypoint, {"type": "string", "minLength": 1}, "The tool's name at the server."
        ),
    },
    args={
        "command": Form(
            _command,
            {
                "type": ["array", "null"],
                "minItems": 1,
                "items": {"type": "string", "minLength": 1, "pattern": r"^[^\u0000]*$"},
            },
            "The command that starts the server, with its arguments.",
        ),
        "env": Form(
            _env,
            {
                "type": "object",
                "propertyNames": {"pattern": f"^{_VARIABLE.pattern}$"},
                "additionalProperties": {"type": "string", "pattern": r"^[^\u0000]*$"},
            },
            "Environment variables for the server.",
        ),
        "url": Form(
            _url, URL | {"type": ["string", "null"]}, "The URL of a server, instead of a command."
        ),
        "headers": Form(
            _headers,
            HEADERS
            | {"additionalProperties": {"type": "string", **HEADERS["additionalProperties"]}},
            "Headers for the server at `url`, by name.",
        ),
        "digest": Form(
            _digest,
            {"type": "string", "pattern": f"^{_DIGEST.pattern}$"},
            "The digest of the definition that you approved.",
        ),
        "skills": Form(_skills, _SKILLS),
    },
    required=("entrypoint",),
    required_args=("digest",),
    closed=True,
    more=_one_server,
    more_schema={
        "allOf": [
            {
                "required": ["args"],
                "properties": {"args": {"oneOf": [_stated("command"), _stated("url")]}},
            }
        ]
    },
)
