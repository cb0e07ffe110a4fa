"""Inner messages on OpenAI's wire."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from openai.types.chat import ChatCompletionMessage

from tests.adapters import conversations, corpus
from tests.adapters.judges import accepts, complaint
from vespe.adapters.ollama.messages import from_openai_messages
from vespe.adapters.openai.wire import to_wire
from vespe.errors import InvalidDocument


def test_whatever_is_drawn_goes_over_the_wire_as_openais_types_take_it() -> None:
    for messages in conversations.openai(200):
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
    assert kept == [
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "a", "cache_control": {}}],
            "reasoning_content": "Hm.",
        }
    ]


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
    talk: list[dict[str, Any]] = [
        {"role": "tool", "tool_call_id": "1", "content": {"n": [1]}},
        {"role": "tool", "tool_call_id": "2"},
    ]
    assert [message["content"] for message in to_wire(talk)] == ['{"n":[1]}', ""]


def test_of_blocks_that_only_anthropic_knows_the_text_alone_goes() -> None:
    found = {
        "type": "search_result",
        "title": "T",
        "source": "s",
        "content": [{"type": "text", "text": "a"}],
    }
    paper = {"type": "document", "title": "D", "source": {"type": "content", "content": "b"}}
    link = {"type": "document", "source": {"type": "url", "url": "https://e.com"}}
    talk: list[dict[str, Any]] = [
        {"role": "user", "content": "q", "anthropic_blocks": [found, "part", paper, link]},
        {"role": "user", "content": [], "anthropic_blocks": [link]},
        {
            "role": "assistant",
            "content": None,
            "anthropic_blocks": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}],
        },
    ]
    (sent,) = to_wire(talk)
    assert [part["text"] for part in sent["content"]] == ["T\ns\na", "q", "D\nb"]
    assert from_openai_messages(talk[:2])["messages"] == [
        {"role": "user", "content": "T\ns\na\nq\nD\nb"}
    ]


def test_what_an_answer_holds_and_a_request_may_not_is_taken_off() -> None:
    call = {"id": "c", "function": {"name": "f", "arguments": "{}"}}
    empty = {
        "audio": {"id": "", "data": ""},
        "function_call": {"name": "", "arguments": ""},
        "name": None,
        "refusal": "",
    }
    (sent,) = to_wire([{"role": "assistant", "content": "a", "tool_calls": [call], **empty}])
    assert sent == {
        "role": "assistant",
        "content": "a",
        "tool_calls": [{**call, "type": "function"}],
        "refusal": "",
    }
    assert accepts("openai message", sent), complaint("openai message", sent)
    (spoken,) = to_wire(
        [
            {
                "role": "assistant",
                "audio": {"id": "au_1", "data": "AA", "expires_at": 0, "transcript": "t"},
            }
        ]
    )
    assert spoken == {"role": "assistant", "audio": {"id": "au_1"}} and accepts(
        "openai message", spoken
    )


def called(*calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **more}


def call(identifier: Any, arguments: Any = "{}", **more: Any) -> dict[str, Any]:
    return {
        "id": identifier,
        "type": "function",
        "function": {"name": "f", "arguments": arguments},
        **more,
    }


@pytest.mark.parametrize(
    ("given_arguments", "sent"),
    [
        ("{", "{"),
        ("", ""),
        (None, "{}"),
        ({"a": [1]}, '{"a":[1]}'),
        ([1], "[1]"),
        ("\ud800", "\ufffd"),
    ],
)
def test_arguments_go_as_a_text_and_broken_ones_as_they_came(
    given_arguments: Any, sent: str
) -> None:
    (message,) = to_wire([called(call("c", given_arguments))])
    assert message["tool_calls"][0]["function"]["arguments"] == sent
    assert accepts("openai message", message)


def test_ids_that_are_missing_or_repeat_are_mended_in_calls_and_results() -> None:
    talk = [
        called(call(None), call(7)),
        {"role": "tool", "tool_call_id": 7, "content": "7"},
        {"role": "tool", "content": "none"},
    ]
    again = [called(call("a")), {"role": "tool", "tool_call_id": "a", "content": "1"}]
    sent = to_wire([*talk, *again, *again])
    assert [c["id"] for message in sent for c in message.get("tool_calls", ())] == [
        "vespe_call_1",
        "7",
        "a",
        "a_2",
    ]
    results = [(m["tool_call_id"], m["content"]) for m in sent if m["role"] == "tool"]
    assert results == [("7", "7"), ("vespe_call_1", "none"), ("a", "1"), ("a_2", "1")]
    assert all(accepts("openai message", message) for message in sent)


def test_a_custom_call_goes_whole_and_calls_are_the_assistants_alone() -> None:
    custom = {"id": "c", "type": "custom", "custom": {"name": "sh", "input": "ls"}}
    assert to_wire([called(custom)])[0]["tool_calls"] == [custom]
    assert (
        to_wire([called({**custom, "custom": {"name": "sh"}})])[0]["tool_calls"][0]["custom"][
            "input"
        ]
        == ""
    )
    assert to_wire([{"role": "user", "content": "a", "tool_calls": [custom]}]) == [
        {"role": "user", "content": "a"}
    ]


def test_a_compatible_servers_field_on_a_call_stays_where_it_is_asked_for() -> None:
    given_call = call("c", extra_content={"google": {"thought_signature": "s"}})
    assert to_wire([called(given_call)]) == [called(call("c"))]
    assert to_wire([called(given_call)], keep=("extra_content",)) == [called(given_call)]


ANSWER = ChatCompletionMessage.model_validate(called(call("c")))


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (ANSWER, "model_dump"),
        ({"content": "a"}, "has the role None"),
        ({"role": "User", "content": "a"}, "has the role 'User'"),
        ({"role": "user", "content": 5}, "`content` must be a string or a list, not int"),
        ({"role": "user", "content": b"a"}, "not bytes"),
        ({"role": "user", "content": iter([])}, "not list_iterator"),
        ({"role": "user", "content": [{"a": 1}]}, "needs a `type`"),
        ({"role": "user", "content": [{"type": "text", "text": 5}]}, "must hold a string, not int"),
        (
            {"role": "user", "content": [{"type": "video_url", "video_url": ANSWER}]},
            "holds ChatCompletionMessage",
        ),
        ({"role": "user", "content": "a", "name": 5}, "`name` must be a string"),
        ({"role": "assistant", "refusal": 5}, "`refusal` must be a string"),
        (called(call("c"), content=None, tool_calls="x"), "`tool_calls` must be a list"),
        (called({"id": "c", "type": "function"}), "no function's name"),
        (called(call("c", {1})), "cannot be represented in JSON"),
        ({"role": "tool", "content": "a"}, "no `tool_call_id`"),
        ({"role": "function", "content": "a"}, "needs the function's `name`"),
        (
            {"role": "tool", "tool_call_id": "c", "content": {"a": {1}}},
            "cannot be represented in JSON",
        ),
    ],
)
def test_what_openais_format_cannot_say_is_refused_with_the_messages_index(
    message: Any, said: str
) -> None:
    with pytest.raises(InvalidDocument) as caught:
        to_wire([{"role": "user", "content": "q"}, message])
    assert str(caught.value).startswith("messages[1]: ") and said in str(caught.value)


def test_a_deprecated_functions_result_goes_as_one() -> None:
    sent = to_wire(
        [
            {"role": "function", "name": "f", "content": {"a": 1}},
            {"role": "function", "name": "f", "content": None},
        ]
    )
    assert [message["content"] for message in sent] == ['{"a":1}', ""]
    assert all(accepts("openai message", message) for message in sent)


def test_what_an_sdk_dumps_goes_over_the_wire() -> None:
    (sent,) = to_wire([ANSWER.model_dump()])
    assert accepts("openai message", sent), complaint("openai message", sent)
    assert json.loads(json.dumps(sent))["tool_calls"] == [call("c")]


def test_tuples_are_as_good_as_lists() -> None:
    talk: list[dict[str, Any]] = [
        {"role": "user", "content": ({"type": "text", "text": "a"},)},
        called(tool_calls=(call("c"),)),
    ]
    assert to_wire(talk) == [
        {"role": "user", "content": [{"type": "text", "text": "a"}]},
        called(call("c")),
    ]


def calling(identifier: str, **said: Any) -> dict[str, Any]:
    return {
        "role": "assistant",
        "tool_calls": [
            {"id": identifier, "type": "function", "function": {"name": "f", "arguments": "{}"}}
        ],
        **said,
    }


@pytest.mark.parametrize(
    ("second", "content"),
    [(None, "A"), ("B", [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}])],
)
def test_what_an_assistant_says_behind_its_calls_joins_them(second: Any, content: Any) -> None:
    results = [{"role": "tool", "tool_call_id": one, "content": one} for one in ("a", "b")]
    made = to_wire([calling("a", content="A"), calling("b", content=second), *results])
    assert (
        made[0]["content"] == content
        and [call["id"] for call in made[0]["tool_calls"]] == ["a", "b"]
        and made[1:] == results
    )


def test_assistant_messages_without_calls_stay_apart() -> None:
    messages = [{"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"}]
    assert to_wire(messages) == messages


@pytest.mark.parametrize(
    "content", ["no such city", [{"type": "text", "text": "no such city"}], ""]
)
def test_the_text_of_an_error_says_so_once(content: Any) -> None:
    message = {"role": "tool", "tool_call_id": "c", "content": content}
    (made,) = to_wire([message | {"is_error": True}])
    assert (
        str(made["content"]).count("[tool error]") == 1
        and to_wire([made]) == [made]
        and "is_error" not in made
    )
    assert to_wire([message | {"is_error": False}]) == [message]
    assert to_wire([message | {"is_error": True}], keep=["is_error"]) == [
        message | {"is_error": True}
    ]


def test_every_recorded_conversation_goes_over_the_wire_as_openais_types_take_it(
    shared: Path,
) -> None:
    for path in sorted((shared / "corpus" / "conversations").glob("*/*.json")):
        request = json.loads(path.read_text(encoding="utf-8"))["request"]
        sent = to_wire(corpus.inner(path.parent.name, request)) if "messages" in request else []
        assert not [
            complaint("openai message", m)
            for m in sent
            if not accepts("openai message", m) and not foreign(m)
        ], path
        assert_results_follow(sent)


def foreign(message: dict[str, Any]) -> bool:
    """Whether it holds a part that only a compatible server knows, which goes through as it
    came.
    """
    known = ("text", "refusal", "image_url", "input_audio", "file")
    return isinstance(message.get("content"), list) and any(
        part["type"] not in known for part in message["content"]
    )


def assert_results_follow(messages: list[dict[str, Any]]) -> None:
    waiting: set[str] = set()
    for message in messages:
        assert not waiting or message["role"] == "tool", message
        waiting -= {message.get("tool_call_id", "")}
        waiting |= {call["id"] for call in message.get("tool_calls") or ()}
