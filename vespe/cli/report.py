"""What a person or a script sees: sentences on stderr, data on stdout; tables and colour on a terminal only."""

import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from vespe import documents
from vespe.deferred import deferred
from vespe.escaping import inert, inert_json, inert_line
from vespe.models import JsonValue

if TYPE_CHECKING:
    import rich.box as rich_box
    import rich.console as rich_console
    import rich.table as rich_table
    import rich.text as rich_text
else:
    rich_box = deferred("rich.box")
    rich_console = deferred("rich.console")
    rich_table = deferred("rich.table")
    rich_text = deferred("rich.text")

_LAST_COLUMN: Final = 24
"""The least width of a table's last column, which holds the long text."""
_RICH_ROWS: Final = 200
"""Past this many rows a laid-out table costs seconds: plain columns are printed instead."""


def note(text: str) -> None:
    """Say something to the person, on stderr."""
    click.echo(f"vespe: {inert(text)}", err=True, color=_coloured(sys.stderr))


def say(text: str) -> None:
    """Confirm what was done, on stderr."""
    click.echo(inert(text), err=True)


def warn(text: str) -> None:
    """Warn the person, on stderr."""
    label = click.style("warning:", fg="yellow")
    click.echo(f"vespe: {label} {inert(text)}", err=True, color=_coloured(sys.stderr))


def error(message: str, hint: str = "") -> None:
    """Say what is wrong and what to do about it, on stderr."""
    label = click.style("error:", fg="red", bold=True)
    click.echo(f"vespe: {label} {inert(message)}", err=True, color=_coloured(sys.stderr))
    if hint:
        click.echo(f"  hint: {inert(hint)}", err=True)


def emit_json(document: JsonValue) -> None:
    """Print one JSON document on stdout; characters that could mislead a terminal stand as `\\uXXXX`."""
    click.echo(inert_json(documents.dump_json(document)), nl=False)


def emit(text: str) -> None:
    """Print a line of data on stdout, inert."""
    click.echo(inert(text), color=_coloured(sys.stdout))


def one_line(text: str) -> str:
    """Make a text inert and fit for one line: line ends and tabs are escaped too."""
    return inert_line(text)


def json_line(value: JsonValue) -> str:
    """Give a value as one inert line of JSON."""
    return inert_line(documents.compact_json(value))


def emit_result(result: JsonValue) -> None:
    """Print a tool's result: a string as it is, anything else as JSON; exact in a pipe, inert and a whole line on a terminal."""
    text = documents.repair_surrogates(result) if isinstance(result, str) else documents.dump_json(result)
    if sys.stdout.isatty():
        text = inert(text)
        text += "" if text.endswith("\n") else "\n"
    click.echo(text, nl=False, color=True)


def count(number: int, noun: str) -> str:
    """Give a number with its noun: `1 tool`, `2 tools`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, one_line: bool = False) -> None:
    """Print rows: a table on a terminal, lines of tab-separated cells, without the header, in a pipe.

    `one_line` cuts the last cell of a table at the terminal's width, with an ellipsis; else it is folded.
    """
    cells = [["" if cell is None else inert_line(str(cell)) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        for row in cells:
            click.echo("\t".join(row))
    elif len(cells) > _RICH_ROWS:
        _columns([list(columns), *cells])
    else:
        _rich_table(columns, cells, one_line=one_line)


def _columns(rows: list[list[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _rich_table(columns: Sequence[str], rows: list[list[str]], *, one_line: bool) -> None:
    """Lay a table out where its last column keeps room to be read in; else give each row lines of its own."""
    console = rich_console.Console(no_color=not _coloured(sys.stdout), highlight=False, markup=False, emoji=False)
    widths = [max(len(cell) for cell in column) for column in zip(columns, *rows, strict=True)]
    if sum(widths[:-1]) + 2 * len(widths[:-1]) + min(widths[-1], _LAST_COLUMN) > console.width:
        for row in rows:
            click.echo("  ".join(row[:-1]) + f"\n    {row[-1]}")
        return
    grid = rich_table.Table(box=rich_box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for index, column in enumerate(columns):
        last = index == len(columns) - 1
        grid.add_column(column, overflow="ellipsis" if one_line else "fold", no_wrap=one_line or not last)
    for row in rows:
        grid.add_row(*(rich_text.Text(cell) for cell in row))
    console.print(grid)


def _coloured(stream: Any) -> bool:
    return bool(stream.isatty()) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
