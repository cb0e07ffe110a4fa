"""What an agent does, as it is shown."""

import pytest

from tests.support.terminal import on_a_terminal, plain
from vespe.adapters.streams.base import StreamEvent
from vespe.features.agents.call_results import CallResult, not_run
from vespe.features.agents.open_calls import ModelCall
from vespe.features.agents.verbs.shown import RunDisplay
from vespe.models import Outcome

CALL = ModelCall(call_id="c", name="f")


def test_words_go_to_stdout_and_results_to_stderr_each_on_a_line(
    capfd: pytest.CaptureFixture[str],
) -> None:
    shown = RunDisplay()
    for event in (
        StreamEvent("text", "a"),
        StreamEvent("text", "b"),
        not_run(CALL, "because", code="denied").event,
        StreamEvent("text", "c\n"),
    ):
        shown.event(event)
    shown.end()
    assert tuple(capfd.readouterr()) == ("ab\nc\n", "<- f denied: because\n")


def test_a_long_result_is_cut_in_its_line_and_cannot_steer_the_terminal(
    capfd: pytest.CaptureFixture[str],
) -> None:
    RunDisplay().event(
        CallResult(
            call=CALL,
            outcome=Outcome(tool="f", uid=None, result="\x1b[2J\n" + "x" * 1000),
            ran=True,
        ).event
    )
    said = capfd.readouterr().err
    assert said.startswith("<- f ok, 0 ms: \\x1b[2J\\nxxx") and len(said) < 250


def test_lines_end_between_words_at_the_width_of_the_terminal() -> None:
    code = (
        "from vespe.adapters.streams.base import StreamEvent\n"
        "from vespe.features.agents.verbs.shown import RunDisplay\n"
        "data = {'outcome': {'ok': True}, 'content': 'words ' * 20}\n"
        "RunDisplay().event(StreamEvent('tool_result', name='f', data=data))\n"
    )
    lines = plain(on_a_terminal(code, columns=40)).splitlines()
    assert len(lines) > 3 and all(len(line) <= 40 for line in lines)
    assert all(line.endswith("words") for line in lines) and lines[1].startswith("  words")


def test_quietly_no_word_goes_to_stdout(capfd: pytest.CaptureFixture[str]) -> None:
    RunDisplay(quiet=True).event(StreamEvent("text", "a"))
    assert capfd.readouterr().out == ""
