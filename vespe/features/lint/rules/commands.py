"""Lint rules: what can go wrong in the commands and requests of Vespe's own tools."""

import re
from collections.abc import Iterator
from typing import Any, Final

from vespe.documents.pointers import pointer_to
from vespe.features.lint.base import Found, Subject, rule
from vespe.schemas.explain import short
from vespe.tools import templates
from vespe.tools.templates import Slot

_ARGS: Final = "/implementation_details/args"
_PROBES: Final = ("-", "-x", "--x", "-rf", "--output=x", "-1")
_LOCAL: Final = re.compile(
    r"http://(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?:[:/?#]|$)", re.IGNORECASE
)
_OTHER_WAYS: Final = re.compile(
    r"\$\{(?:ENV|Env|env[.\s]|secret[s]?[.:])[^}]*\}|\{\{\s*(?:env|secrets?)[.:][^}]*\}\}|\$\{[A-Z][A-Z0-9_]{2,}\}|%[A-Z][A-Z0-9_]{2,}%"
)
_IN_A_SHELL: Final = ("sh", "bash", "dash", "zsh", "ksh", "fish", "cmd", "powershell", "pwsh")


def _details(subject: Subject, kind: str | None = None) -> dict[str, Any]:
    details = (
        subject.document.get("implementation_details")
        if isinstance(subject.document, dict) and subject.api == "vespe"
        else None
    )
    return details if isinstance(details, dict) and kind in (None, details.get("type")) else {}


def _args(details: dict[str, Any]) -> dict[str, Any]:
    args = details.get("args")
    return args if isinstance(args, dict) else {}


@rule("safety-argv-option", "warning")
def _options(subject: Subject) -> Iterator[Found]:
    """An argument of a command can become an option.

    A value such as --output=x is an option to the program. Vespe refuses such a call, even where
    the value is right.

    Bad: {"argv": ["{file}"]}
    Good: {"argv": ["--", "{file}"]}
    """
    # An element that begins with an input can begin with a dash, unless a `--` stands before it.
    argv = _args(_details(subject, "shell_command")).get("argv")
    names = templates.input_names(subject.input_schema)
    for at, element in _elements(argv, f"{_ARGS}/argv"):
        if element == "--":
            return
        first = next(iter(templates.parse(element, names).pieces), None)
        if isinstance(first, Slot) and _can_begin_with_a_dash(_schema_of(subject, first.name)):
            yield Found(
                message=f"a value of {short(first.name)} that begins with a dash would be an "
                "option, so calls with one are refused",
                pointer=at,
                fix=f'put "--" before it, or write "--name={{{first.name}}}" as one element, '
                "or allow no dash by a `pattern`",
            )


def _elements(argv: Any, at: str) -> Iterator[tuple[str, str]]:
    for index, item in enumerate(argv) if isinstance(argv, list) else ():
        if isinstance(item, str):
            yield f"{at}/{index}", item
        else:
            yield from _elements(item, f"{at}/{index}")


def _schema_of(subject: Subject, name: str) -> Any:
    schema = subject.input_schema
    named = schema.get("properties") if isinstance(schema, dict) else None
    found = named.get(name) if isinstance(named, dict) else None
    items = found.get("items") if isinstance(found, dict) and found.get("type") == "array" else None
    return items if isinstance(items, dict) else found


