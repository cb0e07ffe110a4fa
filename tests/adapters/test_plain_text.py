"""The strict text form: a prompt, and a reader that is strict about JSON and says what to write
instead.
"""

import json

import pytest

from vespe.adapters.plain_text import PlainTextAdapter, parse_call, tools_system_prompt
from vespe.errors import InvalidToolCall, ParsingError, ToolExecutionError
from vespe.models import Tool

TOOL = Tool(
    uid="tool-w",
    name="weather",
    description="Tell the weather.",
    input_schema={"type": "object", "properties": {"city": {"type": "string"}}},
)
CALL = '{"method": "tools/call", "params": {"name": "weather", "arguments": {"city": "Paris"}}}'


def test_the_prompt_shows_each_tool_as_one_line_of_json() -> None:
    lines = tools_system_prompt([TOOL, TOOL]).splitlines()
    shown = [json.loads(line) for line in lines if line.startswith('{"name"')]
    assert len(shown) == 2 and shown[0]["inputSchema"]["additionalProperties"] is False


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        f"  {CALL}\n",
        f"```json\n{CALL}\n```",
        f"```\n{CALL}\n```\n",
        CALL.replace('{"method"', '{"jsonrpc": "2.0", "id": 3, "method"'),
    ],
)
def test_one_object_is_a_call_with_or_without_a_fence(text: str) -> None:
    call = parse_call(text)
    assert call is not None
    assert (call.tool, call.arguments) == ("weather", {"city": "Paris"})


@pytest.mark.parametrize(
    "text", ["It is sunny.", "", '{"answer": 3}', "{not json}", "Use tools/call for that."]
)
def test_plain_text_is_no_call(text: str) -> None:
    assert parse_call(text) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"Let me look: {CALL}", "text beside the call"),
        (f"{CALL} Done.", "cannot be read"),
        (f"{CALL}\n{CALL}", "cannot be read"),
        (CALL[:-1], "cannot be read"),
        (CALL.replace('"', "'").replace("'method'", '"method"'), "line 1"),
        ('{"method": "tools/call", "params": {"name": "w", "arguments": {"a": NaN}}}', "NaN"),
        ('{"method": "tools/call", "params": {"name": "w", "name": "v"}}', "twice"),
    ],
)
def test_a_call_that_is_not_exactly_one_json_object_gets_a_sentence_and_the_form(
    text: str, said: str
) -> None:
    with pytest.raises(ParsingError, match=said) as caught:
        parse_call(text)
    assert caught.value.retryable and "exactly one JSON object" in caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        '{"method": "tools/list", "params": {}}',
        '{"method": "tools/call"}',
        '{"params": {"name": "weather"}}',
        '{"method": "tools/call", "params": {"name": "weather", "arguments": "x"}}',
        '{"method": "tools/call", "params": {"arguments": {}}}',
    ],
)
def test_an_object_that_is_no_call_gets_a_sentence(text: str) -> None:
    with pytest.raises(InvalidToolCall) as caught:
        parse_call(text)
    assert caught.value.hint


def test_the_adapter_reads_texts_and_messages_and_knows_its_tool() -> None:
    adapter = PlainTextAdapter(TOOL)
    assert (
        len(adapter.parse_llm_response(CALL))
        == len(adapter.parse_llm_response({"role": "assistant", "content": CALL}))
        == 1
    )
    assert (
        adapter.parse_llm_response({"content": None}) == () == adapter.parse_llm_response("hello")
    )
    with pytest.raises(InvalidToolCall, match="'rain'"):
        adapter.parse_llm_response(CALL.replace("weather", "rain"))
    with pytest.raises(ParsingError):
        adapter.parse_llm_response(3)


def test_results_and_errors_are_told_behind_the_tools_name() -> None:
    adapter = PlainTextAdapter(TOOL)
    assert adapter.format_tool_output([1]) == '{"tool":"weather","result":[1]}'
    assert adapter.format_tool_output(ToolExecutionError("no")) == '{"tool":"weather","error":"no"}'


CALL_TEXT = '{"method": "tools/call", "params": {"name": "f", "arguments": {}}}'


@pytest.mark.parametrize(
    "text", ["```JSON\n" + CALL_TEXT + "\n```", "[" + CALL_TEXT + "]", "\ufeff" + CALL_TEXT]
)
def test_a_fence_in_capitals_a_list_of_one_call_and_a_mark_of_byte_order_are_taken_off(
    text: str,
) -> None:
    call = parse_call(text)
    assert call is not None and call.tool == "f"


def test_an_id_that_is_null_is_none() -> None:
    call = parse_call(CALL_TEXT[:-1] + ', "id": null}')
    assert call is not None and call.call_id is None


def test_several_calls_and_a_call_without_its_form_are_told_what_to_write() -> None:
    with pytest.raises(ParsingError, match="a list of 2 calls"):
        parse_call(f"[{CALL_TEXT}, {CALL_TEXT}]")
    with pytest.raises(InvalidToolCall, match="the `params` of a call alone"):
        parse_call('{"name": "f", "arguments": {}}')
    assert parse_call("[1, 2]") is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [("null", "not null"), ('"{}"', 'not the string "{}"'), ("[1]", "not an array of 1 item")],
)
def test_wrong_arguments_are_told_in_jsons_words(arguments: str, said: str) -> None:
    with pytest.raises(InvalidToolCall) as caught:
        parse_call(
            f'{{"method": "tools/call", "params": {{"name": "weather", "arguments": {arguments}}}}}'
        )
    assert said in str(caught.value)
