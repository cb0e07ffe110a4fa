"""OpenAI's chat completions: tools, calls, results, and inner messages on the wire."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings

from tests.adapters import strategies
from tests.adapters.judges import accepts, complaint
from vespe.adapters.ollama_messages import from_openai_messages
from vespe.adapters.openai import OpenAIAdapter, OpenAIShape, to_wire
from vespe.errors import InvalidDocument, InvalidToolCall, ToolExecutionError
from vespe.models import Tool

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = Tool(uid="tool-w", name="weather", description="Tell the weather.", input_schema=SCHEMA)


def test_a_tool_is_a_function_whose_closed_schema_says_so() -> None:
    assert OpenAIShape().definition(TOOL) == {
        "type": "function",
        "function": {"name": "weather", "description": "Tell the weather.", "parameters": SCHEMA | {"additionalProperties": False}},
    }


def test_a_schema_that_allows_more_is_shown_as_it_is() -> None:
    schema = SCHEMA | {"additionalProperties": {"type": "string"}}
    tool = Tool(uid="tool-w", name="weather", description="Tell the weather.", input_schema=schema)
    assert OpenAIShape().definition(tool)["function"]["parameters"] == schema


def test_fields_that_only_openai_knows_are_kept_on_both_levels() -> None:
    parameters = {"type": "object", "additionalProperties": False}
    definition = {
        "type": "function",
        "function": {"name": "t", "strict": True, "parameters": parameters},
        "cache_control": {"type": "ephemeral"},
    }
    assert OpenAIShape().definition(OpenAIShape().read(definition)) == definition


@pytest.mark.parametrize("definition", [{"type": "custom", "custom": {"name": "sh"}}, {"type": "openrouter:web_search"}, {"function": 3}])
def test_what_is_no_function_is_refused(definition: dict[str, Any]) -> None:
    with pytest.raises(InvalidDocument, match="no function"):
        OpenAIShape().read(definition)


def test_calls_are_read_from_a_message_and_from_every_choice() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "weather", "arguments": "{"}}
    adapter = OpenAIAdapter(TOOL)
    (read,) = adapter.parse_llm_response({"role": "assistant", "tool_calls": [call]})
    assert (read.tool, read.arguments, read.call_id) == ("weather", "{", "c")
    assert len(adapter.parse_llm_response({"choices": [{"message": {"tool_calls": [call]}}, {"message": {"tool_calls": [call]}}, {}]})) == 2
    assert adapter.parse_llm_response('{"role": "assistant", "content": "hello"}') == ()


def test_a_custom_call_gives_its_text() -> None:
    (read,) = OpenAIAdapter(TOOL).parse_llm_response({"tool_calls": [{"type": "custom", "custom": {"name": "weather", "input": "Paris"}}]})
    assert read.arguments == "Paris"


@pytest.mark.parametrize("calls", [[{}], [{"function": {}}], "x", [3]])
def test_a_call_that_is_none_is_refused(calls: object) -> None:
    with pytest.raises(InvalidToolCall):
        OpenAIAdapter(TOOL).parse_llm_response({"tool_calls": calls})


def test_a_result_is_a_tool_message_whose_error_is_an_inner_field() -> None:
    made = OpenAIAdapter(TOOL).format_tool_output(ToolExecutionError("it failed"), call_id="c")
    assert made == {"role": "tool", "tool_call_id": "c", "content": "it failed", "is_error": True}
    assert to_wire([made]) == [{"role": "tool", "tool_call_id": "c", "content": "it failed"}]


@settings(derandomize=True, max_examples=100, deadline=None)
@given(strategies.openai_conversations())
def test_whatever_is_drawn_goes_over_the_wire_as_openais_types_take_it(messages: list[dict[str, Any]]) -> None:
    given_messages = copy.deepcopy(messages)
    sent = to_wire(messages)
    for message in sent:
        assert accepts("openai message", message), complaint("openai message", message)
    assert messages == given_messages
    assert to_wire(sent) == sent


def test_fields_of_other_apis_stay_where_they_are_asked_for() -> None:
    message = {
        "role": "assistant",
        "content": [{"type": "text", "text": "a", "cache_control": {}}],
        "reasoning_content": "Hm.",
        "anthropic_blocks": [],
    }
    assert to_wire([message]) == [{"role": "assistant", "content": [{"type": "text", "text": "a"}]}]
    kept = to_wire([message], keep=("reasoning_content", "cache_control"))
    assert kept == [{"role": "assistant", "content": [{"type": "text", "text": "a", "cache_control": {}}], "reasoning_content": "Hm."}]


def test_an_image_in_a_result_follows_the_last_result_in_a_users_message() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://e.com/a.png"}}
    talk: list[dict[str, Any]] = [
        {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "a"}, image]},
        {"role": "tool", "tool_call_id": "2", "content": [image]},
        {"role": "user", "content": "b"},
    ]
    assert to_wire(talk) == [
        {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "a"}]},
        {"role": "tool", "tool_call_id": "2", "content": ""},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "[from the result of 1]"},
                image,
                {"type": "text", "text": "[from the result of 2]"},
                image,
            ],
        },
        {"role": "user", "content": "b"},
    ]
    assert to_wire(talk[:1])[-1]["role"] == "user"


def test_a_part_that_openai_does_not_know_goes_as_it_came() -> None:
    part = {"type": "document_url", "document_url": "https://e.com/a.pdf"}
    assert to_wire([{"role": "user", "content": [part]}]) == [{"role": "user", "content": [part]}]


def test_a_result_that_is_json_goes_as_its_text_and_one_without_content_as_nothing() -> None:
    talk: list[dict[str, Any]] = [{"role": "tool", "tool_call_id": "1", "content": {"n": [1]}}, {"role": "tool", "tool_call_id": "2"}]
    assert [message["content"] for message in to_wire(talk)] == ['{"n":[1]}', ""]


def test_of_blocks_that_only_anthropic_knows_the_text_goes_and_what_says_nothing_is_left_out() -> None:
    found = {"type": "search_result", "title": "T", "source": "s", "content": [{"type": "text", "text": "a"}]}
    paper = {"type": "document", "title": "D", "source": {"type": "content", "content": "b"}}
    link = {"type": "document", "source": {"type": "url", "url": "https://e.com"}}
    talk: list[dict[str, Any]] = [
        {"role": "user", "content": "q", "anthropic_blocks": [found, "part", paper, link]},
        {"role": "user", "content": [], "anthropic_blocks": [link]},
        {"role": "assistant", "content": None, "anthropic_blocks": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}]},
    ]
    (sent,) = to_wire(talk)
    assert [part["text"] for part in sent["content"]] == ["T\ns\na", "q", "D\nb"]
    assert from_openai_messages(talk[:2])["messages"] == [{"role": "user", "content": "T\ns\na\nq\nD\nb"}]


def test_a_deprecated_function_call_is_read() -> None:
    (read,) = OpenAIAdapter(TOOL).parse_llm_response({"function_call": {"name": "weather", "arguments": "{}"}})
    assert (read.tool, read.arguments) == ("weather", "{}")


def test_what_an_answer_holds_and_a_request_may_not_is_taken_off() -> None:
    call = {"id": "c", "function": {"name": "f", "arguments": "{}"}}
    empty = {"audio": {"id": "", "data": ""}, "function_call": {"name": "", "arguments": ""}, "name": None, "refusal": ""}
    (sent,) = to_wire([{"role": "assistant", "content": "a", "tool_calls": [call], **empty}])
    assert sent == {"role": "assistant", "content": "a", "tool_calls": [{**call, "type": "function"}], "refusal": ""}
    assert accepts("openai message", sent), complaint("openai message", sent)
    (spoken,) = to_wire([{"role": "assistant", "audio": {"id": "au_1", "data": "AA", "expires_at": 0, "transcript": "t"}}])
    assert spoken == {"role": "assistant", "audio": {"id": "au_1"}} and accepts("openai message", spoken)
