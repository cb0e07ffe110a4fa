"""Unknown fields over the chunks of a stream."""

from typing import Any

from vespe.adapters.streams.pieces import joined, merge


def merged(*deltas: dict[str, Any]) -> Any:
    held: dict[str, Any] = {}
    for delta in deltas:
        merge(held, delta)
    return joined(held)


def test_texts_grow_and_what_comes_whole_stays_as_it_came_first() -> None:
    assert merged({"audio": {"id": "a", "data": "x"}}, {"audio": {"id": "b", "data": "y"}}) == {
        "audio": {"id": "a", "data": "xy"}
    }


def test_null_overwrites_nothing_and_numbers_are_not_added_up() -> None:
    assert merged({"n": 1, "t": "a", "z": None}, {"n": 2, "t": None}) == {
        "n": 2,
        "t": "a",
        "z": None,
    }


def test_entries_go_by_index_and_type() -> None:
    first = {
        "details": [{"index": 0, "type": "reasoning.text", "text": "a"}, {"index": 1, "text": "b"}]
    }
    second = {
        "details": [
            {"index": 0, "type": "reasoning.encrypted", "data": "d"},
            {"index": 1, "text": "c"},
        ]
    }
    assert merged(first, second)["details"] == [
        {"index": 0, "type": "reasoning.text", "text": "a"},
        {"index": 1, "text": "bc"},
        {"index": 0, "type": "reasoning.encrypted", "data": "d"},
    ]


def test_reasoning_without_an_index_continues_the_last_of_its_type() -> None:
    pieces = [
        {"reasoning_details": [{"type": "reasoning.text", "text": text, "format": "f"}]}
        for text in "abc"
    ]
    assert merged(*pieces) == {
        "reasoning_details": [{"type": "reasoning.text", "text": "abc", "format": "f"}]
    }


def test_other_entries_without_an_index_stand_one_behind_the_other() -> None:
    assert merged({"annotations": [{"url": "a"}]}, {"annotations": [{"url": "b"}, 1]}) == {
        "annotations": [{"url": "a"}, {"url": "b"}, 1]
    }


def test_another_id_under_the_same_index_is_another_entry() -> None:
    assert len(merged({"x": [{"index": 0, "id": "a"}]}, {"x": [{"index": 0, "id": "b"}]})["x"]) == 2


def test_a_field_that_changes_its_type_is_what_came_last() -> None:
    assert merged({"a": "x", "b": {}}, {"a": {"c": 1}, "b": "y"}) == {"a": {"c": 1}, "b": "y"}
