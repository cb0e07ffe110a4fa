"""Items of a conversation as messages, whatever the API calls them."""

from typing import Any

import pytest

from vespe.adapters.call_ids import Calls
from vespe.adapters.items_in import TurnIn, answered, called, messages_of, with_entry
from vespe.errors import InvalidDocument
from vespe.models import JsonObject


class Said(TurnIn):
    """A turn whose items are texts."""

    def add(self, item: JsonObject, index: int) -> None:
        """Take the next text."""
        self.parts.append({"type": "text", "text": item["says"]})
        self.order.append({key: item[key] for key in item if key != "says"})

    def message(self) -> JsonObject:
        """Return the message."""
        return self.with_order("kept", usual=[{}] * len(self.parts))


def test_what_the_model_says_between_others_is_one_message() -> None:
    items: list[JsonObject] = [
        {"user": "a"},
        {"says": "b"},
        {"says": "c", "id": 1},
        {"user": "d"},
        {"says": "e"},
    ]
    made = messages_of(
        items,
        lambda: Said(Calls()),
        lambda item, _: {"role": "user", "content": item["user"]} if "user" in item else None,
    )
    parts = [{"type": "text", "text": "b"}, {"type": "text", "text": "c"}]
    assert made == [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": parts, "kept": [{}, {"id": 1}]},
        {"role": "user", "content": "d"},
        {"role": "assistant", "content": "e"},
    ]


def test_a_result_answers_by_its_id_or_the_only_open_call() -> None:
    calls: Calls[None] = Calls()
    calls.begin_turn()
    assert called({"type": "call", "id": "a", "name": "f"}, "id", calls, 0) == ("a", "f")
    assert answered({"type": "result"}, calls, 1) == "a"
    with pytest.raises(InvalidDocument, match=r"messages\[2\].*`result` has no `call_id`"):
        answered({"type": "result"}, calls, 2)
    assert answered({"type": "result", "call_id": "z"}, calls, 3) == "z"


@pytest.mark.parametrize("name", [None, "", 3])
def test_a_call_without_a_name_is_refused(name: Any) -> None:
    with pytest.raises(InvalidDocument, match="a `call` has no name"):
        called({"type": "call", "id": "a", "name": name}, "id", Calls(), 0)


def test_an_entry_that_says_only_its_type_is_left_out() -> None:
    assert with_entry({"role": "user"}, "kept", {"type": "x"}) == {"role": "user"}
    assert with_entry({"role": "user"}, "kept", {"type": "x", "id": 1})["kept"] == [
        {"type": "x", "id": 1}
    ]
