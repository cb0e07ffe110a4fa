"""A question about a call in words that a person can answer, the same at every door: what would
happen, why it is asked, and where the values come from.
"""

from collections.abc import Iterator
from typing import Final

from vespe import defaults
from vespe.calls.policy import Question
from vespe.calls.previews import Preview
from vespe.documents import strict_json
from vespe.documents.escaping import inert, inert_json, inert_line
from vespe.files.digests import sha256
from vespe.models import JsonValue, Tool
from vespe.records import dataclass

_SHORT: Final = 60
_LONG: Final = 1000
_HEAD: Final = 400
_MOST_LINES: Final = 40
_MOST_TEXT: Final = 4000
_ABOUT: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionText:
    """A question in parts, all inert: the sentence that says `what` would run, `about` the tool in
    its own words, the `arguments` as lines, the `previews` with their titles, and `why` somebody
    has to say yes. `cut` tells that a value or a preview is shown in part; `whole` has all of it.
    `program` is the line of the model's program that makes the call, "" where none does.
    """

    what: str
    about: str
    arguments: tuple[str, ...]
    previews: tuple[tuple[str, str], ...]
    why: str
    cut: bool
    whole: str
    program: str = ""

    def as_text(self) -> str:
        """Return the question as one text, for whoever has no screen of their own for it."""
        parts = [f"{self.what}.{self.about and ' '}{self.about}"]
        if self.arguments:
            parts.append("\n".join(f"  {line}" for line in self.arguments))
        parts += [f"{title}:\n{_indented(text)}" for title, text in self.previews]
        if self.program:
            parts.append(f"It is called by a program of the model, {self.program}")
        parts.append(f"You are asked because {self.why}.")
        return "\n\n".join(parts)


def question_text(question: Question) -> QuestionText:
    """Say a question in words. A long value is shortened, with its size and digest, so that it
    hides no other.
    """
    tool = question.tool
    cut = False
    arguments = []
    instead = {name for one in question.previews for name in one.instead_of}
    for name, value in question.inputs.items():
        text, shortened = _value(value)
        if name in instead and isinstance(value, str) and ("\n" in value or len(value) > _SHORT):
            digest = f", SHA-256 {_digest(value)}" if len(value) > _LONG else ""
            text, shortened = f"{len(value):,} characters{digest}, shown below", False
        cut = cut or shortened
        origin = question.origins.get(name)
        arguments.append(
            f"{inert_line(name)}: {text}{f'  ({inert_line(origin)})' if origin else ''}"
        )
    previews = []
    for one in question.previews:
        text, shortened = _preview(one)
        cut = cut or shortened
        previews.append((inert_line(one.title), text))
    return QuestionText(
        what=f"`{inert_line(tool.name)}` would run ({_scope(tool)})",
        about=_about(tool),
        arguments=tuple(arguments),
        previews=tuple(previews),
        why=inert_line(question.why),
        cut=cut,
        whole="\n\n".join(_whole(question)),
        program=inert_line(question.program),
    )


def _whole(question: Question) -> Iterator[str]:
    tool = question.tool
    if description := tool.description.strip():
        yield f"Description of {inert_line(tool.name)}:\n{_indented(inert(description))}"
    if tool.directory:
        yield f"It is in {inert_line(tool.directory)}"
    arguments = inert_json(strict_json.dump_json(question.inputs).rstrip("\n"))
    yield f"All arguments:\n{_indented(arguments)}"
    for one in question.previews:
        yield f"{inert_line(one.title)}:\n{_indented(inert(one.text))}"


def _scope(tool: Tool) -> str:
    if tool.scope in ("", defaults.PROJECT_TOOLS):
        return "a tool of this project"
    if tool.scope == defaults.PROGRAM:
        return "a function of this program"
    return f"a tool of the kit {inert_line(tool.scope)}"


def _about(tool: Tool) -> str:
    """Return the first sentence of what the tool says of itself."""
    first = tool.description.strip().split("\n\n")[0]
    said = inert_line(" ".join(first.split()).partition(". ")[0])
    if not said:
        return ""
    said = said if len(said) <= _ABOUT else f"{said[:_ABOUT]}…"
    return f"Its description: {said.rstrip('.')}."


def _value(value: JsonValue) -> tuple[str, bool]:
    """Return a value as it is shown first: compact JSON, so that no string looks like another
    value; of a long one its beginning, its size and its digest.
    """
    text = value if isinstance(value, str) else strict_json.compact_json(value)
    if len(text) <= _LONG:
        return inert_json(strict_json.compact_json(value)), False
    head = inert_json(strict_json.compact_json(text[:_HEAD]))
    if not isinstance(value, str):
        head = inert_line(text[:_HEAD])
    left = f"{len(text) - _HEAD:,} more characters, SHA-256 of all {_digest(text)}"
    return f"{head} … and {left}", True


def _digest(text: str) -> str:
    return f"{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}…"


def _preview(one: Preview) -> tuple[str, bool]:
    text = inert(one.text)
    lines = text.split("\n")
    if len(lines) <= _MOST_LINES and len(text) <= _MOST_TEXT:
        return text, False
    shown = "\n".join(lines[:_MOST_LINES])[:_MOST_TEXT]
    left = len(lines) - shown.count("\n") - 1
    return f"{shown}\n… and {left:,} more lines" if left else f"{shown} …", True


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))
