"""Generated arguments: each kind of failure is found, made small, and found again by its seed."""

import contextlib
import itertools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.installs import install_without
from vespe.errors import UsageError
from vespe.features.examples.fuzzing import failure, fuzz
from vespe.models import Failure, JsonObject, Outcome, Tool

SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer"}, "s": {"type": "string"}},
    "required": ["n"],
}
TOOL = Tool(uid="tool-t", name="t", description="", input_schema=SCHEMA)


def done(result: Any = None) -> Outcome:
    return Outcome(tool="t", uid="tool-t", result=result)


def failed(code: str = "tool_error", **details: Any) -> Outcome:
    return Outcome(
        tool="t", uid="tool-t", error=Failure(code=code, message="said", details=details)
    )


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        (done("fine"), None),
        (done({"log": "Traceback (most recent call last):\n"}), "traceback"),
        (failed(exception="ValueError"), None),
        (failed(exception="TypeError"), "crash"),
        (failed(signal=11), "crash"),
        (failed(exit_status=1, logs=""), "crash"),
        (failed(exit_status=1), None),
        (failed(exit_status=1, stderr="Traceback (most recent call last):\n"), "traceback"),
        (failed("timed_out"), "hang"),
        (failed("invalid_output"), "output"),
        (failed("output_too_large"), "output"),
        (failed("invalid_arguments"), None),
    ],
)
def test_a_tool_may_say_no_and_may_not_break(outcome: Outcome, kind: str | None) -> None:
    found = failure(outcome)
    assert (found[0] if found else None) == kind


def breaks_past(limit: int) -> Callable[[JsonObject], Outcome]:
    return lambda arguments: failed(exception="KeyError") if abs(arguments["n"]) > limit else done()


def test_the_arguments_are_made_small_and_stand_in_a_command() -> None:
    # A loaded machine makes few calls in two seconds: then it has more of them.
    tries = (
        fuzz(TOOL, breaks_past(5), seconds=seconds, seed=1).findings for seconds in (2, 10, 60)
    )
    (finding,) = next(findings for findings in tries if findings)
    assert finding.kind == "crash" and finding.arguments == {"n": 6}
    assert finding.command == """vespe tool run t --args '{"n":6}'"""


def slow(arguments: JsonObject) -> Outcome:
    time.sleep(0.02)
    return failed(exception="TypeError")


@pytest.mark.parametrize("seed", range(3))
def test_a_slow_tool_that_always_fails_is_a_finding_however_long_it_is_made_smaller(
    seed: int,
) -> None:
    found = fuzz(TOOL, slow, seconds=0.2, seed=seed)
    assert [finding.kind for finding in found.findings] == ["crash"] and found.calls < 60


def test_no_call_begins_when_the_time_is_up_not_even_to_make_a_finding_smaller() -> None:
    found = fuzz(
        TOOL,
        lambda _: time.sleep(0.2) or failed(exception="TypeError"),  # type: ignore[func-returns-value]  # None
        seconds=0.3,
        seed=1,
    )
    assert [finding.kind for finding in found.findings] == ["crash"] and found.calls <= 2


def test_a_tool_that_fails_only_at_times_is_a_finding_too() -> None:
    turns = itertools.cycle((failed(exception="KeyError"), done(), done()))
    assert {
        finding.kind for finding in fuzz(TOOL, lambda _: next(turns), seconds=1, seed=1).findings
    } == {"crash"}


def test_nothing_is_left_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fuzz(TOOL, breaks_past(5), seconds=0.5, seed=1)
    assert list(tmp_path.iterdir()) == []


def test_the_same_seed_makes_the_same_calls() -> None:
    seen: dict[int, list[JsonObject]] = {1: [], 2: []}
    for turn, calls in seen.items():
        fuzz(
            TOOL,
            lambda arguments, calls=calls: calls.append(arguments) or done(),  # type: ignore[misc]  # append gives None
            seconds=3,
            seed=7,
        )
        assert turn and len(calls) >= 10
    assert seen[1][:10] == seen[2][:10]


def test_a_shorter_run_of_a_seed_is_the_beginning_of_a_longer_one() -> None:
    longest = 40

    def run_of(most: int) -> list[JsonObject]:
        calls: list[JsonObject] = []

        def run(arguments: JsonObject) -> Outcome:
            if len(calls) == most:
                raise KeyboardInterrupt
            calls.append(arguments)
            return breaks_past(5)(arguments)

        with contextlib.suppress(KeyboardInterrupt):
            fuzz(TOOL, run, seconds=60, seed=7)
        return calls

    whole = run_of(longest)
    assert len(whole) == longest
    for most in (1, 7, 23):
        assert run_of(most) == whole[:most]


def test_each_kind_of_failure_is_found_once() -> None:
    def run(arguments: JsonObject) -> Outcome:
        odd = arguments["n"] % 2
        if arguments["n"] > 0:
            return failed("timed_out") if odd else failed(exception="TypeError")
        return (
            failed("invalid_output")
            if odd
            else done({"log": "Traceback (most recent call last):\n"})
        )

    found = [finding.kind for finding in fuzz(TOOL, run, seconds=15, seed=3).findings]
    assert sorted(found) == ["crash", "hang", "output", "traceback"]


def test_a_tool_that_holds_has_no_finding_and_every_call_fits_its_schema() -> None:
    kinds: set[str] = set()

    def run(arguments: JsonObject) -> Outcome:
        kinds.update(arguments)
        return done()

    found = fuzz(TOOL, run, seconds=1, seed=1)
    assert found.findings == () and found.calls > 10 and kinds == {"n", "s"}


def test_a_schema_that_nothing_satisfies_is_said() -> None:
    nothing = Tool(
        uid="tool-t",
        name="t",
        description="",
        input_schema={"type": "object", "required": ["a"], "additionalProperties": False},
    )
    with pytest.raises(UsageError, match="no arguments can be generated"):
        fuzz(nothing, lambda _: done(), seconds=1, seed=1)


FUZZING = """
from vespe.errors import MissingExtra
from vespe.features.examples.fuzzing import fuzz
from vespe.models import Tool

tool = Tool(uid="tool-t", name="t", description="", input_schema={"type": "object"})
try:
    fuzz(tool, print, seconds=1, seed=1)
except MissingExtra as error:
    print(error)
"""


def test_without_the_extra_a_sentence_names_it(home: Path, tmp_path: Path) -> None:
    install = install_without(tmp_path / "bare", "hypothesis_jsonschema")
    assert "vespe[fuzz]" in install.printed(FUZZING)


def raising(message: str) -> Outcome:
    error = Failure(code="tool_error", message=message, details={"exception": "ValueError"})
    return Outcome(tool="t", uid="tool-t", error=error)


def test_a_tool_that_never_does_anything_else_than_raise_is_found() -> None:
    found = fuzz(TOOL, lambda _: raising("ValueError: no"), seconds=1.0, seed=1)
    (finding,) = found.findings
    assert finding.kind == "always" and finding.message.endswith("ValueError: no")
    assert finding.arguments == {"n": 0} and "tool run t --args" in finding.command


def test_a_tool_that_says_no_to_some_or_of_each_is_let_be() -> None:
    def some(arguments: JsonObject) -> Outcome:
        return done() if arguments["n"] == 0 else raising("ValueError: no")

    def of_each(arguments: JsonObject) -> Outcome:
        return raising(f"ValueError: no {arguments['n']}")

    for run in (some, of_each, lambda _: failed("refused")):
        assert fuzz(TOOL, run, seconds=0.5, seed=1).findings == ()