def _can_begin_with_a_dash(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return True
    fixed = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if isinstance(fixed, list):
        return any(str(value).startswith("-") for value in fixed)
    if schema.get("type") == "boolean":
        return False
    if schema.get("type") in ("integer", "number"):
        least = schema.get("minimum", schema.get("exclusiveMinimum"))
        return not (isinstance(least, (int, float)) and least >= 0)
    return not _pattern_forbids_it(schema.get("pattern"))


def _pattern_forbids_it(pattern: Any) -> bool:
    """Whether a pattern lets through none of some texts that begin with a dash."""
    try:
        return (
            isinstance(pattern, str)
            and pattern.startswith("^")
            and not any(re.search(pattern, probe) for probe in _PROBES)
        )
    except (re.error, RecursionError, OverflowError):
        return False


@rule("safety-shell", "warning")
def _shell(subject: Subject) -> Iterator[Found]:
    """An input becomes part of a shell's program.

    A shell runs what its text says, so that a value with ; or $( in it runs other programs.

    Bad: {"entrypoint": "sh", "argv": ["-c", "wc -l {file}"]}
    Good: {"entrypoint": "wc", "argv": ["-l", "--", "{file}"]}
    """
    details = _details(subject, "shell_command")
    elements = list(_elements(_args(details).get("argv"), f"{_ARGS}/argv"))
    if details.get("entrypoint") not in _IN_A_SHELL or not any(
        re.fullmatch(r"-[a-z]*c|/[cC]|-[Cc]ommand", text) for _, text in elements
    ):
        return
    names = templates.input_names(subject.input_schema)
    for at, element in elements:
        for slot in templates.parse(element, names).slots:
            fix = "call the program itself, with each input as an element of its own"
            yield Found(
                message=f"the input {short(slot)} becomes part of a shell's program, "
                "which runs what it says",
                pointer=at,
                fix=fix,
            )


@rule("safety-plain-http", "warning")
def _plain_http(subject: Subject) -> Iterator[Found]:
    """A request goes over plain http.

    Whoever is on the way reads and changes what is sent and what comes back.

    Bad: {"path": "http://api.example.org/v1"}
    Good: {"path": "https://api.example.org/v1"}
    """
    path = _details(subject, "http_request").get("path")
    if isinstance(path, str) and path.lower().startswith("http://") and not _LOCAL.match(path):
        yield Found(
            message="the request goes over plain http: anyone on the way reads and changes it, "
            "its secrets too",
            pointer="/implementation_details/path",
            fix="write https://",
        )


@rule("safety-literal-secret", "warning")
def _literals(subject: Subject) -> Iterator[Found]:
    """What looks like a secret's place is not one, or others can see it.

    Only ${env:NAME} in `args` is replaced; other spellings are passed on. A command line is public
    on its machine.

    Bad: {"headers": {"Authorization": "Bearer ${API_KEY}"}}
    Good: {"headers": {"Authorization": "Bearer ${env:API_KEY}"}}
    """
    details = _details(subject)
    for at, text in _strings(_args(details), _ARGS):
        for place in _OTHER_WAYS.finditer(text):
            fix = "write ${env:NAME}, and name it in `secrets`"
            yield Found(
                message=f"{short(place[0])} is not replaced by anything: "
                "it is passed on as it stands",
                pointer=at,
                fix=fix,
            )
        if (
            details.get("type") == "shell_command"
            and at.startswith(f"{_ARGS}/argv")
            and templates.parse(text, ()).secrets
        ):
            fix = "the program's environment has the declared secrets: let it read the variable"
            yield Found(
                message="a secret in argv can be seen by every user of the machine, "
                "in the list of processes",
                pointer=at,
                fix=fix,
            )
    for key in ("examples", "limits", "title"):
        document = subject.document if isinstance(subject.document, dict) and details else {}
        for at, text in _strings(document.get(key), f"/{key}"):
            if "${env:" in text:
                message = (
                    "`${env:NAME}` is replaced in `implementation_details.args` alone: "
                    "here it is passed on as it stands"
                )
                yield Found(message=message, pointer=at, fix="write the value that is meant")


@rule("safety-unused-secret", "warning")
def _unused_secrets(subject: Subject) -> Iterator[Found]:
    """A declared secret is not used.

    Trust grants every declared secret; one that is not needed is a risk for nothing.

    Bad: {"secrets": ["API_KEY"], "implementation_details": {"args": {}}}
    Good: {"secrets": []}
    """
    details = _details(subject, "http_request")
    declared = (
        subject.document.get("secrets") if details and isinstance(subject.document, dict) else None
    )
    used = {
        name
        for _, text in _strings(_args(details), _ARGS)
        for name in templates.parse(text, ()).secrets
    }
    for index, name in enumerate(declared) if isinstance(declared, list) else ():
        if isinstance(name, str) and name not in used:
            yield Found(
                message=f"the secret {short(name)} is declared, and the request does not use it",
                pointer=f"/secrets/{index}",
                fix=f"take it out, or write ${{env:{name}}} where it belongs",
            )


def _strings(value: Any, at: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _strings(item, f"{at}{pointer_to((key,))}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _strings(item, f"{at}/{index}")
