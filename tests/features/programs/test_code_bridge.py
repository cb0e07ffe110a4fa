"""Programs in the place of tools: what a model is told, and that it never changes."""

import pytest

from tests.features.programs.toolbox import TOOLS, Calls
from vespe.calls.bridge import DESCRIBE, SEARCH
from vespe.features.programs.code_bridge import CodeBridge, ProgramOrder, told
from vespe.models import Failure, Outcome

pytest.importorskip("pydantic_monty")


def test_three_tools_stand_in_the_place_of_all_and_their_text_is_stable() -> None:
    bridge = CodeBridge(TOOLS, frozenset({"read_file", "list"}))
    assert list(bridge.declared) == [SEARCH, DESCRIBE, "run_code"] and bridge.program == "run_code"
    said = bridge.declared["run_code"].description
    assert "def read_file(path: str) -> str:" in said and "def list_(path: str) -> Any:" in said
    assert "write_file" not in said and "call_tool" not in bridge.declared[SEARCH].description
    again = CodeBridge(dict(reversed(TOOLS.items())), frozenset({"list", "read_file"}))
    assert again.declared == bridge.declared


def test_a_search_tells_the_functions_of_programs() -> None:
    bridge = CodeBridge(TOOLS)
    found = bridge.answer(SEARCH, {"query": "write-file"}).result["tools"][0]
    assert found["name"] == "write-file" and found["function"].startswith("def write_file(path")
    for name in ("write-file", "write_file"):
        assert bridge.answer(DESCRIBE, {"name": name}).result["name"] == "write-file"
    missing = bridge.answer(DESCRIBE, {"name": "write"}).error
    assert missing is not None and missing.code == "tool_not_found"
    assert bridge.inner("call_tool", {"name": "x"}) == ("call_tool", {})


def test_a_program_is_checked_and_run() -> None:
    bridge, calls = CodeBridge(TOOLS), Calls()
    order = ProgramOrder(code="print(1)\nread_file('a')", calls=calls, call_id="c", setting="auto")
    outcome = bridge.run(order)
    assert outcome.result == "text of a" and [c.call_id for c in calls.groups[0]] == ["c/1"]
    assert told(outcome).result == {"result": "text of a", "printed": "1\n"}
    wrong = ProgramOrder(code="red_file('a')", calls=calls, call_id="c", setting="auto")
    assert bridge.run(wrong).error is not None


def test_what_was_printed_before_an_error_is_told_too() -> None:
    failed = Outcome(
        tool="run_code", uid=None, logs="one\n", error=Failure(code="program_failed", message="no")
    )
    error = told(failed).error
    assert error is not None and error.message == "no; it had printed: one\n"
    assert told(Outcome(tool="run_code", uid=None, result=1)).result == 1
