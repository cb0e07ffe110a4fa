"""What a model is told of a result or of an error."""

from vespe.adapters import result_texts
from vespe.errors import ParsingError
from vespe.models import Failure, Outcome


def test_outcomes_and_errors_are_told_apart_from_results() -> None:
    failure = Failure(code="c", message="it broke", hint="mend it")
    assert result_texts.told(Outcome(tool="t", uid="u", result=[1])) == ([1], False)
    assert result_texts.told(Outcome(tool="t", uid="u", error=failure)) == (
        "it broke (mend it)",
        True,
    )
    assert result_texts.told(ParsingError("no JSON")) == (
        "no JSON; mend the call and make it again",
        True,
    )
    assert result_texts.told("r") == ("r", False)


def test_results_are_text_as_they_are_or_json() -> None:
    assert [result_texts.text_of(value) for value in ("a\ud800", {"a": [1]}, None, True)] == [
        "a\ufffd",
        '{"a":[1]}',
        "null",
        "true",
    ]
