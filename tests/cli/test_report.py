"""What is printed is inert, and exact in a pipe."""

import json

import pytest

from tests.support.terminal import on_a_terminal, plain
from vespe.cli import report

NASTY = "a\x1b[31m\u202eb"


def test_json_keeps_its_meaning_while_its_bytes_are_harmless(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report.emit_json({"text": NASTY})
    out = capsys.readouterr().out
    assert "\x1b" not in out and "\u202e" not in out
    assert json.loads(out) == {"text": NASTY}


def test_a_plain_result_is_exact_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    report.emit_result(NASTY)
    report.emit_result("ends with a newline\n")
    report.emit_result({"n": 1})
    assert capsys.readouterr().out == NASTY + "ends with a newline\n" + '{\n  "n": 1\n}\n'


def test_a_result_on_a_terminal_is_inert() -> None:
    assert "\x1b[31m" not in on_a_terminal(
        f"from vespe.cli import report; report.emit_result({NASTY!r})"
    )


def test_an_error_is_coloured_on_a_terminal_unless_no_color_says_otherwise() -> None:
    code = "from vespe.cli import report; report.error('bad')"
    assert "\x1b[31m" in on_a_terminal(code, NO_COLOR="")
    assert "\x1b[" not in on_a_terminal(code, NO_COLOR="1")


def test_the_next_step_is_for_a_person_alone(capsys: pytest.CaptureFixture[str]) -> None:
    report.next_step("do this")
    assert capsys.readouterr().err == ""
    assert (
        on_a_terminal("from vespe.cli import report; report.next_step('do this')")
        == "next: do this\n"
    )


def test_a_result_has_colour_on_a_terminal_and_says_the_same() -> None:
    code = "from vespe.cli import report; report.emit_result({'a': [1, 'x: true', None]})"
    shown = on_a_terminal(code, NO_COLOR="")
    assert '\x1b[34m"a"' in shown and "\x1b[33m1" in shown and '\x1b[32m"x: true"' in shown
    assert json.loads(plain(shown)) == {"a": [1, "x: true", None]}
    assert "\x1b[" not in on_a_terminal(code, NO_COLOR="1")


def test_markdown_is_coloured_on_a_terminal_and_exact_elsewhere(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = "# Title\n\nSay `code`, **strong** and \x1b.\n\n```\n# not a heading\n```"
    report.emit_markdown(text)
    assert capsys.readouterr().out == text.replace("\x1b", "\\x1b") + "\n"
    shown = on_a_terminal(
        f"from vespe.cli import report; report.emit_markdown({text!r})", NO_COLOR=""
    )
    assert (
        "\x1b[1m# Title\x1b[0m" in shown
        and "\x1b[36m`code`\x1b[0m" in shown
        and "\x1b[36m# not a heading" in shown
    )
