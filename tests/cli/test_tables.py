"""A table is a table on a terminal only, and loses nothing at its width."""

import re

import pytest

from tests.support.terminal import on_a_terminal, plain
from vespe.cli import tables

NASTY = "a\x1b[31m\u202eb"


def test_a_table_in_a_pipe_is_tab_separated_lines_without_a_header(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tables.show(("A", "B"), [("one", None), ("tab\there", NASTY)])
    assert capsys.readouterr().out == "one\t\ntab\\there\ta\\x1b[31m\\u202eb\n"


def test_a_table_on_a_terminal_has_a_header_and_fits_its_width() -> None:
    shown = on_a_terminal(
        "from vespe.cli import tables; tables.show(('NAME', 'WHAT'), [('x', 'word ' * 60), "
        f"('[b]y', {NASTY!r})])"
    )
    assert "NAME" in shown and "[b]y" in shown and "\\x1b[31m" in shown
    assert max(map(len, re.sub(r"\x1b\[[0-9;]*m", "", shown).splitlines())) <= 80


def test_a_long_table_is_plain_columns() -> None:
    shown = on_a_terminal(
        "from vespe.cli import tables; tables.show(('NAME', 'N'), [(f'n{i}', "
        "i) for i in range(300)])"
    )
    assert shown.splitlines()[0].split() == ["NAME", "N"] and len(shown.splitlines()) == 301


def test_a_table_that_leaves_its_last_column_no_room_gives_each_row_lines_of_its_own_under_its_headings() -> (
    None
):
    code = (
        "from vespe.cli import tables; tables.show(('A', 'B', 'C'), [('a' * 30, 'b' * 30, "
        "'the reason why it is so')])"
    )
    shown = on_a_terminal(code).splitlines()
    assert shown == ["A  B", "    C", f"{'a' * 30}  {'b' * 30}", "    the reason why it is so"]


def test_a_number_in_a_line_of_its_own_says_what_it_counts() -> None:
    code = (
        "from vespe.cli import tables; tables.show(('KIT', 'TOOLS', 'WHY'), [('k' * 60, 12, "
        "'the reason why it is so')])"
    )
    assert plain(on_a_terminal(code)).splitlines()[2] == f"{'k' * 60}  tools 12"


@pytest.mark.parametrize("columns", [60, 80, 100, 200])
def test_the_long_text_gives_way_and_names_stay_whole(columns: int) -> None:
    code = (
        "from vespe.cli import tables; tables.show(('NAME', 'TAKES', 'FROM'), "
        "ROWS, text=1, one_line=True)"
    ).replace("ROWS", "[('a_name', 'x=1, ' * 60, 'some_kit')]")
    shown = plain(on_a_terminal(code, columns=columns)).splitlines()
    assert (
        len(shown) == 2
        and re.fullmatch(r"a_name .*…  some_kit", shown[1])
        and len(shown[1]) <= columns
    )


def test_numbers_are_aligned_at_their_right() -> None:
    shown = plain(
        on_a_terminal(
            "from vespe.cli import tables; tables.show(('N', 'WHAT'), [(5, 'five'), (500, 'more')])"
        )
    )
    assert shown == "  N  WHAT\n  5  five\n500  more\n"


def test_no_rows_show_no_header() -> None:
    assert on_a_terminal("from vespe.cli import tables; tables.show(('NAME', 'WHAT'), [])") == ""
