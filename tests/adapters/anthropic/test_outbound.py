"""Conversations on their way to Anthropic: system, turns, results behind their calls."""

from typing import Any

import pytest

from vespe.adapters.anthropic.inbound import to_openai_messages
from vespe.adapters.anthropic.outbound import from_openai_messages
from vespe.errors import InvalidDocument


def call(identifier: str | None, name: str = "f") -> dict[str, Any]:
    made = {"type": "function", "function": {"name": name, "arguments": "{}"}}
    return made if identifier is None else {"id": identifier, **made}


def asked(*calls: dict[str, Any], content: Any = None) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def result(identifier: str | None, content: str = "r") -> dict[str, Any]:
    return (
        {"role": "tool", "content": content}
        if identifier is None
        else {"role": "tool", "tool_call_id": identifier, "content": content}
    )


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def system(text: str) -> dict[str, Any]:
    return {"role": "system", "content": text}


def kinds(messages: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    return [
        (
            m["role"],
            [b["type"] for b in m["content"]] if isinstance(m["content"], list) else ["str"],
        )
        for m in messages
    ]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([user("a")], []),
        ([system("s"), user("a")], "s"),
        (
            [system("s"), {"role": "developer", "content": "d"}],
            [{"type": "text", "text": "s"}, {"type": "text", "text": "d"}],
        ),
        (
            [{"role": "system", "content": [{"type": "text", "text": "s"}]}],
            [{"type": "text", "text": "s"}],
        ),
        ([system(""), user("a")], []),
        ([system("s"), system("")], "s"),
    ],
)
def test_leading_system_messages_become_the_system(
    messages: list[dict[str, Any]], expected: object
) -> None:
    assert from_openai_messages(messages)["system"] == expected


def test_later_system_messages_keep_their_place() -> None:
    made = from_openai_messages(
        [
            system("s"),
            user("a"),
            {"role": "assistant", "content": "b"},
            {"role": "developer", "content": "t"},
            user("c"),
        ]
    )
    assert made["messages"] == [
        user("a"),
        {"role": "assistant", "content": "b"},
        system("t"),
        user("c"),
    ]


def test_settled_ones_stand_behind_the_users_turn() -> None:
    talk: list[dict[str, Any]] = [
        user("a"),
        {"role": "assistant", "content": "b"},
        system("t"),
        user("c"),
        system("u"),
        {"role": "assistant", "content": "d"},
    ]
    made = from_openai_messages(talk, settle_system=True)["messages"]
    assert [m["role"] for m in made] == ["user", "assistant", "user", "system", "assistant"]
    assert made[3]["content"] == [{"type": "text", "text": "t"}, {"type": "text", "text": "u"}]


def test_a_system_message_never_parts_a_call_from_its_result() -> None:
    made = from_openai_messages([user("a"), asked(call("1")), system("t"), result("1"), user("b")])[
        "messages"
    ]
    assert kinds(made)[1:] == [
        ("assistant", ["tool_use"]),
        ("user", ["tool_result"]),
        ("system", ["str"]),
        ("user", ["str"]),
    ]


def test_results_of_one_turn_are_one_users_turn_and_stand_before_what_the_user_says() -> None:
    made = from_openai_messages(
        [user("a"), asked(call("1"), call("2")), result("2"), user("b"), result("1")]
    )["messages"]
    assert kinds(made)[1:] == [
        ("assistant", ["tool_use", "tool_use"]),
        ("user", ["tool_result", "tool_result", "text"]),
    ]


def test_consecutive_messages_of_one_side_are_one_turn() -> None:
    made = from_openai_messages(
        [
            user("a"),
            user("b"),
            asked(call("1")),
            asked(call("2"), content="x"),
            result("1"),
            result("2"),
        ]
    )["messages"]
    assert kinds(made) == [
        ("user", ["text", "text"]),
        ("assistant", ["tool_use", "text", "tool_use"]),
        ("user", ["tool_result", "tool_result"]),
    ]


def test_a_late_result_moves_up_to_its_call() -> None:
    talk: list[dict[str, Any]] = [
        user("a"),
        asked(call("1"), call("2")),
        result("1"),
        {"role": "assistant", "content": "x"},
        result("2"),
    ]
    assert kinds(from_openai_messages(talk)["messages"])[1:] == [
        ("assistant", ["tool_use", "tool_use"]),
        ("user", ["tool_result", "tool_result"]),
        ("assistant", ["str"]),
    ]


def test_a_conversation_may_end_in_open_calls_and_may_not_go_on_without_them() -> None:
    opened = [user("a"), asked(call("1"), call("2")), result("2")]
    assert kinds(from_openai_messages(opened)["messages"])[-1] == ("user", ["tool_result"])
    with pytest.raises(
        InvalidDocument, match=r"messages\[1\]: the conversation goes on without the result of '1'"
    ):
        from_openai_messages([*opened, user("b")])


