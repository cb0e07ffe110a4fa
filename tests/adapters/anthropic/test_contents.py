"""What one message says, as blocks."""

from collections.abc import Callable

import pytest

from vespe.adapters.anthropic import contents
from vespe.errors import InvalidDocument

THINKING = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
CALL = {"type": "tool_use", "id": "c", "name": "f", "input": {}}


def text(said: str) -> dict[str, str]:
    return {"type": "text", "text": said}


def test_a_name_is_no_content() -> None:
    assert contents.user_blocks({"content": "", "name": "alice"}, 0) == []
    assert contents.user_blocks({"content": "hi", "name": "a]b"}, 0) == [text("hi")]


def test_blank_texts_go_where_no_other_text_is_beside_them() -> None:
    assert contents.worded([text(" "), text("a")]) == [text(" "), text("a")]
    assert contents.worded([text(" "), THINKING, text("\n")]) == [THINKING]


def test_empty_text_is_dropped() -> None:
    assert contents.assistant_blocks({"content": ["", "\n\n", "a"]}, [CALL], 0) == [
        text("\n\n"),
        text("a"),
        CALL,
    ]
    assert contents.assistant_blocks({"content": "\n"}, [], 0) == []
    assert contents.assistant_blocks({"content": None}, [], 0) == []


def test_a_refusal_becomes_text() -> None:
    assert contents.assistant_blocks({"content": None, "refusal": "I cannot."}, [], 0) == [
        text("I cannot.")
    ]


def test_blocks_come_back_in_their_order_whatever_was_taken_away_or_added() -> None:
    order = [THINKING, "part", "tool_call", "part", "gone"]
    message = {"content": [text("a"), text("b"), text("c")], "anthropic_blocks": order}
    assert contents.assistant_blocks(message, [CALL], 0) == [
        THINKING,
        text("a"),
        CALL,
        text("b"),
        text("c"),
    ]
    assert contents.assistant_blocks({"content": None, "anthropic_blocks": order}, [], 0) == [
        THINKING
    ]


def test_signed_reasoning_of_a_gateway_becomes_thinking_and_unsigned_does_not() -> None:
    details = [
        {
            "type": "reasoning.text",
            "format": "anthropic-claude-v1",
            "text": "Hm.",
            "signature": "s",
        },
        {"type": "reasoning.encrypted", "format": "anthropic-claude-v1", "data": "x"},
        {"type": "reasoning.text", "format": "anthropic-claude-v1", "text": "unsigned"},
        {"type": "reasoning.text", "format": "unknown", "text": "Hm.", "signature": "s"},
        3,
    ]
    made = contents.assistant_blocks({"content": "a", "reasoning_details": details}, [], 0)
    assert made == [THINKING, {"type": "redacted_thinking", "data": "x"}, text("a")]


def test_a_name_outside_the_alphabet_is_mended() -> None:
    made = contents.call_block(
        {"function": {"name": "functions.get weather", "arguments": "{}"}}, "c", 0
    )
    assert made["name"] == "functions_get_weather"
    assert len(contents.call_block({"function": {"name": "x" * 300}}, "c", 0)["name"]) == 128


def test_a_custom_calls_input_travels_under_the_one_key() -> None:
    call = {"type": "custom", "id": "c", "custom": {"name": "sh", "input": "ls"}}
    assert contents.call_block(call, "c", 0)["input"] == {"vespe_arguments": {"custom": "ls"}}


def test_a_result_keeps_its_mark_and_its_error() -> None:
    message = {
        "role": "tool",
        "content": "x",
        "is_error": False,
        "cache_control": {"type": "ephemeral"},
        "anthropic": {"toolset_name": None},
    }
    assert contents.result_block(message, "c", 0) == {
        "type": "tool_result",
        "tool_use_id": "c",
        "content": "x",
        "cache_control": {"type": "ephemeral"},
        "toolset_name": None,
        "is_error": False,
    }


def test_a_result_of_nothing_has_no_content() -> None:
    for nothing in ("", None, [], [""]):
        assert "content" not in contents.result_block({"content": nothing}, "c", 0)
    assert "content" not in contents.result_block({}, "c", 0)


def test_a_system_message_holds_text_only() -> None:
    with pytest.raises(InvalidDocument, match="text only"):
        contents.system_blocks(
            {"content": [{"type": "image_url", "image_url": {"url": "https://e.com/a"}}]}, 0
        )


def test_a_message_level_cache_mark_goes_to_its_last_block() -> None:
    message = {"role": "user", "content": ["a", "b"], "cache_control": {"type": "ephemeral"}}
    assert contents.user_blocks(message, 0) == [
        text("a"),
        {**text("b"), "cache_control": {"type": "ephemeral"}},
    ]


def test_a_system_message_of_no_text_is_refused() -> None:
    for order in ([{"type": "text", "text": ["a"]}], [{"type": "image"}]):
        with pytest.raises(InvalidDocument, match="holds text only"):
            contents.system_blocks({"role": "system", "content": "", "anthropic_blocks": order}, 0)


@pytest.mark.parametrize(
    "block", [{"type": "tool_use", "id": "c"}, {"type": "tool_result", "tool_use_id": "c"}]
)
@pytest.mark.parametrize(
    "blocks_of",
    [contents.user_blocks, lambda message, index: contents.assistant_blocks(message, [], index)],
)
def test_calls_and_results_never_pass_unpaired_among_the_blocks_beside(
    block: dict[str, str], blocks_of: Callable[..., object]
) -> None:
    with pytest.raises(
        InvalidDocument, match=r"messages\[3\]: `anthropic_blocks` may hold no `tool_"
    ):
        blocks_of({"content": "a", "anthropic_blocks": ["part", block]}, 3)


def test_a_block_beside_without_a_type_is_refused() -> None:
    with pytest.raises(
        InvalidDocument, match=r"messages\[3\]: a block of `anthropic_blocks` needs a `type`"
    ):
        contents.user_blocks({"content": "a", "anthropic_blocks": [{}, "part"]}, 3)


def test_a_cache_mark_that_is_no_object_is_none() -> None:
    assert contents.user_blocks(
        {"content": [{"type": "text", "text": "a", "cache_control": 5}]}, 0
    ) == [text("a")]
