"""Lint rules on names: of the tool, and of its inputs."""

import re
from collections.abc import Iterator
from typing import Final

from vespe.features.lint.base import Found, Subject, rule
from vespe.schemas.explain import describe, short
from vespe.tools.names import NAME_PATTERN

_ALPHABET: Final = re.compile(r"[A-Za-z0-9_-]+")
_MCP: Final = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_ODD_INPUT: Final = re.compile(r"[\s\x00-\x1f\x7f]")
_SAYS_NOTHING: Final = (
    "tool",
    "function",
    "func",
    "run",
    "do",
    "execute",
    "action",
    "call",
    "main",
    "test",
    "foo",
    "process",
    "handler",
)
_CASES: Final = (
    re.compile(r"[a-z0-9]+(_[a-z0-9]+)+"),
    re.compile(r"[a-z]+[0-9]*([A-Z][a-z0-9]*)+"),
    re.compile(r"[a-z0-9]+(-[a-z0-9]+)+"),
)
_STYLES: Final = ("snake_case", "camelCase", "kebab-case")


@rule("naming-missing", "error")
def _missing(subject: Subject) -> Iterator[Found]:
    """A tool has no name.

    Models call a tool by its name. No API accepts a tool without one.

    Bad: {"description": "Read a file."}
    Good: {"name": "read_file", "description": "Read a file."}
    """
    inner = (
        subject.document.get("function", subject.document)
        if isinstance(subject.document, dict)
        else {}
    )
    if subject.name is None:
        given = isinstance(inner, dict) and "name" in inner
        yield Found(
            part="name",
            message=f"`name` must be a string, not {describe(inner['name'])}"
            if given
            else "has no `name`, by which models call it",
            fix="give a name of letters, digits, _ and -",
        )
    elif not subject.name.strip():
        yield Found(
            part="name", message="`name` is empty", fix="give a name of letters, digits, _ and -"
        )


@rule("naming-characters", "error")
def _characters(subject: Subject) -> Iterator[Found]:
    """A name has invalid characters or is too long.

    Vespe and the model APIs accept letters, digits, _ and -, at most 64 characters. For definitions
    in an API's own format, that API's portability rules are used instead.

    Bad: "name": "math.factorial"
    Good: "name": "math_factorial"
    """
    name = subject.name
    if not name or not name.strip():
        return
    if subject.api == "vespe" and not NAME_PATTERN.fullmatch(name):
        message = (
            "`name` must be a letter or _, then at most 63 letters, digits, _ or -; "
            f"it is {short(name)}"
        )
        yield Found(part="name", message=message, fix=f"call it {short(_mended(name))}")
    elif subject.api == "bare" and (odd := _odd(name)):
        yield Found(
            part="name",
            message=f"{short(name)} contains {odd}: model APIs allow letters, digits, _ and - "
            "in a tool's name",
            fix=f"call it {short(_mended(name))}",
        )
    elif subject.api == "bare" and len(name) > 64:
        yield Found(
            part="name",
            message=f"`name` has {len(name)} characters; model APIs allow 64",
            fix="give it a shorter name",
        )
    elif subject.api == "mcp" and not _MCP.fullmatch(name):
        yield Found(
            part="name",
            message=f"{short(name)} is not a name that MCP allows: at most 128 letters, digits, _, "
            "- and .",
            fix=f"call it {short(_mended(name))}",
            severity="warning",
        )


def _odd(name: str) -> str:
    return " ".join(dict.fromkeys(short(c) for c in name if not _ALPHABET.fullmatch(c)))


def _mended(name: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_")[:64] or "tool"
    return plain if NAME_PATTERN.fullmatch(plain) else f"_{plain}"[:64]


@rule("naming-vague", "warning")
def _vague(subject: Subject) -> Iterator[Found]:
    """A name is too vague.

    Models choose tools by their names first.

    Bad: "name": "run"
    Good: "name": "run_query"
    """
    if subject.name and subject.name.lower() in _SAYS_NOTHING:
        yield Found(
            part="name",
            message=f"{short(subject.name)} does not say what the tool does",
            fix="use a verb and its object as the name",
        )


def _inputs(subject: Subject) -> Iterator[tuple[str, str]]:
    """Return each input's name with the pointer to it."""
    properties = (
        subject.input_schema.get("properties") if isinstance(subject.input_schema, dict) else None
    )
    for name in properties if isinstance(properties, dict) else ():
        yield name, "/properties/" + name.replace("~", "~0").replace("/", "~1")


@rule("naming-input", "warning")
def _input_name(subject: Subject) -> Iterator[Found]:
    """An input's name is empty or contains white space.

    Models drop or change such characters, and most programming languages do not allow them in
    names.

    Bad: {"properties": {"file name": {}}}
    Good: {"properties": {"file_name": {}}}
    """
    for name, at in _inputs(subject):
        if not name or _ODD_INPUT.search(name):
            yield Found(
                part="input_schema",
                pointer=at,
                message=f"an input is named {short(name)}, which is empty or contains white space",
                fix="use only letters, digits and _",
            )


@rule("naming-clash", "warning")
def _clash(subject: Subject) -> Iterator[Found]:
    """The names of two inputs differ only in case or underscores.

    Models confuse such names.

    Bad: {"properties": {"userId": {}, "user_id": {}}}
    Good: {"properties": {"user_id": {}, "owner_id": {}}}
    """
    seen: dict[str, str] = {}
    for name, at in _inputs(subject):
        plain = re.sub(r"[_-]", "", name).lower()
        if plain in seen:
            yield Found(
                part="input_schema",
                pointer=at,
                message=f"the inputs {short(seen[plain])} and {short(name)} differ only in "
                "case or underscores",
                fix="give one of them another name",
            )
        seen.setdefault(plain, name)


@rule("naming-mixed", "info")
def _mixed(subject: Subject) -> Iterator[Found]:
    """The names of inputs follow different conventions.

    A model that has seen `user_id` is likely to write `page_size` instead of `pageSize`.

    Bad: {"properties": {"user_id": {}, "pageSize": {}}}
    Good: {"properties": {"user_id": {}, "page_size": {}}}
    """
    styles: dict[str, str] = {}
    for name, _ in _inputs(subject):
        style = next(
            (style for style, case in zip(_STYLES, _CASES, strict=True) if case.fullmatch(name)),
            None,
        )
        if style:
            styles.setdefault(style, name)
    if len(styles) > 1:
        named = " and ".join(f"{short(name)} ({style})" for style, name in styles.items())
        yield Found(
            part="input_schema",
            message=f"the names of the inputs follow different conventions: {named}",
            fix="use one convention for all of them",
        )
