"""Conversations from Anthropic: results as messages, and what OpenAI cannot say beside them."""

from typing import Any

import pytest

from vespe.adapters.anthropic.inbound import to_openai_messages
from vespe.adapters.anthropic.outbound import from_openai_messages
from vespe.adapters.openai.wire import to_wire
from vespe.errors import InvalidDocument

THINKING = {"type": "thinking", "thinking": "Hm.", "signature": "s"}


def use(identifier: str = "c1", **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": identifier, "name": "f", "input": {"a": 1}, **more}


def result(identifier: str = "c1", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": identifier, **more}


def text(said: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": said, **more}


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        (None, []),
        ("", []),
        ([], []),
        ("s", [{"role": "system", "content": "s"}]),
        ([text("s")], [{"role": "system", "content": [text("s")]}]),
        (
            [text("s"), text("t")],
            [{"role": "system", "content": "s"}, {"role": "system", "content": "t"}],
        ),
    ],
)
def test_a_system_becomes_messages_that_become_it_again(system: Any, expected: list[Any]) -> None:
    made = to_openai_messages([], system)
    assert made == expected
    assert from_openai_messages(made)["system"] == (system or [])


def test_calls_and_results_become_tool_calls_and_tool_messages() -> None:
    made = to_openai_messages(
        [
            {"role": "assistant", "content": [text("a"), use()]},
            {"role": "user", "content": [result(content="r"), text("b")]},
        ]
    )
    assert made == [
        {
            "role": "assistant",
            "content": "a",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "r"},
        {"role": "user", "content": "b"},
    ]


def test_blocks_that_openai_cannot_say_ride_beside_in_their_order() -> None:
    content = [
        THINKING,
        text("a"),
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
        use(),
        text("b"),
    ]
    (made,) = to_openai_messages([{"role": "assistant", "content": content}])
    assert made["anthropic_blocks"] == [THINKING, "part", content[2], "tool_call", "part"]
    assert from_openai_messages([made])["messages"][0]["content"] == content


@pytest.mark.parametrize(
    "content",
    [
        [result(content=[text("a"), {"type": "tool_reference", "tool_name": "t"}], is_error=True)],
        [
            result(
                content=[
                    {"type": "search_result", "content": [text("a")], "source": "s", "title": "t"}
                ]
            )
        ],
        [
            result(is_error=False, cache_control={"type": "ephemeral"}),
            text("b", cache_control={"type": "ephemeral"}),
        ],
        [
            result(
                content=[
                    text("a", citations=None),
                    {"type": "image", "source": {"type": "file", "file_id": "f"}},
                ]
            )
        ],
        [
            result(
                content=[{"type": "image", "source": {"type": "url", "url": "https://e.com/a.png"}}]
            ),
            text("b"),
        ],
        [result(), {"type": "container_upload", "file_id": "f"}, text("b")],
    ],
)
def test_every_user_content_comes_back(content: list[dict[str, Any]]) -> None:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [use()]},
        {"role": "user", "content": content},
    ]
    assert from_openai_messages(to_openai_messages(messages))["messages"] == messages


def test_other_keys_of_a_call_ride_on_it() -> None:
    (made,) = to_openai_messages(
        [
            {
                "role": "assistant",
                "content": [use(caller={"type": "direct"}, cache_control={"type": "ephemeral"})],
            }
        ]
    )
    assert made["tool_calls"][0]["anthropic"] == {"caller": {"type": "direct"}}
    assert made["tool_calls"][0]["cache_control"] == {"type": "ephemeral"}


def test_marks_of_names_open_messages_of_their_own() -> None:
    made = to_openai_messages(
        [
            {
                "role": "user",
                "content": [text("[name: alice]"), text("a"), text("[name: bob]"), text("b")],
            }
        ]
    )
    assert made == [
        {"role": "user", "content": "a", "name": "alice"},
        {"role": "user", "content": "b", "name": "bob"},
    ]


def test_an_input_that_is_no_object_and_one_that_is_kept_text() -> None:
    made = to_openai_messages(
        [
            {
                "role": "assistant",
                "content": [
                    use() | {"input": {"vespe_arguments": "not json"}},
                    use("c2") | {"input": [1]},
                    use("c3") | {"input": None},
                ],
            }
        ]
    )
    assert [call["function"]["arguments"] for call in made[0]["tool_calls"]] == [
        "not json",
        "[1]",
        "{}",
    ]


def test_a_custom_call_comes_back_as_one() -> None:
    given = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "custom", "custom": {"name": "sh", "input": "ls"}}],
    }
    assert to_openai_messages(from_openai_messages([given])["messages"]) == [given]


@pytest.mark.parametrize(
    "message",
    [
        {"role": "tool", "content": "x"},
        {"content": "x"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "content": "x"}]},
        {"role": "user", "content": 3},
    ],
)
def test_what_is_no_conversation_is_refused_by_its_index(message: dict[str, Any]) -> None:
    with pytest.raises(InvalidDocument, match=r"messages\[1\]"):
        to_openai_messages([{"role": "user", "content": "a"}, message])


