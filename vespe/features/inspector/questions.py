"""What a tool asks while it runs, as the fields of a form, and what was sent as the answer."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from vespe.calls.asking import ToolQuestion
from vespe.documents import strict_json
from vespe.features.inspector.form import PREFIX
from vespe.models import JsonObject, JsonValue
from vespe.records import dataclass
from vespe.schemas import answers

_TYPES: Final = {"email": "email", "uri": "url", "date": "date"}
"""What browsers help with, by the format of a text."""
_NUMBERS: Final = ("integer", "number")


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionField:
    """One field of an answer: `control` is `choice`, `choices` or `line`, and `input` the type of a
    line. `values` are those that stand in it.
    """

    name: str
    control: str
    input: str
    kind: str
    about: str
    required: bool
    choices: tuple[tuple[str, str], ...]
    values: tuple[str, ...]


def fields_of(
    question: ToolQuestion, values: Mapping[str, Sequence[str]]
) -> tuple[QuestionField, ...]:
    """Return the fields of a question, with what was typed before or the defaults."""
    needed = question.schema.get("required", ())
    return tuple(
        _field(name, facts, name in needed, values.get(name))
        for name, facts in question.schema["properties"].items()
    )


def typed_in(form: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return what was typed or chosen, by the name of the field."""
    found: dict[str, list[str]] = {}
    for key, value in form:
        if key.startswith(PREFIX):
            found.setdefault(key.removeprefix(PREFIX), []).append(value.replace("\r\n", "\n"))
    return found


def content_of(question: ToolQuestion, values: Mapping[str, Sequence[str]]) -> JsonObject:
    """Return the answer that was typed; an empty field is left out. What does not fit stays as it
    was typed, for `answers.problem_of` to say so.
    """
    content: JsonObject = {}
    for name, facts in question.schema["properties"].items():
        given = [value for value in values.get(name, ()) if value]
        if facts["type"] == "array":
            content |= {name: list(given)} if given or "default" not in facts else {}
        elif given:
            content[name] = _read(facts, given[0])
    return content


def _field(
    name: str, facts: JsonObject, required: bool, given: Sequence[str] | None
) -> QuestionField:
    listed, choices = facts["type"] == "array", tuple(answers.choices_of(facts))
    if facts["type"] == "boolean":
        choices = (("true", "yes"), ("false", "no"))
    if given is None:
        default: Any = facts.get("default")
        several = default if listed and isinstance(default, list) else [default]
        given = [_plain(value) for value in several if value is not None]
    return QuestionField(
        name=name,
        control="choices" if listed else "choice" if choices else "line",
        input="text" if choices else _TYPES.get(str(facts.get("format")), "text"),
        kind="choices" if listed else "one choice" if choices else answers.kind_of(facts),
        about=". ".join(str(facts[key]) for key in ("title", "description") if facts.get(key)),
        required=required,
        choices=choices,
        values=tuple(given),
    )


def _read(facts: JsonObject, text: str) -> JsonValue:
    if facts["type"] == "boolean":
        return {"true": True, "false": False}.get(text, text)
    if facts["type"] in _NUMBERS:
        makers: tuple[type[int] | type[float], ...] = (int, float)
        for make in makers:
            try:
                return make(text.strip()[:60])
            except ValueError:
                continue
    return text


def _plain(value: JsonValue) -> str:
    return value if isinstance(value, str) else strict_json.compact_json(value)
