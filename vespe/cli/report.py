"""What a person or a script sees: sentences on stderr, data on stdout; tables and colour on a terminal only."""

import os
import re
import sys
from typing import Any, Final

import click

from vespe.cli.escaping import inert, inert_json, inert_line
from vespe.documents import strict_json
from vespe.lazy import pattern
from vespe.models import JsonValue

_JSON: Final = pattern(r'("(?:[^"\\]|\\.)*")(?=:)|("(?:[^"\\]|\\.)*")|(-?\d[\d.eE+-]*|true|false|null)')


def note(text: str) -> None:
    """Say something to the person, on stderr."""
    click.echo(f"vespe: {inert(text)}", err=True, color=coloured(sys.stderr))


def say(text: str) -> None:
    """Confirm what was done, on stderr."""
    click.echo(inert(text), err=True)


def next_step(text: str) -> None:
    """Say on a terminal what a person does next, on stderr."""
    if sys.stderr.isatty():
        click.echo(f"{click.style('next:', fg='green')} {inert(text)}", err=True, color=coloured(sys.stderr))


def warn(text: str) -> None:
    """Warn the person, on stderr."""
    label = click.style("warning:", fg="yellow")
    click.echo(f"vespe: {label} {inert(text)}", err=True, color=coloured(sys.stderr))


def error(message: str, hint: str = "") -> None:
    """Say what is wrong and what to do about it, on stderr."""
    label = click.style("error:", fg="red", bold=True)
    click.echo(f"vespe: {label} {inert(message)}", err=True, color=coloured(sys.stderr))
    if hint:
        name = click.style("tip:", fg="green") if hint.startswith("did you mean") else click.style("hint:", fg="cyan")
        click.echo(f"  {name} {inert(hint)}", err=True, color=coloured(sys.stderr))


def emit_json(document: JsonValue) -> None:
    """Print one JSON document on stdout; characters that could mislead a terminal stand as `\\uXXXX`."""
    click.echo(inert_json(strict_json.dump_json(document)), nl=False)


def emit(text: str) -> None:
    """Print a line of data on stdout, inert."""
    click.echo(inert(text), color=coloured(sys.stdout))


def one_line(text: str) -> str:
    """Make a string inert and fit for one line: line ends and tabs are escaped too."""
    return inert_line(text)


def json_line(value: JsonValue) -> str:
    """Return a value as one inert line of JSON."""
    return inert_line(strict_json.compact_json(value))


def emit_result(result: JsonValue) -> None:
    """Print a tool's result: a string as it is, anything else as JSON; exact in a pipe, inert and a whole line on a terminal."""
    text = strict_json.repair_surrogates(result) if isinstance(result, str) else strict_json.dump_json(result)
    if sys.stdout.isatty():
        text = inert(text)
        text += "" if text.endswith("\n") else "\n"
        text = text if isinstance(result, str) or not coloured(sys.stdout) else _coloured_json(text)
    click.echo(text, nl=False, color=True)


def _coloured_json(text: str) -> str:
    """Colour the keys, strings and other scalars of a JSON document."""

    def styled(found: re.Match[str]) -> str:
        key, string, other = found.groups()
        return click.style(key, fg="blue") if key else click.style(string, fg="green") if string else click.style(other, fg="yellow")

    return _JSON.sub(styled, text)


def count(number: int, noun: str) -> str:
    """Return a number with its noun: `1 tool`, `2 tools`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def coloured(stream: Any) -> bool:
    """Whether a stream takes colour: a terminal that is not dumb, where nobody said NO_COLOR."""
    return bool(stream.isatty()) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
