"""Conversations to and from Ollama: texts and images, ids where there are any, errors marked in
their text.
"""

import copy
import enum
import json
from pathlib import Path
from typing import Any

import pytest

from tests.adapters import conversations
from tests.adapters.judges import accepts, complaint
from vespe.adapters.ollama.messages import from_openai_messages, to_openai_messages
from vespe.errors import InvalidDocument

RECORDED = sorted(
    (Path(__file__).parents[2] / "cases" / "adapters" / "recorded" / "ollama").glob("*.json")
)
IMAGE = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{conversations.PNG}"}}


def judged(messages: list[dict[str, Any]]) -> None:
    """Hold messages against the SDK's type, which wraps each image that it sends."""
    for message in messages:
        wrapped = {
            **message,
            **(
                {"images": [{"value": image} for image in message["images"]]}
                if "images" in message
                else {}
            ),
        }
        assert accepts("ollama message", wrapped), complaint("ollama message", wrapped)


def test_every_conversation_is_one_that_ollamas_types_take_and_is_stable_after_one_pass() -> None:
    for messages in conversations.openai(200, images=False):
        given_messages = copy.deepcopy(messages)
        once = from_openai_messages(messages)["messages"]
        judged(once)
        assert messages == given_messages
        back = to_openai_messages(once)
        assert from_openai_messages(back)["messages"] == once
        assert to_openai_messages(from_openai_messages(back)["messages"]) == back


def test_what_both_can_express_is_the_same_after_there_and_back() -> None:
    talk: list[dict[str, Any]] = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": [{"type": "text", "text": "a"}, IMAGE]},
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "Hm.",
            "tool_calls": [
                {
                    "id": f"c{n}",
                    "type": "function",
                    "function": {"name": "f", "arguments": '{"n":1}'},
                }
                for n in (1, 2)
            ],
        },
        {"role": "tool", "content": "r", "tool_call_id": "c2"},
        {"role": "tool", "content": "it failed", "tool_call_id": "c1", "is_error": True},
        {"role": "assistant", "content": "done"},
    ]
    assert to_openai_messages(from_openai_messages(talk)["messages"]) == talk


def test_a_call_is_an_object_and_its_result_bears_the_tools_name() -> None:
    talk: list[dict[str, Any]] = [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{"}}
            ],
        },
        {"role": "tool", "content": "r", "tool_call_id": "c"},
    ]
    assert from_openai_messages(talk) == {
        "system": [],
        "messages": [
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {"id": "c", "function": {"name": "f", "arguments": {"vespe_arguments": "{"}}}
                ],
            },
            {"role": "tool", "content": "r", "tool_name": "f", "tool_call_id": "c"},
        ],
    }


def test_calls_without_ids_pair_by_name_and_place_and_their_ids_stay_out_of_ollamas_sight() -> None:
    talk: list[dict[str, Any]] = [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"function": {"name": n, "arguments": {}}} for n in ("f", "g", "g")],
        },
        {"role": "tool", "content": "1", "tool_name": "g"},
        {"role": "tool", "content": "2"},
        {"role": "tool", "content": "3"},
    ]
    made = to_openai_messages(talk)
    assert [call["id"] for call in made[0]["tool_calls"]] == [
        "vespe_call_1",
        "vespe_call_2",
        "vespe_call_3",
    ]
    assert [message["tool_call_id"] for message in made[1:]] == [
        "vespe_call_2",
        "vespe_call_1",
        "vespe_call_3",
    ]
    assert "vespe_call" not in json.dumps(from_openai_messages(made))


def test_thinking_of_anthropic_is_ollamas_thinking() -> None:
    message = {
        "role": "assistant",
        "content": "a",
        "anthropic_blocks": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}, "part"],
    }
    assert from_openai_messages([message])["messages"] == [
        {"role": "assistant", "content": "a", "thinking": "Hm."}
    ]


def test_old_and_custom_calls_and_refusals_are_understood() -> None:
    talk: list[dict[str, Any]] = [
        {"role": "developer", "content": ["a", "b"]},
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "r"},
        {
            "role": "assistant",
            "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "sh", "input": "ls"}}],
            "refusal": "no",
        },
    ]
    made = from_openai_messages(talk)["messages"]
    assert [message["content"] for message in made] == ["a\nb", "", "r", "no"]
    assert to_openai_messages(made)[-1]["tool_calls"] == talk[3]["tool_calls"]