def test_messages_that_say_nothing_are_dropped_and_later_system_messages_stay() -> None:
    talk: list[dict[str, Any]] = [
        {"role": "assistant", "content": [text("")]},
        {"role": "user", "content": [text(""), text("")]},
        {"role": "system", "content": [text("s")]},
    ]
    assert to_openai_messages(talk) == [{"role": "system", "content": [text("s")]}]


def test_ids_outside_the_alphabet_come_back() -> None:
    talk: list[dict[str, Any]] = [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "call:1/ä", "type": "function", "function": {"name": "f", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "call:1/ä", "content": "r"},
    ]
    made = from_openai_messages(talk)["messages"]
    assert made[0]["content"][0]["id"].isascii()
    assert to_openai_messages(made) == talk


@pytest.mark.parametrize(
    ("blocks", "messages"),
    [
        (["[name: bob]"], [("", ["[name: bob]"])]),
        (["a", "[name: bob]"], [("", ["a", "[name: bob]"])]),
        (["[name]", "[name: bob]", "a"], [("", ["[name: bob]", "a"])]),
        (["[name: eve]", "a", "[name]", "[name: bob]", "b"], [("eve", ["a", "[name: bob]", "b"])]),
        (["[name: ]", "hi"], [("", ["hi"])]),
        (["[name: eve]", "[name: bob]", "hi"], [("", ["hi"])]),
        (["[name: eve]", "a", "[name: ]", "b"], [("eve", "a"), ("", "b")]),
    ],
)
def test_marks_are_read_only_as_they_are_written_and_every_turn_comes_back(
    blocks: list[str], messages: list[tuple[str, Any]]
) -> None:
    given: list[dict[str, Any]] = [{"role": "user", "content": [text(block) for block in blocks]}]
    read = to_openai_messages(given)
    said = [
        [part["text"] for part in m["content"]] if isinstance(m["content"], list) else m["content"]
        for m in read
    ]
    assert [(m.get("name", ""), words) for m, words in zip(read, said, strict=True)] == messages
    assert from_openai_messages(read)["messages"] == given


def test_calls_in_openais_field_are_refused_and_not_dropped() -> None:
    with pytest.raises(
        InvalidDocument, match=r"messages\[0\]: has `tool_calls`, which are OpenAI's"
    ):
        to_openai_messages([{"role": "assistant", "content": "a", "tool_calls": [{"id": "c"}]}])
    assert to_openai_messages([{"role": "assistant", "content": "a", "tool_calls": None}]) == [
        {"role": "assistant", "content": "a"}
    ]


def results(*identifiers: str) -> dict[str, Any]:
    return {"role": "user", "content": [result(one, content=one) for one in identifiers]}


def test_assistant_messages_in_a_row_become_one_before_their_results() -> None:
    first = text("A")
    messages: list[Any] = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [first, use("a")]},
        {"role": "assistant", "content": [THINKING, text("B"), use("b")]},
        results("a", "b"),
    ]
    made = to_openai_messages(messages)
    assert [message["role"] for message in made] == ["user", "assistant", "tool", "tool"]
    assert [call["id"] for call in made[1]["tool_calls"]] == ["a", "b"] and to_wire(
        to_wire(made)
    ) == to_wire(made)
    back = from_openai_messages(made)["messages"]
    assert (
        back[1]["content"] == [first, use("a"), THINKING, text("B"), use("b")]
        and to_openai_messages(back) == made
    )


def test_assistant_messages_with_the_results_between_them_stay_apart() -> None:
    messages: list[Any] = [
        {"role": "assistant", "content": [use("a")]},
        results("a"),
        {"role": "assistant", "content": [use("b")]},
        results("b"),
    ]
    assert [message["role"] for message in to_openai_messages(messages)] == [
        "assistant",
        "tool",
        "assistant",
        "tool",
    ]


@pytest.mark.parametrize("said", [[], [{"type": "text", "text": "now"}]])
def test_an_unknown_block_of_a_system_message_comes_back(said: list[Any]) -> None:
    added = {"type": "tool_addition", "tool": {"type": "tool_reference", "tool_name": "x"}}
    messages: list[Any] = [
        {"role": "user", "content": "q"},
        {"role": "system", "content": [*said, added]},
        {"role": "assistant", "content": "ok"},
    ]
    inner = to_openai_messages(messages)
    assert from_openai_messages(inner)["messages"] == messages and "tool_addition" not in str(
        to_wire(inner)
    )
    assert from_openai_messages(inner, settle_system=True)["messages"] == messages


def test_a_system_prompt_at_the_beginning_takes_no_unknown_block() -> None:
    inner = to_openai_messages(
        [{"role": "user", "content": "q"}], [{"type": "tool_addition", "tool": {}}]
    )
    with pytest.raises(
        InvalidDocument, match=r"messages\[0\]: the system prompt at the beginning holds text only"
    ):
        from_openai_messages(inner)
