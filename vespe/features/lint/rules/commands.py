"""Lint rules: what can go wrong in the commands and requests of Vespe's own tools."""

import re
from collections.abc import Iterator
from typing import Any, Final

from vespe.documents.pointers import pointer_to
from vespe.features.lint.base import Found, Subject, rule
from vespe.features.lint.type_remarks import remarks_of
from vespe.schemas.explain import short

_ARGS: Final = "/implementation_details/args"
_OTHER_WAYS: Final = re.compile(
    r"\$\{(?:ENV|Env|env[.\s]|secret[s]?[.:])[^}]*\}|\{\{\s*(?:env|secrets?)[.:][^}]*\}\}|\$\{[A-Z][A-Z0-9_]{2,}\}|%[A-Z][A-Z0-9_]{2,}%"
)


def _details(subject: Subject) -> dict[str, Any]:
    details = (
        subject.document.get("implementation_details")
        if isinstance(subject.document, dict) and subject.api == "vespe"
        else None
    )
    return details if isinstance(details, dict) else {}


def _args(details: dict[str, Any]) -> dict[str, Any]:
    args = details.get("args")
    return args if isinstance(args, dict) else {}


@rule("safety-argv-option", "warning")
def _options(subject: Subject) -> Iterator[Found]:
    """An argument of a command could be read as an option.

    A program reads a value such as --output=x as an option. Vespe refuses calls with such values,
    even if the value is intended. Put `--` before the argument to allow them.

    Bad: {"argv": ["{file}"]}
    Good: {"argv": ["--", "{file}"]}
    """
    return remarks_of(subject, "safety-argv-option")


@rule("safety-shell", "warning")
def _shell(subject: Subject) -> Iterator[Found]:
    """An input becomes part of a shell command.

    A value that contains ; or $( makes the shell run other programs.

    Bad: {"entrypoint": "sh", "argv": ["-c", "wc -l {file}"]}
    Good: {"entrypoint": "wc", "argv": ["-l", "--", "{file}"]}
    """
    return remarks_of(subject, "safety-shell")


@rule("safety-plain-http", "warning")
def _plain_http(subject: Subject) -> Iterator[Found]:
    """A request uses plain HTTP.

    Others on the network can read and change the request and the response.

    Bad: {"path": "http://api.example.org/v1"}
    Good: {"path": "https://api.example.org/v1"}
    """
    return remarks_of(subject, "safety-plain-http")


@rule("safety-literal-secret", "warning")
def _literals(subject: Subject) -> Iterator[Found]:
    """A placeholder for a secret has the wrong form, or its value would be visible to others.

    Only ${env:NAME} in `args` is replaced; other spellings are passed on unchanged. On a command
    line, a secret is visible to all users of the machine.

    Bad: {"headers": {"Authorization": "Bearer ${API_KEY}"}}
    Good: {"headers": {"Authorization": "Bearer ${env:API_KEY}"}}
    """
    details = _details(subject)
    for at, text in _strings(_args(details), _ARGS):
        for place in _OTHER_WAYS.finditer(text):
            fix = "write ${env:NAME}, and name it in `secrets`"
            yield Found(
                message=f"{short(place[0])} is not replaced: it is passed on unchanged",
                pointer=at,
                fix=fix,
            )
    yield from remarks_of(subject, "safety-literal-secret")
    for key in ("examples", "limits", "title"):
        document = subject.document if isinstance(subject.document, dict) and details else {}
        for at, text in _strings(document.get(key), f"/{key}"):
            if "${env:" in text:
                message = (
                    "`${env:NAME}` is only replaced in `implementation_details.args`; here it "
                    "is passed on unchanged"
                )
                yield Found(message=message, pointer=at, fix="write the intended value")


@rule("safety-unused-secret", "warning")
def _unused_secrets(subject: Subject) -> Iterator[Found]:
    """A declared secret is not used.

    An approval gives the tool every secret that it declares. A secret that it does not use is an
    unnecessary risk.

    Bad: {"secrets": ["API_KEY"], "implementation_details": {"args": {}}}
    Good: {"secrets": []}
    """
    return remarks_of(subject, "safety-unused-secret")


def _strings(value: Any, at: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _strings(item, f"{at}{pointer_to((key,))}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _strings(item, f"{at}/{index}")
