"""Anthropic: tools, calls, results, and whole conversations there and back."""

import contextlib
import copy
import functools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from tests.adapters import conversations, corpus
from tests.adapters.judges import accepts, assert_anthropic_request, complaint
from vespe.adapters import openai
from vespe.adapters.anthropic import (
    AnthropicAdapter,
    AnthropicShape,
    from_openai_messages,
    to_openai_messages,
)
from vespe.adapters.ollama import messages as ollama_messages
from vespe.errors import InvalidDocument, InvalidToolCall, ToolExecutionError
from vespe.models import Tool

RECORDED = sorted(
    (Path(__file__).parent.parent / "cases" / "adapters" / "recorded").glob("*/*.json")
)
TOOL = Tool(
    uid="tool-t", name="today", description="Tell the date.", input_schema={"type": "object"}
)


def test_a_tool_is_a_name_a_description_and_an_input_schema() -> None:
    assert AnthropicShape().definition(TOOL) == {
        "name": "today",
        "description": "Tell the date.",
        "input_schema": {"type": "object", "additionalProperties": False},
    }


def test_fields_that_only_anthropic_knows_are_kept_and_come_back() -> None:
    definition = {
        "name": "t",
        "input_schema": {"type": "object", "additionalProperties": False},
        "strict": True,
        "defer_loading": True,
    }
    assert AnthropicShape().definition(AnthropicShape().read(definition)) == definition
    assert accepts("anthropic tool", definition)


def test_a_tool_that_anthropic_runs_is_refused() -> None:
    with pytest.raises(InvalidDocument, match="web_search_20250305"):
        AnthropicShape().read({"type": "web_search_20250305", "name": "web_search"})


def test_calls_are_read_from_a_message_and_those_of_server_tools_are_not() -> None:
    blocks = [
        {"type": "text", "text": "a"},
        {"type": "server_tool_use", "id": "s", "name": "today", "input": {}},
        {"type": "tool_use", "id": "c", "name": "today", "input": {"a": 1}},
        {"type": "tool_use", "id": "d", "name": "today", "input": {"vespe_arguments": "{"}},
    ]
    calls = AnthropicAdapter(TOOL).parse_llm_response({"role": "assistant", "content": blocks})
    assert [(call.call_id, call.arguments) for call in calls] == [("c", {"a": 1}), ("d", "{")]
    assert AnthropicAdapter(TOOL).parse_llm_response('{"content": "hello"}') == ()


def test_a_call_of_another_tool_alone_is_no_call_of_this_one() -> None:
    with pytest.raises(InvalidToolCall, match="'other'"):
        AnthropicAdapter(TOOL).parse_llm_response(
            {"content": [{"type": "tool_use", "id": "c", "name": "other", "input": {}}]}
        )


def test_results_and_errors_are_blocks() -> None:
    adapter = AnthropicAdapter(TOOL)
    assert adapter.format_tool_output({"a": 1}, call_id="c") == {
        "type": "tool_result",
        "tool_use_id": "c",
        "content": '{"a":1}',
    }
    failed = adapter.format_tool_output(ToolExecutionError("it failed"), call_id="c")
    assert failed == {
        "type": "tool_result",
        "tool_use_id": "c",
        "content": "it failed",
        "is_error": True,
    }
    assert accepts("anthropic message", {"role": "user", "content": [failed]})


def test_there_and_back_is_the_identity_on_what_both_can_express() -> None:
    for messages in conversations.openai(300):
        given_messages = copy.deepcopy(messages)
        made = from_openai_messages(messages)
        assert messages == given_messages
        assert_anthropic_request(made["system"], made["messages"])
        assert to_openai_messages(made["messages"], made["system"]) == messages
        assert from_openai_messages(to_openai_messages(made["messages"], made["system"])) == made


