"""A line of progress is for a person who waits, and is gone afterwards."""

from pathlib import Path

import pytest

from tests.support.ondisk import python_tool
from tests.support.terminal import on_a_terminal, vespe_on_a_terminal
from vespe.cli.waiting import waiting

CODE = (
    "import time; from vespe.cli.waiting import waiting\nwith waiting('asking the server'): "
    "time.sleep({})\nprint('done')"
)


def test_what_takes_long_is_shown_with_its_seconds_and_cleared() -> None:
    shown = on_a_terminal(CODE.format(0.9), NO_COLOR="")
    assert "\r\x1b[Kasking the server 0." in shown and shown.endswith("\r\x1b[Kdone\n")


def test_what_is_over_at_once_or_goes_to_a_file_shows_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert on_a_terminal(CODE.format(0), NO_COLOR="") == "done\n"
    with waiting("asking"):
        pass
    assert capsys.readouterr().err == ""


def test_a_failure_clears_the_line_and_goes_on_up() -> None:
    with pytest.raises(ValueError, match="odd"), waiting("asking"):
        raise ValueError("odd")


def test_what_is_said_meanwhile_stands_on_lines_of_its_own() -> None:
    said = (
        "tell('half'); time.sleep(0.7); report.say('a word'); report.emit('a row'); time.sleep(0.3)"
    )
    code = (
        "import time; from vespe.cli import report; from vespe.cli.waiting import waiting\n"
        f"with waiting('begun') as tell: {said}"
    )
    shown = on_a_terminal(code, NO_COLOR="")
    assert (
        "begun" not in shown and "\r\x1b[Ka word\na row\n" in shown and shown.endswith("\r\x1b[K")
    )


def test_a_text_that_is_wider_than_the_terminal_is_cut() -> None:
    shown = on_a_terminal(CODE.replace("asking", "a" * 200).format(0.7), NO_COLOR="", columns=40)
    assert all(
        len(line) < 40 for line in shown.replace("\x1b[K", "").replace("\n", "\r").split("\r")
    )


def test_nothing_is_shown_where_the_output_is_for_a_program(project: Path) -> None:
    python_tool(
        project / ".vespe/tools/tool-slow",
        "slow",
        "import time; time.sleep(0.8); return 1",
        permissions={},
    )
    assert "running slow" in vespe_on_a_terminal("tool", "run", "slow", cwd=project, NO_COLOR="")
    assert "running slow" not in vespe_on_a_terminal(
        "tool", "run", "slow", "--json", cwd=project, NO_COLOR=""
    )
