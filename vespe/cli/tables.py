"""Rows as a person or a script reads them: laid out on a terminal, tab-separated lines in a
pipe.
"""

import sys
from collections.abc import Iterable, Sequence
from typing import Any, Final

import click

from vespe.cli import report
from vespe.documents.escaping import inert_line
from vespe.lazy import rich_console, rich_table, rich_text

_READABLE: Final = 28
"""The least width in which a long text can be read."""
_GAP: Final = 2
_RICH_ROWS: Final = 200
"""Past this many rows a laid-out table costs seconds: plain columns are printed instead."""
_AT_ONCE: Final = 500
"""Lines printed in one go: one by one 10,000 of them take a quarter of a second."""
_STYLES: Final = {
    **dict.fromkeys(("active", "available", "selected", "ok", "allowed", "new"), "green"),
    **dict.fromkeys(("broken", "unusable", "denied", "breaking", "ambiguous"), "red"),
    **dict.fromkeys(("shadowed", "inactive", "hidden"), "dim"),
    **dict.fromkeys(("!", "waiting", "pending", "changed"), "yellow"),
}
"""How a cell looks that is just this word."""


def show(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    text: int = -1,
    one_line: bool = False,
    headed: bool = False,
) -> None:
    """Print rows: a table on a terminal, lines of tab-separated cells in a pipe, under the header
    there only where it is `headed`.

    Where the terminal is too narrow, the column `text` gives way: it is folded, or with `one_line`
    cut with an ellipsis. All other cells (names, ids, commands) are always whole. Without rows
    nothing is printed.
    """
    cells = [["" if cell is None else inert_line(str(cell)) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        lines = ["\t".join(row) for row in ([columns, *cells] if headed else cells)]
        for start in range(0, len(lines), _AT_ONCE):
            click.echo("\n".join(lines[start : start + _AT_ONCE]))
    elif len(cells) > _RICH_ROWS:
        _columns([list(columns), *cells])
    elif cells:
        _laid_out(columns, cells, text=text % len(columns), one_line=one_line)


def _columns(rows: list[list[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        )


def _laid_out(columns: Sequence[str], rows: list[list[str]], *, text: int, one_line: bool) -> None:
    console = rich_console.Console(highlight=False, markup=False, emoji=False)
    widths = [
        max(rich_text.Text(cell).cell_len for cell in column)
        for column in zip(columns, *rows, strict=True)
    ]
    numbers = {
        index
        for index, column in enumerate(columns)
        if column != "ID" and all(row[index].isdecimal() for row in rows)
    }
    others = sum(widths) - widths[text] + _GAP * (len(widths) - 1)
    if others + min(widths[text], _READABLE) > console.width:
        _record_heading(columns, text)
        for row in rows:
            # A number says nothing alone: its column's name stands before it.
            _record(
                console,
                [
                    f"{columns[index].lower()} {cell}" if index in numbers else cell
                    for index, cell in enumerate(row)
                ],
                text,
            )
        return
    grid = rich_table.Table(
        box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style=_style("bold")
    )
    for index, column in enumerate(columns):
        whole = index != text
        justify: Any = "right" if whole and index in numbers else "left"
        width = widths[index] if whole else min(widths[index], console.width - others)
        grid.add_column(
            column,
            no_wrap=whole or one_line,
            overflow="ellipsis" if one_line else "fold",
            width=width,
            justify=justify,
        )
    for row in rows:
        grid.add_row(*map(_styled, row))
    with console.capture() as printed:
        console.print(grid)
    click.echo("\n".join(line.rstrip() for line in printed.get().splitlines()), color=True)


def _record_heading(columns: Sequence[str], text: int) -> None:
    """Print the columns' names as the rows below have their cells."""
    short = "  ".join(name for index, name in enumerate(columns) if index != text)
    for line in (short, f"    {columns[text]}"):
        click.echo(click.style(line, bold=True) if report.is_coloured(sys.stdout) else line)


def _record(console: Any, row: list[str], text: int) -> None:
    """Print a row that has no room side by side: its short cells on one line, and the long one
    below.
    """
    short = [_styled(cell) for index, cell in enumerate(row) if index != text and cell]
    short[:1] = [rich_text.Text(row[0], style=_style("bold"))] if text else short[:1]
    console.print(rich_text.Text("  ").join(short), soft_wrap=True)
    if row[text]:
        lines = rich_text.Text(row[text]).wrap(console, max(console.width - 4, _READABLE))
        click.echo("\n".join(f"    {line.plain.rstrip()}" for line in lines))


def _styled(cell: str) -> Any:
    return rich_text.Text(cell, style=_style(_STYLES.get(cell, "")))


def _style(name: str) -> str:
    return name if report.is_coloured(sys.stdout) else ""
