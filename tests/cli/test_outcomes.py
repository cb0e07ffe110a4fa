"""How an Outcome is printed."""

import json
from typing import Any

import pytest

from vespe.cli import outcomes
from vespe.models import Failure, Outcome


def outcome(**more: Any) -> Outcome:
    return Outcome(tool="t", uid="tool-t", duration_ms=1.0, **more)


def test_a_part_is_printed_alone_where_the_result_has_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for result, shown in (
        ({"text": "one\n", "files": []}, "one\n"),
        ({"base64": "AA=="}, '{\n  "base64": "AA=="\n}\n'),
        ("cut to a string", "cut to a string"),
    ):
        assert outcomes.answer(outcome(result=result), as_json=False, part="text") == 0
        assert capsys.readouterr().out == shown


def test_a_failure_has_the_exit_code_of_its_error_and_what_was_said_is_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    failure = Failure(code="refused", message="no", retryable=False, details={}, hint="ask")
    made = outcome(error=failure, logs="a log\n", notes=("a note",), output_file="/out")
    assert outcomes.answer(made, as_json=False) == 6
    shown = capsys.readouterr()
    said = ("a log\n", "a note", "error: no", "hint: ask", "the output up to there is in /out")
    assert shown.out == "" and all(one in shown.err for one in said)
    assert outcomes.answer(made, as_json=True) == 6
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "refused"
