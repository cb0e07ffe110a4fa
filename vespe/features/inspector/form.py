"""A tool's inputs as the fields of a form, and a form's fields as arguments."""

from collections.abc import Iterable, Mapping
from typing import Final

from vespe.cli import signature
from vespe.cli.tool.arguments import parse_typed
from vespe.cli.tool.show import kind
from vespe.documents import strict_json
from vespe.models import JsonObject, JsonValue, Tool
from vespe.records import dataclass

PREFIX: Final = "in:"
WHOLE: Final = "whole"
_LINE: Final = ("pattern", "format", "const")
_SHORT: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One input: `control` is `choice`, `number`, `line` or `text`; `value` is what stands in it,
    `problem` what is wrong with that.
    """

    name: str
    control: str
    kind: str
    about: str
    required: bool
    default: str
    choices: tuple[str, ...]
    value: str
    problem: str


def fields_of(
    tool: Tool, values: Mapping[str, str], violations: Iterable[Mapping[str, str]] = ()
) -> list[Field]:
    """Return the fields for a tool's inputs, with what was typed and what was wrong with it; the
    required ones come first.
    """
    wrong: dict[str, str] = {}
    for violation in violations:
        name = violation.get("pointer", "").split("/")[1:2]
        for key in name:
            wrong.setdefault(
                key.replace("~1", "/").replace("~0", "~"), violation.get("message", "")
            )
    return [
        Field(
            name=name,
            control=_control(facts),
            kind=kind(facts),
            about=str(facts.get("description", "")),
            required=needed,
            default=strict_json.compact_json(facts["default"]) if "default" in facts else "",
            choices=tuple(
                signature.plain(value) for value in signature.choices(facts) if value is not None
            ),
            value=values.get(name, ""),
            problem=wrong.get(name, ""),
        )
        for name, facts, needed in signature.inputs(tool.input_schema)
    ]


def typed_in(form: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return what was typed, by the name of the input; browsers end lines with CR LF, and tools
    expect LF.
    """
    return {
        key.removeprefix(PREFIX): value.replace("\r\n", "\n")
        for key, value in form
        if key.startswith(PREFIX)
    }


def arguments_of(tool: Tool, fields: Mapping[str, str]) -> JsonObject:
    """Return the arguments: each field as the schema reads it, as `vespe tool run KEY=VALUE` does.
    An empty field is left out.
    """
    schemas = {name: facts for name, facts, _ in signature.inputs(tool.input_schema)}
    return {
        name: parse_typed(text, schemas.get(name, {}), tool.input_schema)
        for name, text in fields.items()
        if text
    }


def texts_of(arguments: JsonValue) -> dict[str, str]:
    """Return what would be typed into the fields for these arguments: those of an example, or of an
    earlier call.
    """
    return (
        {key: signature.plain(value) for key, value in arguments.items()}
        if isinstance(arguments, dict)
        else {}
    )


def _control(facts: JsonObject) -> str:
    if signature.choices(facts):
        return "choice"
    if facts.get("type") in ("integer", "number"):
        return "number"
    length = facts.get("maxLength")
    is_short = isinstance(length, int) and length <= _SHORT
    return (
        "line"
        if facts.get("type") == "string" and (is_short or any(key in facts for key in _LINE))
        else "text"
    )
