"""How a model sees that a tool call failed, at every API."""

import ast
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

import vespe
from vespe.adapters import ADAPTERS, tool_errors
from vespe.errors import ParsingError
from vespe.models import Failure, JsonValue, Outcome, Tool

_SIGNS = ("is_error", "isError", "[tool error]")


def test_outcomes_and_errors_are_told_apart_from_results() -> None:
    failure = Failure(code="c", message="it broke", hint="mend it")
    assert tool_errors.outcome_of(Outcome(tool="t", uid="u", result=[1])) == ([1], False)
    assert tool_errors.outcome_of(Outcome(tool="t", uid="u", error=failure)) == (
        "it broke (mend it)",
        True,
    )
    assert tool_errors.outcome_of(ParsingError("no JSON")) == (
        "no JSON; mend the call and make it again",
        True,
    )
    assert tool_errors.outcome_of("r") == ("r", False)


def test_every_adapter_shows_a_failed_call_differently_from_a_result_of_the_same_text() -> None:
    tool = Tool(uid="t", name="t", description="Does.", input_schema={"type": "object"})
    failure = Failure(code="c", message="it broke")
    for name, adapter in ADAPTERS.items():
        shown: list[JsonValue] = [
            adapter(tool).format_tool_output(Outcome(tool="t", uid="u", **became), call_id="1")
            for became in ({"error": failure}, {"result": "it broke"})
        ]
        assert shown[0] != shown[1] and "it broke" in str(shown[0]), name


def test_fields_go_from_mcp_to_the_inner_message_and_back() -> None:
    assert tool_errors.from_mcp({"isError": True}) == {"is_error": True}
    assert tool_errors.from_mcp({"isError": "yes"}) == {}
    assert tool_errors.to_mcp({"is_error": False}) == {"isError": False}
    assert tool_errors.to_mcp({"is_error": None}) == tool_errors.copied_field({}) == {}
    assert tool_errors.copied_field({"is_error": 1}) == {"is_error": True}


@settings(derandomize=True, max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(["[tool error]\n", "[tool result]\n", "a", "\n"]), max_size=5).map(
        "".join
    ),
    st.booleans(),
)
def test_marks_of_errors_are_undone_exactly(text: str, failed: bool) -> None:
    unmark, mark = tool_errors.unmark, tool_errors.mark_to_read_back
    assert unmark(mark(text, error=failed)) == (text, failed)
    assert mark(*unmark(text)[:1], error=unmark(text)[1]) == text


def test_no_other_module_names_the_signs() -> None:
    package = Path(vespe.__file__).parent
    naming = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if any(sign in text for text in _strings(path) for sign in _SIGNS)
    }
    # Two read what a foreign server says, and load no adapters for it.
    assert naming == {
        "adapters/tool_errors.py",
        "features/mcp/server/wrapped_calls.py",
        "types/mcp_tool/execution.py",
    }


def _strings(path: Path) -> set[str]:
    """Return the strings of a module that are not docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told
    }
