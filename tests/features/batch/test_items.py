"""One call of a batch, and what became of it."""

from typing import Any

import pytest

from vespe.features.batch.items import Item, ItemOutcome, is_repeatable, numbered, run_item, unknown
from vespe.models import Call, Failure, Outcome, Tool


def tool(**annotations: Any) -> Tool:
    return Tool(
        uid="tool-t",
        name="t",
        description="",
        input_schema={"type": "object"},
        annotations=annotations,
    )


class Flaky:
    """Fails so many times, then succeeds."""

    def __init__(self, failures: int, code: str = "tool_error") -> None:
        self.calls, self._failures, self._code = 0, failures, code

    def __call__(self, call: Call) -> Outcome:
        self.calls += 1
        error = (
            Failure(code=self._code, message="not now") if self.calls <= self._failures else None
        )
        return Outcome(
            tool="t",
            uid="tool-t",
            result=None if error else call.arguments,
            error=error,
            duration_ms=1.0,
        )


def test_a_line_has_the_id_the_result_and_the_time() -> None:
    line = run_item(Item("a", {"x": 1}), tool(), Flaky(0)).to_line()
    assert line == {"id": "a", "ok": True, "result": {"x": 1}, "duration_ms": 1.0}


def test_a_failed_line_has_the_code_and_the_sentence() -> None:
    line = run_item(Item(1, {}), tool(), Flaky(1)).to_line()
    assert (line["ok"], line["error"]["code"], line["error"]["message"], "result" in line) == (
        False,
        "tool_error",
        "not now",
        False,
    )


def test_an_input_that_is_broken_is_never_called() -> None:
    flaky = Flaky(0)
    failure = Failure(code="invalid_json", message="line 1 is not JSON")
    assert (
        run_item(Item(1, {}, failure), tool(), flaky).outcome.error is failure and flaky.calls == 0
    )


@pytest.mark.parametrize(
    ("hint", "code", "calls"),
    [
        ("readOnlyHint", "tool_error", 3),
        ("idempotentHint", "timed_out", 3),
        ("title", "tool_error", 1),
        ("readOnlyHint", "refused", 1),
    ],
)
def test_only_what_may_run_twice_and_may_pass_is_tried_again(
    hint: str, code: str, calls: int
) -> None:
    flaky = Flaky(2, code)
    ended = run_item(Item(1, {}), tool(**{hint: True}), flaky, retries=5)
    assert flaky.calls == calls and ended.outcome.ok is (calls == 3)


def test_a_hint_that_is_not_true_says_nothing() -> None:
    assert not is_repeatable(tool(readOnlyHint="yes", idempotentHint=False)) and is_repeatable(
        tool(idempotentHint=True)
    )


def test_a_call_whose_end_is_not_known_is_final() -> None:
    error = unknown(Item(3, {}), tool()).outcome.error
    assert error is not None and (error.code, error.retryable) == ("unknown_outcome", False)


def test_inputs_without_ids_are_numbered_from_one() -> None:
    assert [(item.id, item.arguments) for item in numbered([{"a": 1}, {}])] == [
        (1, {"a": 1}),
        (2, {}),
    ]


def test_a_cut_result_says_so_and_where_the_whole_is() -> None:
    outcome = Outcome(tool="t", uid="u", result="head", truncated=True, output_file="/x")
    line = ItemOutcome(1, outcome).to_line()
    assert line["truncated"] is True and line["output_file"] == "/x"