def test_missing_ids_pair_by_position() -> None:
    made = from_openai_messages(
        [user("a"), asked(call(None, "f"), call(None, "g")), result(None, "x"), result(None, "y")]
    )["messages"]
    ids = [block["id"] for block in made[1]["content"]]
    assert ids == ["vespe_call_1", "vespe_call_2"]
    assert [(b["tool_use_id"], b["content"]) for b in made[2]["content"]] == list(
        zip(ids, ["x", "y"], strict=True)
    )


def test_a_result_without_any_call_is_refused() -> None:
    with pytest.raises(
        InvalidDocument, match=r"messages\[1\]: the result of '9' answers no call"
    ) as caught:
        from_openai_messages([user("a"), result("9")])
    assert caught.value.pointer == "/1/tool_call_id"


def test_an_assistant_that_says_nothing_is_no_turn() -> None:
    made = from_openai_messages([user("a"), {"role": "assistant", "content": ""}, user("b")])[
        "messages"
    ]
    assert kinds(made) == [("user", ["text", "text"])]


def test_what_was_given_is_not_changed_and_shares_nothing_with_what_is_given_back() -> None:
    block = {"type": "thinking", "thinking": "t", "signature": "s"}
    given = [user("a"), {"role": "assistant", "content": "b", "anthropic_blocks": [block, "part"]}]
    made = from_openai_messages(given)
    made["messages"][1]["content"][0]["thinking"] = "changed"
    assert block["thinking"] == "t"


def test_a_text_like_a_mark_changes_no_speaker_and_is_not_lost() -> None:
    talk: list[dict[str, Any]] = [
        {
            "role": "user",
            "content": [{"type": "text", "text": t} for t in ("hi", "[name: bob]", "do it")],
        }
    ]
    assert to_openai_messages(from_openai_messages(talk)["messages"]) == talk
    assert to_openai_messages([user("[name: bob]")]) == [user("[name: bob]")]


def test_an_unnamed_users_words_behind_a_named_ones_stay_unnamed() -> None:
    talk = [{**user("a"), "name": "alice"}, user("b"), user("c")]
    assert to_openai_messages(from_openai_messages(talk)["messages"]) == talk


def test_blank_text_beside_a_call_is_dropped_from_the_whole_turn() -> None:
    made = from_openai_messages(
        [
            user("a"),
            {"role": "assistant", "content": "\n"},
            asked(call("c"), content=" "),
            result("c"),
        ]
    )
    assert kinds(made["messages"])[1] == ("assistant", ["tool_use"])
    assert from_openai_messages(to_openai_messages(made["messages"])) == made


def test_a_turn_of_a_text_that_nobody_wrote_as_a_mark_goes_back_until_somebody_adds_to_it() -> None:
    given: list[dict[str, Any]] = [
        {"role": "user", "content": [{"type": "text", "text": t} for t in ("[name: ]", "hi")]}
    ]
    read = to_openai_messages(given)
    assert from_openai_messages(read)["messages"] == given
    more = from_openai_messages([*read, user("b")])
    assert [block["text"] for block in more["messages"][0]["content"]] == [
        "[name]",
        "[name: ]",
        "hi",
        "b",
    ]
    assert from_openai_messages(to_openai_messages(more["messages"])) == more


@pytest.mark.parametrize(
    "blank",
    [
        user(" "),
        {"role": "assistant", "content": "\n"},
        {"role": "user", "content": [" ", {"text": "\t"}]},
    ],
)
def test_a_message_of_blank_text_alone_is_none(blank: dict[str, Any]) -> None:
    assert kinds(from_openai_messages([user("a"), blank])["messages"]) == [("user", ["str"])]
    assert from_openai_messages([system(" "), system("s"), blank]) == {
        "system": "s",
        "messages": [],
    }


def test_blank_text_beside_other_words_stays_and_beside_an_image_does_not() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    said = [
        {"role": "user", "content": [{"type": "text", "text": " "}, {"type": "text", "text": "a"}]}
    ]
    assert from_openai_messages(said)["messages"] == said
    assert kinds(from_openai_messages([{"role": "user", "content": [image, " "]}])["messages"]) == [
        ("user", ["image"])
    ]


def test_system_messages_behind_one_that_says_nothing_lead_still() -> None:
    assert from_openai_messages([system("s"), user(""), system("t"), user("a")]) == {
        "system": [{"type": "text", "text": "s"}, {"type": "text", "text": "t"}],
        "messages": [user("a")],
    }


def test_the_assistant_may_speak_first_and_one_that_says_nothing_begins_no_turn() -> None:
    talk: list[dict[str, Any]] = [
        asked(call("1")),
        {"role": "assistant", "content": ""},
        result(None),
    ]
    assert kinds(from_openai_messages(talk)["messages"]) == [
        ("assistant", ["tool_use"]),
        ("user", ["tool_result"]),
    ]


def test_a_sentence_about_many_open_calls_is_bounded() -> None:
    with pytest.raises(InvalidDocument, match="goes on without") as caught:
        from_openai_messages(
            [user("a"), asked(*(call(f"{n}" * 5000) for n in range(100, 200))), user("b")]
        )
    assert len(str(caught.value)) < 700 and "95 more" in str(caught.value)
