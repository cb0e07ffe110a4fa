"""Turns that are lists of items: which calls wait, and which results answer them."""

from collections.abc import Iterator

import pytest

from vespe.adapters.call_ids import Waiting, calls_of
from vespe.adapters.items_out import ItemsOut, Made, entries_of, only_entry, said_parts
from vespe.errors import InvalidDocument
from vespe.models import JsonObject


class Plain(ItemsOut):
    """Items with nothing but the ids."""

    def assistant(self, message: JsonObject, index: int) -> Iterator[JsonObject]:
        for call in calls_of(message, index):
            yield self.called({"name": call["function"]["name"]}, "call", call.get("id"), index)

    def spoken(self, message: JsonObject, index: int) -> Iterator[JsonObject]:
        yield {"says": message["content"]}

    def result(self, message: JsonObject, call: Waiting[Made], index: int) -> JsonObject:
        return {"of": call.id, "name": call.kept.item["name"]}


def calling(*ids: str) -> JsonObject:
    calls = [{"id": one, "function": {"name": "f"}} for one in ids]
    return {"role": "assistant", "tool_calls": calls}


def made(*messages: JsonObject) -> list[JsonObject]:
    out = Plain()
    for index, message in enumerate(messages):
        out.add(message, index)
    return out.items()


RESULT = {"role": "tool", "tool_call_id": "c1", "content": ""}
USER = {"role": "user", "content": "Hi"}


def test_a_result_is_of_its_call_and_a_conversation_may_end_in_calls_that_wait() -> None:
    assert made(calling("c1", "c2"), RESULT) == [
        {"name": "f", "call": "c1"},
        {"name": "f", "call": "c2"},
        {"of": "c1", "name": "f"},
    ]


def test_a_result_may_come_behind_what_the_user_says() -> None:
    assert [*map(list, made(calling("c1"), USER, RESULT))] == [
        ["name", "call"],
        ["says"],
        ["of", "name"],
    ]


def test_a_call_without_a_result_is_refused_where_the_conversation_goes_on() -> None:
    with pytest.raises(InvalidDocument, match=r"messages\[0\].*without the result of 'c1', 'c2'"):
        made(calling("c1", "c2"), USER)
    with pytest.raises(InvalidDocument, match="answers no call"):
        made(RESULT)
    with pytest.raises(InvalidDocument, match="has the role 'robot'"):
        made({"role": "robot"})


def test_what_is_kept_beside_a_message_is_objects_alone() -> None:
    assert list(entries_of({"k": [{"a": 1}, 3, "part"]}, "k")) == [{"a": 1}]
    assert only_entry({"k": [{"a": 1}]}, "k") == {"a": 1}
    assert only_entry({"k": [{}, {}]}, "k") == only_entry({"k": 3}, "k") == {}


def test_a_refusal_is_what_the_model_said_where_it_said_nothing_else() -> None:
    assert said_parts({"content": None, "refusal": "No."}, 0) == [
        {"type": "refusal", "refusal": "No."}
    ]
    assert said_parts({"content": "Yes.", "refusal": "No."}, 0) == [
        {"type": "text", "text": "Yes."}
    ]
