"""Lint rules: what a model is told of a tool and its arguments."""

import re
from collections.abc import Iterator
from typing import Final

from vespe.adapters.limits import limits_on
from vespe.documents.pointers import pointer_to
from vespe.features.lint.base import Found, Subject, rule
from vespe.schemas.explain import short
from vespe.schemas.subschemas import References

FEWEST_WORDS: Final = 3
FEWEST_CHARACTERS: Final = 10
_WORD: Final = re.compile(r"[^\W_]+")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SMALL: Final = frozenset(("a", "an", "the", "of", "to", "in", "for", "this", "tool", "function"))
_FILLER: Final = re.compile(
    r"(?i)(?:todo|tbd|fixme|xxx|n/?a|none|null|description|no description|lorem "
    r"ipsum.*|\.+|-+|string|string\.)\W*"
)


@rule("description-missing", "warning")
def _missing(subject: Subject) -> Iterator[Found]:
    """A tool has no description.

    A model chooses tools by their names, descriptions and schemas.

    Bad: {"name": "get_weather"}
    Good: {"name": "get_weather", "description": "Tell the weather of a city today."}
    """
    if not (subject.description or "").strip():
        said = "description" in subject.pointers
        why = (
            "is empty"
            if subject.description is not None
            else "must be a string"
            if said
            else "is missing"
        )
        yield Found(
            message=f"the description {why}: a model chooses a tool by it",
            part="description" if said else "",
            fix="say in a sentence or two what the tool does, and when to use it",
        )


@rule("description-too-short", "warning")
def _too_short(subject: Subject) -> Iterator[Found]:
    """A description adds nothing to the name.

    If a model does not know when to use a tool, it uses the tool wrongly or not at all.

    Bad: {"name": "get_weather", "description": "Get weather."}
    Good: {"description": "Tell the weather of a city today."}
    """
    text = (subject.description or "").strip()
    if not text:
        return
    told = set(_words(text)) - _SMALL
    if _FILLER.fullmatch(text):
        why = f"{short(text)} says nothing"
    elif told <= set(_words(subject.name or "")) and text.isascii():
        why = f"{short(text)} says no more than the name"
    elif text.isascii() and len(_words(text)) < FEWEST_WORDS and len(text) < FEWEST_CHARACTERS:
        why = f"{short(text)} is too short to choose the tool by"
    else:
        return
    yield Found(
        message=f"the description {why}",
        part="description",
        fix="say what the tool does, what it returns, and when to use it",
    )


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(_HUMP.sub(" ", text))]


@rule("description-too-long", "warning")
def _too_long(subject: Subject) -> Iterator[Found]:
    """A description is too long for some APIs.

    OpenAI's older models and Azure refuse the whole request because of one such description.

    Bad: {"description": "more than 1,024 characters"}
    Good: {"description": "Tell the weather of a city today."}
    """
    length = len(subject.description or "")
    for limit in limits_on("description-length"):
        if length > limit.value:
            yield Found(
                message=f"the description has {length:,} characters, "
                f"and OpenAI has refused more than {limit.words}",
                part="description",
                target=limit.api,
                severity=limit.severity,
                fix="begin with what a model needs to choose the tool, and move the rest to "
                "the arguments' descriptions",
            )


@rule("description-argument-missing", "warning")
def _parameters(subject: Subject) -> Iterator[Found]:
    """An argument has no description.

    A model needs to know the meaning, the unit and the format of each argument.

    Bad: {"city": {"type": "string"}}
    Good: {"city": {"type": "string", "description": "A city's name, such as Oslo."}}
    """
    references = References(subject.input_schema)
    for node in subject.nodes:
        named = node.schema.get("properties")
        for name, argument in (
            named.items() if isinstance(named, dict) and node.part == "input_schema" else ()
        ):
            if isinstance(argument, dict) and not _is_described(argument, references):
                yield Found(
                    message=f"the argument {short(name)} has no description",
                    part="input_schema",
                    pointer=f"{node.pointer}{pointer_to(('properties', name))}",
                    fix="say what it means and in which unit or format, and give an example "
                    "if that is not obvious",
                )


def _is_described(schema: dict[str, object], references: References) -> bool:
    target = references.target(schema["$ref"]) if "$ref" in schema else None
    inner = [schema, *([target] if isinstance(target, dict) else []), *_alternatives(schema)]
    return any(
        isinstance(one.get("description"), str) and str(one["description"]).strip() for one in inner
    )


def _alternatives(schema: dict[str, object]) -> Iterator[dict[str, object]]:
    for keyword in ("anyOf", "oneOf", "allOf"):
        listed = schema.get(keyword)
        yield from (
            (one for one in listed if isinstance(one, dict)) if isinstance(listed, list) else ()
        )
