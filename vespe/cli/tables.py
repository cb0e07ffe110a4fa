"""Rows as a person or a script reads them: laid out on a terminal, tab-separated lines in a pipe."""

import sys
from collections.abc import Iterable, Sequence
from typing import Any, Final

import click

from vespe.cli import report
from vespe.cli.escaping import inert_line
from vespe.lazy import rich_box, rich_console, rich_table, rich_text

_LAST_COLUMN: Final = 24
"""The least width of a table's last column, which holds the long text."""
_RICH_ROWS: Final = 200
"""Past this many rows a laid-out table costs seconds: plain columns are printed instead."""


def show(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, one_line: bool = False) -> None:
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
    console = rich_console.Console(no_color=not report.coloured(sys.stdout), highlight=False, markup=False, emoji=False)
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
