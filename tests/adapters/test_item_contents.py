"""Contents of items and parts of the inner format, at an API with words of its own."""

from typing import Any

import pytest

from vespe.adapters.item_contents import Contents, other_content, rest_of_item
from vespe.errors import InvalidDocument

CONTENTS = Contents(
    words={"says": ("text",), "words": ("text",)},
    inner=lambda given: (
        {"type": "text", "text": given["text"]} if isinstance(given.get("text"), str) else None
    ),
    outer=lambda part, index, sort: (
        {"type": "says", "text": part["text"]}
        if part["type"] == "text"
        else other_content(part, index)
    ),
    text="says",
    alike=("says", "words"),
)


def test_contents_become_parts_and_what_no_part_says_is_kept_and_comes_back() -> None:
    given: list[Any] = [
        {"type": "says", "text": "a", "mark": [1]},
        {"type": "odd", "x": {"y": 1}},
        {"type": "words", "text": "b"},
        "c",
    ]
    parts, entries = CONTENTS.to_parts(given, 0)
    assert [part["text"] for part in parts] == ["a", "b", "c"]
    assert entries == [{"type": "says", "mark": [1]}, given[1], {"type": "words"}, {"type": "says"}]
    assert entries[1]["x"] is not given[1]["x"]
    back = CONTENTS.filled(entries, iter(parts), 0)
    assert back == [*given[:3], {"type": "says", "text": "c"}]


def test_an_entry_whose_part_is_gone_or_of_another_kind_gives_way() -> None:
    entries: Any = [{"type": "says", "mark": 1}, 3, {"type": "says"}]
    other = {"type": "picture", "url": "u"}
    assert CONTENTS.filled(entries, iter([other]), 0) == [other]
    assert CONTENTS.filled(None, iter([other]), 0) == []


def test_what_a_message_says_stands_in_its_entries_and_behind_them() -> None:
    message = {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
    made = CONTENTS.of_message(message, [{"type": "says", "mark": 1}], 0)
    assert made == [{"type": "says", "text": "a", "mark": 1}, {"type": "says", "text": "b"}]


@pytest.mark.parametrize("content", [None, 3, {"type": "says"}, "a", [3], [None]])
def test_what_is_no_list_of_contents_is_refused_with_the_index(content: Any) -> None:
    with pytest.raises(InvalidDocument, match=r"messages\[7\]"):
        CONTENTS.to_parts(content, 7)


@pytest.mark.parametrize("sort", [None, 3, ["x"]])
def test_a_part_without_a_type_is_refused(sort: Any) -> None:
    with pytest.raises(InvalidDocument, match="needs a `type`"):
        other_content({"type": sort}, 0)


def test_the_rest_of_an_item_is_a_copy() -> None:
    item = {"a": [1], "b": 2}
    assert rest_of_item(item, ("b",), 0) == {"a": [1]}
    assert rest_of_item(item, (), 0)["a"] is not item["a"]
