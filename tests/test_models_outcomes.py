"""The values of a call."""

from vespe.models import Failure, Outcome


def test_an_outcome_without_an_error_is_ok_and_shows_its_result() -> None:
    document = Outcome(tool="t", uid="tool-t", result=None).to_dict()
    assert document == {
        "ok": True,
        "result": None,
        "tool": "t",
        "uid": "tool-t",
        "duration_ms": 0.0,
        "truncated": False,
    }


def test_a_failed_outcome_shows_its_error_and_no_result() -> None:
    failure = Failure(code="timed_out", message="late", hint="wait", details={"timeout_s": 1})
    document = Outcome(
        tool="t", uid="tool-t", error=failure, truncated=True, output_file="/o", notes=("n",)
    ).to_dict()
    assert "result" not in document and document["ok"] is False
    assert document["error"] == {
        "code": "timed_out",
        "message": "late",
        "retryable": False,
        "details": {"timeout_s": 1},
        "hint": "wait",
    }
    assert (document["output_file"], document["notes"]) == ("/o", ["n"])
