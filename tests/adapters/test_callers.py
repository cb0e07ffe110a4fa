"""Who makes a call, and which tools programs may call."""

from typing import Any

import pytest

from tests.adapters.judges import accepts
from vespe.adapters import SHAPES, anthropic, callers, openai_responses
from vespe.calls.bridge import OWN
from vespe.models import Tool

READS = Tool(
    uid="",
    name="find_orders",
    description="",
    input_schema={"type": "object"},
    annotations={"readOnlyHint": True},
)
DESTROYS = Tool(uid="", name="delete_order", description="", input_schema={"type": "object"})
RUNNERS = [("openai-responses", "programmatic"), ("anthropic", "code_execution_20260120")]


@pytest.mark.parametrize(("api", "word"), RUNNERS)
def test_programs_may_call_what_destroys_nothing_where_the_request_has_what_runs_them(
    api: str, word: str
) -> None:
    assert callers.word_for_programs([callers.RUNNERS[api]], api) == word
    told = [
        callers.with_callers(SHAPES[api].definition(tool), tool, word) for tool in (READS, DESTROYS)
    ]
    assert [one["allowed_callers"] for one in told] == [["direct", word], ["direct"]]
    assert all(accepts(f"{api} tool", one) for one in told)
    assert callers.open_to_programs([*told, callers.RUNNERS[api], None]) == {"find_orders"}
    bridge = callers.with_callers(SHAPES[api].definition(OWN["call_tool"]), OWN["call_tool"], word)
    assert bridge["allowed_callers"] == ["direct"]


def test_without_it_nothing_is_said_and_what_is_said_already_stays() -> None:
    definition = SHAPES["openai-responses"].definition(DESTROYS)
    assert callers.with_callers(definition, DESTROYS, "") == definition
    said = definition | {"allowed_callers": ["programmatic"]}
    assert callers.with_callers(said, DESTROYS, "programmatic") == said
    for tools in ([], [{"type": "web_search"}], [READS], [None], [callers.RUNNERS["anthropic"]]):
        assert callers.word_for_programs(tools, "openai-responses") == ""
    old = {"type": "code_execution_20250522", "name": "code_execution"}
    assert callers.word_for_programs([old], "anthropic") == ""
    assert callers.word_for_programs([callers.RUNNERS["anthropic"]], "ollama") == ""


def test_anthropic_takes_no_programs_calls_of_a_strict_tool() -> None:
    strict = {"name": "find_orders", "input_schema": {}, "strict": True}
    made = callers.with_callers(strict, READS, "code_execution_20260521")
    assert made["allowed_callers"] == ["direct"]
    assert "programmatic" in str(callers.with_callers(strict, READS, "programmatic"))


@pytest.mark.parametrize(
    ("caller", "program"),
    [
        (None, None),
        ({"type": "direct"}, None),
        ({"type": "program", "caller_id": "p"}, "p"),
        ({"type": "code_execution_20260120", "tool_id": "s"}, "s"),
        ({"type": "something_new"}, ""),
        ({"type": "program", "caller_id": 3}, ""),
        ({}, ""),
        ("program", ""),
    ],
)
def test_a_caller_names_a_program_or_is_the_model_itself(caller: Any, program: str | None) -> None:
    assert callers.program_of(caller) == program


def test_the_calls_of_both_apis_say_who_makes_them_in_the_inner_message() -> None:
    by = {"type": "program", "caller_id": "p"}
    items: list[dict[str, Any]] = [
        {"type": "program", "id": "i", "call_id": "p", "code": "…", "fingerprint": "f"},
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}", "caller": by},
        {"type": "function_call", "call_id": "b", "name": "f", "arguments": "{}"},
    ]
    message = openai_responses.assistant_message(items)
    assert callers.programs_in(message) == {"p"}
    assert callers.callers_in(message, message["tool_calls"]) == ["p", None]
    blocks: list[dict[str, Any]] = [
        {"type": "server_tool_use", "id": "s", "name": "code_execution", "input": {"code": "…"}},
        {"type": "server_tool_use", "id": "w", "name": "web_search", "input": {}},
        {"type": "tool_use", "id": "a", "name": "f", "input": {}, "caller": {"type": "direct"}},
        {"type": "tool_use", "id": "b", "name": "f", "input": {}}
        | {"caller": {"type": "code_execution_20260120", "tool_id": "s"}},
    ]
    (message,) = anthropic.to_openai_messages([{"role": "assistant", "content": blocks}])
    assert callers.programs_in(message) == {"s"}
    assert callers.callers_in(message, message["tool_calls"]) == [None, "s"]


@pytest.mark.parametrize("kept", [3, [3], [{"type": "function_call"}, None], [{}], {}])
def test_what_is_kept_in_another_shape_names_nobody(kept: Any) -> None:
    message = {"openai_items": kept, "anthropic_blocks": kept}
    assert callers.programs_in(message) == set()
    assert callers.callers_in(message, [{}, {"anthropic": 3}]) == [None, None]