def test_anthropics_own_conversations_come_back_block_by_block() -> None:
    for system, messages in conversations.anthropic(300):
        assert_anthropic_request(system, messages)
        kept = copy.deepcopy((system, messages))
        inner = to_openai_messages(messages, system)
        for message in openai.to_wire(inner):
            assert accepts("openai message", message), complaint("openai message", message)
            assert message["content"] or message["role"] == "tool" or message.get("tool_calls"), (
                message
            )
        assert from_openai_messages(inner) == {"system": system, "messages": messages}
        assert (system, messages) == kept


def test_nonsense_ends_in_a_translation_or_in_a_sentence() -> None:
    translated = 0
    for messages in conversations.wild(500):
        kept = copy.deepcopy(messages)
        for translate in (*TRANSLATIONS.values(), openai.to_wire):
            with contextlib.suppress(InvalidDocument):
                translated += bool(
                    json.dumps(translate(messages), ensure_ascii=False).encode("utf-8")
                ) and bool(messages)
        assert messages == kept
    assert translated > 100


BROKEN = "a\ud800"
SURROGATES: list[dict[str, Any]] = [
    {"role": "system", "content": BROKEN},
    {
        "role": "user",
        "name": "b",
        "content": [
            {"type": "text", "text": BROKEN, "anthropic": {"citations": [{BROKEN: BROKEN}]}}
        ],
    },
    {
        "role": "assistant",
        "content": BROKEN,
        "reasoning_content": BROKEN,
        "tool_calls": [
            {"id": "\ud800", "type": "function", "function": {"name": BROKEN, "arguments": BROKEN}},
            {"id": "\ud801", "type": "custom", "custom": {"name": BROKEN, "input": BROKEN}},
        ],
    },
    {"role": "tool", "tool_call_id": "\ud800", "content": {BROKEN: BROKEN}},
    {"role": "tool", "tool_call_id": "\ud801", "content": [{"type": "text", "text": BROKEN}]},
]
FILES: list[dict[str, Any]] = [
    {
        "role": "user",
        "content": [
            {"type": "image_url", "image_url": {"url": "https://e.com/" + BROKEN}},
            {"type": "file", "file": {"file_id": BROKEN, "filename": BROKEN}},
            {"type": "document_url", "document_url": "https://e.com/" + BROKEN},
        ],
    }
]


@pytest.mark.parametrize("messages", [SURROGATES, FILES])
def test_whatever_leaves_can_be_said_in_utf_8_and_ids_stay_two(
    messages: list[dict[str, Any]],
) -> None:
    made = from_openai_messages(messages)
    outputs: list[Any] = [
        made,
        to_openai_messages(made["messages"], made["system"]),
        openai.to_wire(messages),
    ]
    if messages is SURROGATES:
        outputs.append(ollama_messages.from_openai_messages(messages))
        outputs.append(ollama_messages.to_openai_messages(outputs[-1]["messages"]))
        assert len({call["id"] for call in openai.to_wire(messages)[2]["tool_calls"]}) == 2
        assert from_openai_messages(outputs[1]) == made
    for output in outputs:
        assert json.dumps(output, ensure_ascii=False).encode("utf-8")


def test_a_cache_mark_on_an_assistants_message_reaches_its_last_block_as_a_copy() -> None:
    mark: dict[str, Any] = {"type": "ephemeral", "more": {"a": [1]}}
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    for message, kind in (
        ({"content": "a"}, "text"),
        ({"content": "a", "tool_calls": [call]}, "tool_use"),
    ):
        talk: list[dict[str, Any]] = [
            {"role": "user", "content": "q"},
            {"role": "assistant", **message, "cache_control": mark},
        ]
        last = from_openai_messages(talk)["messages"][1]["content"][-1]
        assert (last["type"], last["cache_control"]) == (kind, mark)
        assert last["cache_control"]["more"]["a"] is not mark["more"]["a"]


def test_a_custom_call_whose_input_is_no_text_is_refused() -> None:
    call = {"id": "c", "type": "custom", "custom": {"name": "sh", "input": {"a": 1}}}
    for translate in (from_openai_messages, ollama_messages.from_openai_messages):
        with pytest.raises(
            InvalidDocument,
            match=r"messages\[0\]: a custom call's `input` must be a string, not dict",
        ):
            translate([{"role": "assistant", "tool_calls": [call]}])


