"""How a person is asked on the terminal: one question at a time, whoever asks."""

import select
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from vespe.calls.asking import ACCEPT, CANCEL, DECLINE, Asker, PersonReply, ToolQuestion
from vespe.cli import options, report
from vespe.models import JsonObject, JsonValue
from vespe.schemas import answers
from vespe.schemas.explain import shorten

_LOOK_S: Final = 0.2
_LOCK: Final = threading.Lock()
_YES, _NO = ("y", "yes"), ("n", "no")
_MOST: Final = 60
_SCREEN: Final = 15
"""Lines after which it may be out of sight who asks."""


@contextmanager
def terminal(over: threading.Event | None = None) -> Iterator[bool]:
    """Hold the terminal for one question, and let no line of progress be written over it. Yield
    whether it is still asked: `over` may be set while another question is answered.
    """
    while not _LOCK.acquire(timeout=_LOOK_S):
        if over is not None and over.is_set():
            yield False
            return
    try:
        with report.progress.held():
            yield over is None or not over.is_set()
    finally:
        _LOCK.release()


def read_line(prompt: str, over: threading.Event | None = None) -> str | None:
    """Return what a person types, without the end of the line; None at the end of the input, and as
    soon as `over` is set.
    """
    try:
        # In here too: an answer, or Ctrl-C, may come as soon as the prompt is seen.
        sys.stderr.write(prompt)
        sys.stderr.flush()
        while over is not None and not _is_ready():
            if over.is_set():
                report.say("")
                return None
        line = sys.stdin.readline()
    except KeyboardInterrupt:
        report.say("")  # the prompt and `^C` are on this line
        raise
    if not line:
        report.say("")
        return None
    return line.rstrip("\r\n")


def _is_ready() -> bool:
    """Wait a little for a line on stdin."""
    try:
        return bool(select.select([sys.stdin], [], [], _LOOK_S)[0])
    except (ValueError, OSError):  # no file, as in a notebook: it is read at once
        return True


def asker() -> Asker | None:
    """Return what asks on the terminal what tools ask, or None where nobody can be asked."""
    return answer if options.interactive() else None


def answer(question: ToolQuestion) -> PersonReply:
    """Ask what a tool asks, field by field; a no declines, and the end of the input cancels."""
    with terminal(question.over) as asked:
        if not asked:
            return PersonReply(action=CANCEL)
        said = _asked(question)
        if question.over.is_set():
            report.note(f"the tool {report.one_line(question.tool)} no longer waits for an answer")
        return said


def _asked(question: ToolQuestion) -> PersonReply:
    fields: dict[str, JsonObject] = question.schema["properties"]
    if question.problem:
        report.say(f"That does not fit: {question.problem}")
    else:
        report.say(f"The tool `{report.one_line(question.tool)}` asks:")
        report.say("  " + question.text.replace("\n", "\n  "))
        if question.text.count("\n") > _SCREEN or len(question.text) > _SCREEN * 80:
            report.say(f"This was the question of the tool `{report.one_line(question.tool)}`.")
    agreed = _yes_or_no("Answer it?" if fields else "Do you agree?", question.over)
    if agreed is None:
        return PersonReply(action=CANCEL)
    if not agreed:
        return PersonReply(action=DECLINE)
    content: dict[str, JsonValue] = {}
    for name, field in fields.items():
        value = _Field(name, field, name in question.schema.get("required", ())).ask(question.over)
        if value is _END:
            return PersonReply(action=CANCEL)
        if value is not None:
            content[name] = value
    return PersonReply(action=ACCEPT, content=content)


def _yes_or_no(text: str, over: threading.Event) -> bool | None:
    while True:
        line = read_line(f"{text} [y/n] ", over)
        if line is None:
            return None
        if line.strip().lower() in (*_YES, *_NO):
            return line.strip().lower() in _YES
        report.say("  y answers, n declines")


_END: Final[Any] = object()
_WANTED: Final = {"boolean": "yes or no", "integer": "a whole number", "number": "a number"}
"""What a person is to type where the kind of a field has no word that everybody knows."""


class _Field:
    """One field of a form."""

    def __init__(self, name: str, field: JsonObject, required: bool) -> None:
        self._name, self._field, self._required = name, field, required
        self._choices = answers.choices_of(field)
        self._only: JsonObject = {"type": "object", "properties": {name: field}}

    def ask(self, over: threading.Event) -> Any:
        """Return the value, None for one that is left out, _END at the end of the input."""
        self._show()
        while True:
            line = read_line(f"  {report.one_line(self._name)}: ", over)
            if line is None:
                return _END
            if not line.strip():
                if "default" in self._field or not self._required:
                    return self._field.get("default")
                report.say("  this field is required")
                continue
            value = self._read(line)
            problem = answers.problem_of(self._only, {self._name: value})
            if not problem:
                return value
            kind = self._field["type"]
            is_other = isinstance(value, str) or (kind == "integer" and isinstance(value, float))
            wanted = _WANTED.get(kind) if is_other else None
            report.say(f"  enter {wanted}" if wanted else f"  {problem}")

    def _show(self) -> None:
        field = self._field
        said = [str(field[key]) for key in ("title", "description") if field.get(key)]
        listed = field["type"] == "array"
        kind = "choices, separated by commas" if listed else answers.kind_of(field)
        hints = ["one choice" if self._single() else _WANTED.get(kind, kind)]
        if "default" in field:
            hints.append(f"{report.json_line(field['default'])} if you leave it empty")
        elif not self._required:
            hints.append("may be left empty")
        report.say(
            f"  {report.one_line(self._name)} ({'; '.join(hints)})"
            + (f": {shorten(report.one_line('. '.join(said)), 300)}" if said else "")
        )
        for number, (value, title) in enumerate(self._choices, 1):
            shown = "" if title == value else f"  {report.one_line(str(title))}"
            report.say(f"    {number}  {report.one_line(str(value))}{shown}")

    def _single(self) -> bool:
        return bool(self._choices) and self._field["type"] != "array"

    def _read(self, line: str) -> JsonValue:
        kind, text = self._field["type"], line.strip()
        if kind == "array":
            return [self._chosen(one.strip()) for one in text.split(",") if one.strip()]
        if self._choices:
            return self._chosen(text)
        if kind == "boolean" and text.lower() in (*_YES, *_NO):
            return text.lower() in _YES
        if kind == "string":
            return text if "format" in self._field else line
        return _number(text)

    def _chosen(self, text: str) -> str:
        values = [value for value, _ in self._choices]
        if text not in values and text.isdecimal() and 0 < int(text[:_MOST]) <= len(values):
            return values[int(text) - 1]
        return text


def _number(text: str) -> JsonValue:
    """Return what a text says as a number, else the text itself, which then does not fit."""
    makers: tuple[Callable[[str], JsonValue], ...] = (int, float)
    for make in makers:
        try:
            return make(text[:_MOST])
        except ValueError:
            continue
    return text