def test_messages_that_say_nothing_are_dropped_but_results_are_not() -> None:
    talk: list[dict[str, Any]] = [
        {"role": "assistant", "content": ""},
        {"role": "user", "content": None},
        {"role": "tool", "content": ""},
    ]
    assert from_openai_messages(talk)["messages"] == [{"role": "tool", "content": ""}]
    assert to_openai_messages(talk[:2]) == []


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        ("iVBORw0KGgo", "image/png"),
        ("/9j/", "image/jpeg"),
        ("R0lGOD", "image/gif"),
        ("UklGR", "image/webp"),
        ("AAAA", "application/octet-stream"),
    ],
)
def test_an_images_type_is_told_by_its_first_bytes(start: str, kind: str) -> None:
    (message,) = to_openai_messages([{"role": "user", "content": "", "images": [start]}])
    assert message["content"] == [
        {"type": "image_url", "image_url": {"url": f"data:{kind};base64,{start}"}}
    ]


@pytest.mark.parametrize(
    "message",
    [
        {
            "role": "user",
            "content": [{"type": "image_url", "image_url": {"url": "https://e.com/a.png"}}],
        },
        {"role": "user", "content": [{"type": "file", "file": {}}]},
        {"role": "user", "content": [{"type": "text", "text": 3}]},
        {"role": "assistant", "tool_calls": [{}]},
        {"role": "assistant", "tool_calls": "x"},
        {"role": "robot", "content": "x"},
    ],
)
def test_what_ollama_cannot_take_is_refused_by_its_index(message: dict[str, Any]) -> None:
    with pytest.raises(InvalidDocument, match=r"messages\[1\]"):
        from_openai_messages([{"role": "user", "content": "a"}, message])


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": ["a"]},
        {"role": "user", "content": "a", "images": "x"},
        {"role": "assistant", "tool_calls": "x"},
        {"role": "assistant", "tool_calls": [3]},
        {"role": "tool", "content": "nobody asked"},
        {"role": "developer", "content": "x"},
    ],
)
def test_what_is_no_conversation_of_ollamas_is_refused_by_its_index(
    message: dict[str, Any],
) -> None:
    with pytest.raises(InvalidDocument, match=r"messages\[1\]"):
        to_openai_messages([{"role": "user", "content": "a"}, message])


def test_a_system_may_be_given_beside_the_messages() -> None:
    assert to_openai_messages([], "s") == [{"role": "system", "content": "s"}]


@pytest.mark.parametrize("path", RECORDED, ids=lambda p: p.stem)
def test_recorded_conversations_are_stable_after_one_pass(path: Path) -> None:
    inner = to_openai_messages(json.loads(path.read_text(encoding="utf-8"))["request"]["messages"])
    once = from_openai_messages(inner)["messages"]
    judged(once)
    assert to_openai_messages(once) == inner


def test_ids_that_repeat_are_made_two_and_their_results_follow_them() -> None:
    call = {"id": "x", "function": {"name": "f", "arguments": {}}}
    turn: list[dict[str, Any]] = [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "r", "tool_call_id": "x"},
    ]
    inner = to_openai_messages([*turn, *turn])
    assert [m.get("tool_call_id") or m["tool_calls"][0]["id"] for m in inner] == [
        "x",
        "x",
        "x_2",
        "x_2",
    ]
    made = from_openai_messages(inner)["messages"]
    assert to_openai_messages(made) == inner
    assert (
        from_openai_messages(
            [{**m, **({"tool_call_id": "y"} if "tool_call_id" in m else {})} for m in inner[:2]]
        )["messages"]
        == made[:2]
    )


def test_a_result_without_its_call_keeps_the_name_that_it_has() -> None:
    orphan = {"role": "tool", "content": "r", "tool_name": "f", "tool_call_id": "x"}
    assert from_openai_messages(to_openai_messages([orphan]))["messages"] == [orphan]


def test_tuples_and_a_role_of_an_enumeration_are_as_good_as_lists_and_texts() -> None:
    role = enum.StrEnum("Role", ["assistant"]).assistant  # type: ignore[attr-defined]  # made on the spot
    call = {"function": {"name": "f", "arguments": {}}}
    (made,) = to_openai_messages([{"role": role, "tool_calls": (call,)}])
    assert json.dumps(made["role"]) == '"assistant"' and type(made["role"]) is str
    assert from_openai_messages([{**made, "tool_calls": tuple(made["tool_calls"])}])["messages"][0][
        "tool_calls"
    ] == [call]