def case_of(path: Path) -> list[dict[str, Any]]:
    request = json.loads(path.read_text(encoding="utf-8"))["request"]
    return (
        to_openai_messages(request["messages"], request.get("system"))
        if path.parent.name == "anthropic"
        else request["messages"]
    )


@pytest.mark.parametrize(
    "path", [p for p in RECORDED if p.parent.name != "ollama"], ids=lambda p: p.stem
)
def test_recorded_conversations_become_requests_that_anthropic_takes(path: Path) -> None:
    made = from_openai_messages(case_of(path))
    assert_anthropic_request(made["system"], made["messages"])
    assert from_openai_messages(to_openai_messages(made["messages"], made["system"])) == made


@pytest.mark.parametrize(
    "path", [p for p in RECORDED if p.parent.name == "anthropic"], ids=lambda p: p.stem
)
def test_recorded_requests_of_anthropic_come_back_as_they_were(path: Path) -> None:
    request = json.loads(path.read_text(encoding="utf-8"))["request"]
    assert from_openai_messages(case_of(path)) == {
        "system": request.get("system", []),
        "messages": request["messages"],
    }


BAD = json.loads(
    (Path(__file__).parent.parent / "cases" / "adapters" / "bad_conversations.json").read_text(
        encoding="utf-8"
    )
)
TRANSLATIONS: dict[str, Callable[[list[Any]], Any]] = {
    "anthropic": lambda messages: from_openai_messages(messages)["messages"],
    "openai": to_openai_messages,
    "ollama": lambda messages: ollama_messages.from_openai_messages(messages)["messages"],
    "openai from ollama": ollama_messages.to_openai_messages,
}


def grown(value: Any) -> Any:
    """Put what no file could hold in the place of its sign: `$long` text, `$deep` lists, `$nested`
    JSON text.
    """
    if isinstance(value, list):
        return [grown(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "$long" in value:
        return "x" * value["$long"]
    if "$nested" in value:
        return '{"a":' * value["$nested"] + "1" + "}" * value["$nested"]
    if "$deep" in value:
        return functools.reduce(lambda inner, _: [inner], range(value["$deep"]), cast("Any", 0))
    return {key: grown(item) for key, item in value.items()}


@pytest.mark.parametrize("row", BAD, ids=lambda row: row["case"])
def test_every_bad_conversation_ends_in_a_sentence_or_in_its_documented_repair(
    row: dict[str, Any],
) -> None:
    messages, translate = grown(row["messages"]), TRANSLATIONS[row["to"]]
    if "gives" in row:
        assert translate(messages) == grown(row["gives"])
        return
    with pytest.raises(InvalidDocument, match=re.escape(row["refused"])) as caught:
        translate(messages)
    assert caught.value.path == f"messages[{row['at']}]"


def test_the_table_of_bad_conversations_has_forty_rows_at_least() -> None:
    assert len({row["case"] for row in BAD}) == len(BAD) >= 40


def test_what_is_repaired_for_anthropic_is_what_its_types_and_rules_take() -> None:
    for row in BAD:
        if row["to"] == "anthropic" and "gives" in row:
            assert_anthropic_request([], grown(row["gives"]))


def test_the_whole_corpus_becomes_requests_that_anthropic_takes_as_the_page_tells(
    shared: Path,
) -> None:
    passages = list(corpus.survey(shared / "corpus" / "conversations"))
    assert [(p.name, p.refused) for p in passages if p.target == "anthropic" and p.refused] == []
    assert all(p.refused.startswith("messages[") for p in passages if p.refused)
    page = (Path(__file__).parents[2] / "docs" / "adapters.md").read_text(encoding="utf-8")
    assert corpus.counts(passages) in page
    assert corpus.losses(passages) in page
