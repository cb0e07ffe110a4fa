"""A line of progress is for a person who waits, and is gone afterwards."""

import pytest

from tests.support.terminal import on_a_terminal
from vespe.cli.waiting import waiting

CODE = "import time; from vespe.cli.waiting import waiting\nwith waiting('asking the server'): time.sleep({})\nprint('done')"


def test_what_takes_long_is_shown_with_its_seconds_and_cleared() -> None:
    shown = on_a_terminal(CODE.format(0.9), NO_COLOR="")
    assert "\r\x1b[Kasking the server 0." in shown and shown.endswith("\r\x1b[Kdone\n")


def test_what_is_over_at_once_or_goes_to_a_file_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert on_a_terminal(CODE.format(0), NO_COLOR="") == "done\n"
    with waiting("asking"):
        pass
    assert capsys.readouterr().err == ""


def test_a_failure_clears_the_line_and_goes_on_up() -> None:
    with pytest.raises(ValueError, match="odd"), waiting("asking"):
        raise ValueError("odd")
