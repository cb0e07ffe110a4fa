"""The options of `vespe tool create` that set keys of config.json."""

import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import click

from vespe import defaults, errors
from vespe.defaults import MAX_TIMEOUT_S
from vespe.documents import strict_json
from vespe.models import JsonObject, JsonValue

F = TypeVar("F", bound=Callable[..., Any])
_HINTS: Final = {
    "read_only": (
        "readOnlyHint",
        "The tool changes nothing, so models may call it without approval.",
    ),
    "destructive": ("destructiveHint", "The tool can delete or overwrite data."),
    "idempotent": (
        "idempotentHint",
        "Repeating a call with the same arguments has no further effect.",
    ),
    "open_world": ("openWorldHint", "The tool reaches other machines."),
}
_OPTIONS: Final = (
    click.option("--description", metavar="TEXT", help="The description that models read."),
    click.option(
        "--schema",
        metavar="FILE|-|JSON",
        help='The JSON Schema of the inputs, or {"input": …, "output": …}.',
    ),
    click.option(
        "--path", metavar="PATH", help="The script or program to copy into the tool, or the URL."
    ),
    click.option(
        "--url",
        metavar="URL",
        help="The URL of an http_request, with {NAME} in place of each input.",
    ),
    click.option(
        "--entrypoint",
        metavar="NAME",
        help="The function, the program on PATH, or the HTTP method.",
    ),
    click.option("--method", metavar="NAME", help="The method of an http_request; default: GET."),
    click.option(
        "--args",
        metavar="JSON",
        help="How the inputs become the command or the request, or fixed arguments of the "
        "function; the model does not see it.",
    ),
    click.option(
        "--secret",
        "secrets",
        metavar="NAME",
        multiple=True,
        help="A secret that the tool needs, such as an API key; repeatable.",
    ),
    *(
        click.option(
            f"--{key.replace('_', '-')}/--not-{key.replace('_', '-')}", default=None, help=text
        )
        for key, (_, text) in _HINTS.items()
    ),
    click.option(
        "--timeout",
        type=click.FloatRange(0, MAX_TIMEOUT_S, min_open=True),
        metavar="SECONDS",
        help="The time limit of a call.",
    ),
    click.option("--tag", "tags", metavar="TEXT", multiple=True, help="A tag; repeatable."),
    click.option(
        "--example",
        "examples",
        metavar="JSON",
        multiple=True,
        help='Arguments, or {"input": …, "output": …}; repeatable.',
    ),
    click.option(
        "--set",
        "more",
        metavar="KEY=JSON",
        multiple=True,
        help="Any key of config.json, such as limits.max_output_bytes=4096.",
    ),
)


_KEYS: Final = {
    "--description": "description=TEXT",
    "--schema": "schema=JSON",
    "--path": "implementation_details.path=PATH",
    "--url": "implementation_details.path=URL",
    "--entrypoint": "implementation_details.entrypoint=NAME",
    "--method": "implementation_details.entrypoint=NAME",
    "--args": "implementation_details.args=JSON",
    "--secret": "secrets='[\"NAME\"]'",
    "--timeout": "limits.timeout_s=SECONDS",
    "--tag": "tags='[\"TEXT\"]'",
    "--example": "examples=JSON",
    "--set": "KEY=VALUE",
    **{
        f"--{wrong}{key.replace('_', '-')}": f"annotations.{name}={value}"
        for key, (name, _) in _HINTS.items()
        for wrong, value in (("", "true"), ("not-", "false"))
    },
}


def assignment_of(option: str) -> str:
    """Return what `vespe tool set` takes in place of an option of `vespe tool create`, "" where
    there is nothing.
    """
    return _KEYS.get(option, "")


def field_options(command: F) -> F:
    """Add the options to a command; their values come as keywords, for `given_fields`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def given_fields(options: Mapping[str, Any]) -> JsonObject:
    """Return what the options set, by the keys that drafts take; raises UsageError for what is not
    what it must be.
    """
    hints = {name: options[key] for key, (name, _) in _HINTS.items() if options[key] is not None}
    fields: JsonObject = {
        "description": options["description"],
        "schema": _schema(options["schema"]),
        "path": _either(options, "path", "url"),
        "entrypoint": _either(options, "entrypoint", "method"),
        "args": None if options["args"] is None else _object(options["args"], "--args"),
        "secrets": list(options["secrets"]) or None,
        "annotations": hints or None,
        "limits": None if options["timeout"] is None else {"timeout_s": _whole(options["timeout"])},
        "tags": list(options["tags"]) or None,
        "examples": [_example(text) for text in options["examples"]] or None,
    }
    for text in options["more"]:
        _set(fields, text)
    return {key: value for key, value in fields.items() if value is not None}


def _either(options: Mapping[str, Any], key: str, other: str) -> str | None:
    if options[key] is not None and options[other] is not None:
        raise errors.UsageError(
            f"--{key} and --{other} mean the same",
            hint=f"for an http_request write --{other} alone",
        )
    value: str | None = options[key] if options[key] is not None else options[other]
    return value


def _whole(seconds: float) -> float:
    return int(seconds) if seconds == int(seconds) else seconds


def _example(text: str) -> JsonObject:
    given = _object(text, "--example")
    return given if isinstance(given.get("input"), dict) else {"input": given}


def _set(fields: JsonObject, text: str) -> None:
    """Set one `KEY=JSON`, where a dot in the key goes into an object."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise errors.UsageError(
            f"--set {text!r} is not KEY=JSON", hint="such as --set limits.timeout_s=5"
        )
    *parents, last = key.split(".")
    inner: Any = fields
    for part in parents:
        if inner.get(part) is None:
            inner[part] = {}
        inner = inner[part]
        if not isinstance(inner, dict):
            raise errors.UsageError(f"--set {key}: `{part}` is not an object")
    try:
        inner[last] = strict_json.parse_json(value, path="--set")
    except errors.InvalidDocument:
        raise errors.UsageError(
            f"--set {key}: {value!r} is not JSON", hint=f"write a string as {last}='\"…\"'"
        ) from None


def _schema(given: str | None) -> JsonValue:
    if given is None:
        return None
    if given == "-":
        return strict_json.parse_object(
            sys.stdin.buffer.read(defaults.MAX_SCHEMA_BYTES + 1),
            path="stdin",
            limit=defaults.MAX_SCHEMA_BYTES,
        )
    if given.lstrip().startswith("{"):
        return _object(given, "--schema")
    if not os.path.exists(given):
        raise errors.UsageError(
            f"there is no file {given}", hint="--schema takes a file, - for stdin, or JSON"
        )
    return strict_json.read_object(given, limit=defaults.MAX_SCHEMA_BYTES)


def _object(given: str, option: str) -> JsonObject:
    try:
        return strict_json.parse_object(given, path=option)
    except errors.InvalidDocument as error:
        raise errors.UsageError(
            f"{option}: the text {error.reason}", hint="write one JSON object"
        ) from None
