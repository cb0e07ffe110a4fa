"""What is printed is inert; a table is a table on a terminal only."""

import json
import os
import pty
import re
import subprocess
import sys

import pytest

from vespe.cli import report

NASTY = "a\x1b[31m\u202eb"


def test_json_keeps_its_meaning_while_its_bytes_are_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    report.emit_json({"text": NASTY})
    out = capsys.readouterr().out
    assert "\x1b" not in out and "\u202e" not in out
    assert json.loads(out) == {"text": NASTY}


def test_a_table_in_a_pipe_is_tab_separated_lines_without_a_header(capsys: pytest.CaptureFixture[str]) -> None:
    report.table(("A", "B"), [("one", None), ("tab\there", NASTY)])
    assert capsys.readouterr().out == "one\t\ntab\\there\ta\\x1b[31m\\u202eb\n"


def test_a_plain_result_is_exact_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    report.emit_result(NASTY)
    report.emit_result("ends with a newline\n")
    report.emit_result({"n": 1})
    assert capsys.readouterr().out == NASTY + "ends with a newline\n" + '{\n  "n": 1\n}\n'


def on_a_terminal(code: str, **env: str) -> str:
    """Run Python with its output on a real pseudo-terminal of 80 columns."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": "80", "TERM": "xterm", **env}
    with subprocess.Popen([sys.executable, "-c", code], stdout=theirs, stdin=theirs, stderr=theirs, env=environment):
        os.close(theirs)
        output = b""
        try:
            while chunk := os.read(ours, 65536):
                output += chunk
        except OSError:
            pass  # the other end is closed
    os.close(ours)
    return output.decode("utf-8")


def test_a_table_on_a_terminal_has_a_header_and_fits_its_width() -> None:
    shown = on_a_terminal(f"from vespe.cli import report; report.table(('NAME', 'WHAT'), [('x', 'word ' * 60), ('[b]y', {NASTY!r})])")
    assert "NAME" in shown and "[b]y" in shown and "\\x1b[31m" in shown
    assert max(map(len, re.sub(r"\x1b\[[0-9;]*m", "", shown).splitlines())) <= 80


def test_a_long_table_is_plain_columns() -> None:
    shown = on_a_terminal("from vespe.cli import report; report.table(('NAME', 'N'), [(f'n{i}', i) for i in range(300)])")
    assert shown.splitlines()[0].split() == ["NAME", "N"] and len(shown.splitlines()) == 301


def test_a_result_on_a_terminal_is_inert() -> None:
    assert "\x1b[31m" not in on_a_terminal(f"from vespe.cli import report; report.emit_result({NASTY!r})")


def test_an_error_is_coloured_on_a_terminal_unless_no_color_says_otherwise() -> None:
    code = "from vespe.cli import report; report.error('bad')"
    assert "\x1b[31m" in on_a_terminal(code, NO_COLOR="")
    assert "\x1b[" not in on_a_terminal(code, NO_COLOR="1")


def test_a_table_that_leaves_its_last_column_no_room_gives_each_row_lines_of_its_own() -> None:
    code = "from vespe.cli import report; report.table(('A', 'B', 'C'), [('a' * 30, 'b' * 30, 'the reason why it is so')])"
    shown = on_a_terminal(code).splitlines()
    assert shown == [f"{'a' * 30}  {'b' * 30}", "    the reason why it is so"]


def test_a_table_of_one_line_a_row_ends_a_long_cell_with_an_ellipsis() -> None:
    code = "from vespe.cli import report; report.table(('A', 'B'), [('a', 'word ' * 60)], one_line=True)"
    shown = re.sub(r"\x1b\[[0-9;]*m", "", on_a_terminal(code)).splitlines()
    assert len(shown) == 3 and shown[2].endswith("…") and len(shown[2]) <= 80
