"""What became of a call: in JSON's words, checked before it is cut, and kept whole where it was."""

import copy
import json
import os
import stat
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pytest

from tests.calls.test_path import call, code_of, tools
from tests.support.ondisk import python_tool, write_tool
from vespe.calls.outcomes import as_told, finished
from vespe.calls.registry import ToolRegistry
from vespe.errors import InvalidOutput
from vespe.models import Outcome, Tool


def test_an_output_that_breaks_its_schema_is_said_before_it_is_cut(project: Path) -> None:
    schema = {
        "input": {"type": "object"},
        "output": {"type": "object", "properties": {"n": {"type": "integer"}}},
    }
    tool = python_tool(tools(project) / "tool-o", "o", "return {'n': 'x' * 3_000_000}")
    config = json.loads((tool / "config.json").read_text(encoding="utf-8"))
    (tool / "config.json").write_text(json.dumps(config | {"schema": schema}), encoding="utf-8")
    outcome = call(project, "o")
    assert code_of(outcome) == "invalid_output" and not outcome.truncated


def test_p29_a_long_output_is_cut_in_the_middle_with_exact_counts_and_kept_whole(
    project: Path,
) -> None:
    python_tool(
        tools(project) / "tool-l",
        "l",
        "return 'a' * 5000 + 'b' * 5000",
        limits={"max_output_bytes": 1000},
    )
    outcome = call(project, "l")
    assert (
        outcome.truncated
        and outcome.result.startswith("a" * 500 + "\n")
        and outcome.result.endswith("\n" + "b" * 500)
    )
    assert "cut by vespe: 9000 of 10000 bytes" in outcome.result
    assert (
        outcome.output_file is not None
        and Path(outcome.output_file).read_text(encoding="utf-8") == "a" * 5000 + "b" * 5000
    )
    assert stat.S_IMODE(os.stat(outcome.output_file).st_mode) == 0o600


def test_p29_a_result_that_is_no_text_becomes_its_json_text_when_it_is_cut(project: Path) -> None:
    python_tool(
        tools(project) / "tool-l", "l", "return list(range(1000))", limits={"max_output_bytes": 100}
    )
    outcome = call(project, "l")
    assert (
        outcome.truncated
        and outcome.result.startswith("[0,1,2,")
        and outcome.result.endswith("999]")
    )


def test_p29_past_the_larger_cap_the_tool_is_ended_and_what_was_read_is_kept(project: Path) -> None:
    implementation = {"type": "shell_command", "entrypoint": "yes", "args": {"argv": []}}
    write_tool(tools(project) / "tool-y", "y", implementation=implementation)
    outcome = call(project, "y")
    assert code_of(outcome) == "output_too_large" and outcome.truncated
    assert outcome.output_file is not None and Path(outcome.output_file).read_bytes().startswith(
        b"y\ny\n"
    )


def test_p24_a_lone_surrogate_is_repaired_and_noted(project: Path) -> None:
    python_tool(tools(project) / "tool-s", "s", "return {'a\\ud800': 'b\\udfff'}")
    outcome = call(project, "s")
    assert outcome.result == {"a\ufffd": "b\ufffd"} and outcome.notes


def test_p24_an_in_process_result_that_json_cannot_say_is_an_error(project: Path) -> None:
    write_tool(tools(project) / "tool-i", "i")
    for result in (float("inf"), {1, 2}, b"x"):
        registry = ToolRegistry()
        registry.register(lambda value=result: value, name="i")
        assert code_of(call(project, "i", registry=registry)) == "invalid_output"


TOOL = Tool(
    uid="tool-t", name="t", description="T.", input_schema={"type": "object"}, max_output_bytes=100
)
OUTCOME = Outcome(tool="t", uid="tool-t", result="short")


def test_what_another_runner_made_is_cut_and_said_as_a_call_path_would(home: Path) -> None:
    assert as_told(TOOL, OUTCOME) == OUTCOME
    cut = as_told(TOOL, replace(OUTCOME, result="x" * 1000))
    assert cut.truncated and cut.output_file is not None and "900 of 1000 bytes" in str(cut.result)


def test_a_result_that_json_cannot_say_is_refused_of_any_runner() -> None:
    with pytest.raises(InvalidOutput):
        as_told(TOOL, replace(OUTCOME, result=float("nan")))


def test_the_outcome_of_a_call_is_one_like_any_other_and_cannot_be_changed() -> None:
    made = finished(
        Tool(uid="tool-a", name="a", description="", input_schema={}), 3, secrets=(), started=0.0
    )
    assert (
        made == Outcome(tool="a", uid="tool-a", result=3, duration_ms=made.duration_ms)
        and type(made) is Outcome
    )
    assert copy.copy(made) == made and replace(made, result=4).result == 4
    with pytest.raises(FrozenInstanceError):
        made.result = 4  # type: ignore[misc]  # that is refused
