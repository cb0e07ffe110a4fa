"""Lint rules on names: of the tool, and of its inputs."""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from vespe.features.lint.base import Found, Rule, Subject
from vespe.schemas.explain import describe, short
from vespe.tools.directory import NAME_PATTERN

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


def _missing(subject: Subject) -> Iterator[Found]:
    inner = (
        subject.document.get("function", subject.document)
        if isinstance(subject.document, dict)
        else {}
    )
    if subject.name is None:
        given = isinstance(inner, dict) and "name" in inner
        yield Found(
            part="name",
            message=f"`name` must be a text, not {describe(inner['name'])}"
            if given
            else "has no `name`, which is what a model calls",
            fix="give a name of letters, digits, _ and -",
        )
    elif not subject.name.strip():
        yield Found(
            part="name", message="`name` is empty", fix="give a name of letters, digits, _ and -"
        )


def _characters(subject: Subject) -> Iterator[Found]:
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
            message=f"{short(name)} holds {odd}: model APIs allow letters, digits, "
            "_ and - in a tool's name",
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


def _vague(subject: Subject) -> Iterator[Found]:
    if subject.name and subject.name.lower() in _SAYS_NOTHING:
        yield Found(
            part="name",
            message=f"{short(subject.name)} says nothing of what the tool does",
            fix="name it by a verb and what it is done to",
        )


def _inputs(subject: Subject) -> Iterator[tuple[str, str]]:
    """Return each input's name with the pointer to it."""
    properties = (
        subject.input_schema.get("properties") if isinstance(subject.input_schema, dict) else None
    )
    for name in properties if isinstance(properties, dict) else ():
        yield name, "/properties/" + name.replace("~", "~0").replace("/", "~1")


def _input_name(subject: Subject) -> Iterator[Found]:
    for name, at in _inputs(subject):
        if not name or _ODD_INPUT.search(name):
            yield Found(
                part="input_schema",
                pointer=at,
                message=f"an input is called {short(name)}, with white space or nothing in it",
                fix="name it by letters, digits and _",
            )


def _clash(subject: Subject) -> Iterator[Found]:
    seen: dict[str, str] = {}
    for name, at in _inputs(subject):
        plain = re.sub(r"[_-]", "", name).lower()
        if plain in seen:
            yield Found(
                part="input_schema",
                pointer=at,
                message=f"the inputs {short(seen[plain])} and {short(name)} are told "
                "apart by case or _ alone",
                fix="give one of them another name",
            )
        seen.setdefault(plain, name)


def _mixed(subject: Subject) -> Iterator[Found]:
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
            message=f"the inputs are written in several ways: {named}",
            fix="write all of them in one way",
        )


def _rule(
    code: str,
    severity: Any,
    title: str,
    check: Callable[[Subject], Iterator[Found]],
    *,
    why: str,
    examples: tuple[str, str],
) -> Rule:
    return Rule(
        code=code,
        family="naming",
        severity=severity,
        title=title,
        rationale=why,
        bad=examples[0],
        good=examples[1],
        check=check,
    )


RULES: Final[tuple[Rule, ...]] = (
    _rule(
        "naming-missing",
        "error",
        "A tool has no name",
        _missing,
        why="The name is what a model calls; no API takes a tool without one.",
        examples=(
            '{"description": "Read a file."}',
            '{"name": "read_file", "description": "Read a file."}',
        ),
    ),
    _rule(
        "naming-characters",
        "error",
        "A name holds characters, or is of a length, that is refused",
        _characters,
        why="Vespe and the model APIs take letters, digits, _ and -; 64 characters at most. "
        "Definitions in an API's own shape are"
        " judged by that API's portability rules.",
        examples=('"name": "math.factorial"', '"name": "math_factorial"'),
    ),
    _rule(
        "naming-vague",
        "warning",
        "A name says nothing",
        _vague,
        why="A model chooses by name first.",
        examples=('"name": "run"', '"name": "run_query"'),
    ),
    _rule(
        "naming-input",
        "warning",
        "An input's name holds white space, or nothing",
        _input_name,
        why="Models drop or change such characters, and no programming language can write them.",
        examples=('{"properties": {"file name": {}}}', '{"properties": {"file_name": {}}}'),
    ),
    _rule(
        "naming-clash",
        "warning",
        "Two inputs that case or underscores alone tell apart",
        _clash,
        why="A model mixes them up.",
        examples=(
            '{"properties": {"userId": {}, "user_id": {}}}',
            '{"properties": {"user_id": {}, "owner_id": {}}}',
        ),
    ),
    _rule(
        "naming-mixed",
        "info",
        "Inputs are written in several ways",
        _mixed,
        why="A model that has seen `user_id` will write `page_size` where the "
        "schema says `pageSize`.",
        examples=(
            '{"properties": {"user_id": {}, "pageSize": {}}}',
            '{"properties": {"user_id": {}, "page_size": {}}}',
        ),
    ),
)
