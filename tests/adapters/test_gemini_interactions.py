"""Tools as Gemini's Interactions takes them."""

import pytest

from tests.adapters.google_judges import complaint
from vespe.adapters.gemini_interactions import InteractionsAdapter, InteractionsShape
from vespe.errors import InvalidDocument, InvalidToolCall, ParsingError
from vespe.models import Tool

TOOL = Tool(
    uid="",
    name="add",
    description="Add.",
    input_schema={"type": "object", "properties": {"a": {"type": "integer"}}},
)


def test_a_definition_is_one_that_googles_types_take_and_reads_back() -> None:
    made = InteractionsShape().definition(TOOL)
    assert complaint("tool", made) == "" and complaint("tool", made | {"icons": []})
    assert made["parameters"]["additionalProperties"] is False
    read = InteractionsShape().read(made | {"defer_loading": True})
    assert (read.name, read.description) == ("add", "Add.")
    assert InteractionsShape().definition(read) == made | {"defer_loading": True}


def test_a_tool_that_gemini_runs_itself_is_refused() -> None:
    with pytest.raises(InvalidDocument, match="of type 'google_search'"):
        InteractionsShape().read({"type": "google_search"})


def test_calls_are_read_behind_what_others_said_last_and_results_are_steps() -> None:
    call = {"type": "function_call", "id": "c", "name": "add", "arguments": {"a": 1}}
    asked = {"type": "user_input", "content": []}
    adapter = InteractionsAdapter(TOOL)
    for answer in (call, {"steps": [call | {"name": "old"}, asked, call]}):
        (read,) = adapter.parse_llm_response(answer)
        assert (read.tool, read.arguments, read.call_id) == ("add", {"a": 1}, "c")
    with pytest.raises(InvalidToolCall, match="no tool called 'old'"):
        adapter.parse_llm_response({"steps": [call | {"name": "old"}]})
    image = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
    for output, result in (
        ({"sum": 3}, '{"sum":3}'),
        (
            {"content": [{"type": "text", "text": "a dot"}, image]},
            [
                {"type": "text", "text": "a dot"},
                {"type": "image", "data": "iVBORw0KGgo=", "mime_type": "image/png"},
            ],
        ),
    ):
        made = adapter.format_tool_output(output, call_id="c")
        assert made["result"] == result and complaint("step", made) == ""
    failed = adapter.format_tool_output(ParsingError("no JSON"), call_id="c")
    assert failed["is_error"] is True and complaint("step", failed) == ""
