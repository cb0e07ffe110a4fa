"""Values are frozen, and an Outcome has the JSON shape that scripts rely on."""

import dataclasses
import inspect
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from vespe import models
from vespe.errors import TimedOut, ToolExecutionError
from vespe.models import Call, Candidate, Entry, Failure, Outcome, ProjectConfig, Resolution, Tool

VALUES = [
    value
    for value in vars(models).values()
    if inspect.isclass(value) and dataclasses.is_dataclass(value)
]


@pytest.mark.parametrize("kind", VALUES, ids=lambda kind: kind.__name__)
def test_a_value_is_frozen_slotted_documented_and_made_by_keyword(kind: Any) -> None:
    assert kind.__dataclass_params__.frozen and "__slots__" in vars(kind)
    assert all(field.kw_only for field in dataclasses.fields(kind))
    assert (kind.__doc__ or "").strip() and not kind.__doc__.startswith(f"{kind.__name__}(")


def test_a_value_does_not_change() -> None:
    call = Call(tool="add")
    with pytest.raises(dataclasses.FrozenInstanceError):
        call.tool = "other"  # type: ignore[misc]  # what the test is about


def test_two_values_share_no_default() -> None:
    first = Tool(uid="tool-a", name="a", description="", input_schema={})
    second = Tool(uid="tool-b", name="b", description="", input_schema={})
    first.annotations["title"] = "A"
    assert second.annotations == {} and Call(tool="a").arguments is not Call(tool="a").arguments


def test_a_successful_outcome_has_a_result_and_no_error() -> None:
    outcome = Outcome(tool="add", uid="tool-a", result={"sum": 3}, duration_ms=1.23456)
    assert outcome.ok
    assert outcome.to_dict() == {
        "ok": True,
        "result": {"sum": 3},
        "tool": "add",
        "uid": "tool-a",
        "duration_ms": 1.235,
        "truncated": False,
    }


def test_a_result_of_null_is_still_a_result() -> None:
    assert Outcome(tool="a", uid="tool-a").to_dict()["result"] is None


def test_a_failed_outcome_has_an_error_and_no_result() -> None:
    failure = Failure(
        code="invalid_arguments", message="wrong", retryable=True, details={"violations": []}
    )
    outcome = Outcome(tool="add", uid="tool-a", error=failure)
    assert not outcome.ok
    assert outcome.to_dict() == {
        "ok": False,
        "error": {
            "code": "invalid_arguments",
            "message": "wrong",
            "retryable": True,
            "details": {"violations": []},
        },
        "tool": "add",
        "uid": "tool-a",
        "duration_ms": 0.0,
        "truncated": False,
    }


def test_a_hint_logs_notes_and_the_file_of_the_whole_stand_only_where_there_are_any() -> None:
    failure = Failure(code="refused", message="no", hint="ask")
    shown = Outcome(
        tool="a",
        uid=None,
        error=failure,
        truncated=True,
        output_file="/state/x",
        logs="careful\n",
        notes=("repaired",),
    ).to_dict()
    assert shown["error"]["hint"] == "ask"
    assert (shown["output_file"], shown["logs"], shown["notes"], shown["truncated"]) == (
        "/state/x",
        "careful\n",
        ["repaired"],
        True,
    )
    assert not {"output_file", "logs", "notes"} & Outcome(tool="a", uid=None).to_dict().keys()


def test_an_outcome_is_json() -> None:
    outcome = Outcome(tool=None, uid=None, result=[1, "é", None], notes=("n",))
    assert json.loads(json.dumps(outcome.to_dict())) == outcome.to_dict()


def test_a_resolution_shows_what_it_shadows_in_order() -> None:
    entries = [
        Entry(
            uid=f"tool-{n}",
            name="a",
            scope=n,
            kit_id=None,
            type=None,
            description=None,
            path=f"/{n}",
        )
        for n in "pqrs"
    ]
    statuses = ["selected", "shadowed", "inactive", "shadowed"]
    hides = {"selected": None, "shadowed": "tool-p", "inactive": None}
    pairs = zip(entries, statuses, strict=True)
    found = [
        Candidate(entry=e, status=s, reason="", decided_by="", shadowed_by=hides[s])
        for e, s in pairs
    ]
    resolution = Resolution(name="a", entry=entries[0], reason="first", candidates=tuple(found))
    assert [candidate.entry.uid for candidate in resolution.shadows] == ["tool-q", "tool-s"]


def test_a_project_looks_at_its_own_tools_first() -> None:
    assert ProjectConfig().tool_resolution_order == ("project_tools", "active_kits")


def test_a_good_outcome_unwraps_and_a_failed_one_raises_the_class_of_its_code() -> None:
    assert Outcome(tool="t", uid=None, result={"a": 1}).unwrap() == {"a": 1}
    failed = Outcome(
        tool="t",
        uid=None,
        error=Failure(code="timed_out", message="too slow", hint="wait", details={"seconds": 1}),
    )
    with pytest.raises(TimedOut, match="too slow") as caught:
        failed.unwrap()
    assert (caught.value.hint, caught.value.details, caught.value.__notes__) == (
        "wait",
        {"seconds": 1},
        ["hint: wait"],
    )
    assert caught.value.seconds == 1


@pytest.mark.parametrize("code", ["denied", "max_calls_per_tool", "nobody_knows"])
def test_a_code_without_a_class_is_raised_as_a_failed_tool_with_that_code(code: str) -> None:
    with pytest.raises(ToolExecutionError) as caught:
        Outcome(tool="t", uid=None, error=Failure(code=code, message="no")).unwrap()
    assert caught.value.code == code


def test_a_tools_documentation_is_its_description_as_it_is_now_and_no_odd_file_is_read(
    tmp_path: Path,
) -> None:
    tool = Tool(uid="t", name="t", description="", input_schema={}, directory=str(tmp_path))
    assert tool.documentation is None and replace(tool, directory=None).documentation is None
    text = tmp_path / "description.md"
    text.write_text("# é", encoding="utf-8")
    assert tool.documentation == "# é"
    text.unlink()
    for make in (os.mkfifo, os.mkdir, lambda path: os.symlink("/etc/passwd", path)):
        make(text)
        assert tool.documentation is None
        text.rmdir() if text.is_dir() else text.unlink()
