"""What a person or a script sees: sentences on stderr, data on stdout; tables and colour on a
terminal only.
"""

import os
import re
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import click

from vespe.cli.wrapping import wrap
from vespe.documents import strict_json
from vespe.documents.escaping import inert, inert_json, inert_line
from vespe.errors import without_passwords
from vespe.lazy import pattern
from vespe.models import JsonValue

_JSON: Final = pattern(
    r'("(?:[^"\\]|\\.)*")(?=:)|("(?:[^"\\]|\\.)*")|(-?\d[\d.eE+-]*|true|false|null)'
)

_MARKS: Final = pattern(
    r"(?P<code>`[^`]+`)|(?P<strong>\*\*[^*]+\*\*)|(?P<link>\[[^\]]+\]\([^)]+\))"
)
_LOOKS: Final[Mapping[str, Mapping[str, Any]]] = {
    "code": {"fg": "cyan"},
    "strong": {"bold": True},
    "link": {"underline": True},
}
_CLEAR: Final = "\r\x1b[K"


class _Progress:
    """The line of progress that stands on stderr; whatever else is said clears it first."""

    def __init__(self) -> None:
        self._lock, self._stands = threading.RLock(), False
        self._held = 0

    def show(self, text: str) -> None:
        """Write the line in the place of the one before; "" clears it."""
        with self._lock:
            if text and self._held:
                return
            if text or self._stands:
                sys.stderr.write(_CLEAR + text)
                sys.stderr.flush()
            self._stands = bool(text)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Show no line while a person is asked: it would be written over the prompt."""
        with self._lock:
            self.show("")
            self._held += 1
        try:
            yield
        finally:
            self._held -= 1

    def echo(self, text: str, **how: Any) -> None:
        """Say something that is not progress."""
        with self._lock:
            self.show("")
            click.echo(text, **how)


progress: Final = _Progress()


def note(text: str) -> None:
    """Say something to the person, on stderr."""
    _sentence(f"vespe: {inert(without_passwords(text))}")


def say(text: str) -> None:
    """Confirm what was done, on stderr."""
    _sentence(inert(text))


def next_step(text: str) -> None:
    """Say on a terminal what a person does next, on stderr."""
    if sys.stderr.isatty():
        _sentence(f"{click.style('next:', fg='green')} {inert(text)}")


def further(text: str, *, when: bool = True) -> None:
    """Say on a terminal, below what was cut for it, how to see the rest, on stderr."""
    if when and sys.stdout.isatty():
        note(text)


def warn(text: str) -> None:
    """Warn the person, on stderr."""
    label = click.style("warning:", fg="yellow")
    _sentence(f"vespe: {label} {inert(without_passwords(text))}")


def error(message: str, hint: str = "") -> None:
    """Say what is wrong and what to do about it, on stderr."""
    label = click.style("error:", fg="red", bold=True)
    _sentence(f"vespe: {label} {inert(without_passwords(message))}")
    if hint:
        name = (
            click.style("tip:", fg="green")
            if hint.startswith("did you mean")
            else click.style("hint:", fg="cyan")
        )
        _sentence(f"  {name} {inert(without_passwords(hint))}")


def _sentence(text: str) -> None:
    """Say what is inert and styled already, on stderr, between whose words a terminal's lines may
    break.
    """
    progress.echo(wrap(text, sys.stderr), err=True, color=is_coloured(sys.stderr))


def emit_json(document: JsonValue) -> None:
    """Print one JSON document on stdout; characters that could mislead a terminal stand as
    `\\uXXXX`.
    """
    click.echo(inert_json(strict_json.dump_json(document)), nl=False)


def emit(text: str) -> None:
    """Print a line of data on stdout, inert."""
    progress.echo(inert(text), color=is_coloured(sys.stdout))


def emit_sentence(text: str, *, hanging: int | None = 2) -> None:
    """Print sentences on stdout, inert; a terminal's lines are broken between words. See
    `wrap`.
    """
    emit_styled(wrap(inert(text), sys.stdout, hanging=hanging))


def emit_styled(text: str) -> None:
    """Print a line that the caller has made inert and styled itself."""
    progress.echo(text, color=is_coloured(sys.stdout))


def emit_markdown(text: str) -> None:
    """Print Markdown on stdout as it is written; on a terminal with its headings, code and emphasis
    coloured.
    """
    fenced = False
    for line in inert(text).splitlines():
        fence = line.lstrip().startswith("```")
        if fence or fenced:
            line = click.style(line, fg="cyan")
        elif line.startswith("#"):
            line = click.style(line, bold=True)
        else:
            line = _MARKS.sub(
                lambda found: click.style(found[0], **_LOOKS[found.lastgroup or ""]), line
            )
        fenced ^= fence
        emit_styled(line)


def one_line(text: str) -> str:
    """Make a string inert and fit for one line: line ends and tabs are escaped too."""
    return inert_line(text)


def json_line(value: JsonValue) -> str:
    """Return a value as one inert line of JSON."""
    return inert_line(strict_json.compact_json(value))


def emit_result(result: JsonValue) -> None:
    """Print a tool's result: a string as it is, anything else as JSON; exact in a pipe, inert and a
    whole line on a terminal.
    """
    text = (
        strict_json.repair_surrogates(result)
        if isinstance(result, str)
        else strict_json.dump_json(result)
    )
    if sys.stdout.isatty():
        text = inert(text)
        text += "" if text.endswith("\n") else "\n"
        text = (
            text if isinstance(result, str) or not is_coloured(sys.stdout) else _coloured_json(text)
        )
    click.echo(text, nl=False, color=True)


def _coloured_json(text: str) -> str:
    """Colour the keys, strings and other scalars of a JSON document."""

    def styled(found: re.Match[str]) -> str:
        key, string, other = found.groups()
        return (
            click.style(key, fg="blue")
            if key
            else click.style(string, fg="green")
            if string
            else click.style(other, fg="yellow")
        )

    return _JSON.sub(styled, text)


def count(number: int, noun: str) -> str:
    """Return a number with its noun: `1 tool`, `2 tools`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def is_coloured(stream: Any) -> bool:
    """Whether a stream takes colour: a terminal that is not dumb, where nobody said NO_COLOR."""
    return (
        bool(stream.isatty())
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM") != "dumb"
    )
