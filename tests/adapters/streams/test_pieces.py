"""Chunks read, and texts grown."""

import pytest

from vespe.adapters.streams.pieces import (
    Growing,
    call_id,
    is_cut,
    is_whole_object,
    read_chunk,
    read_documents,
    sayable,
    shallow,
)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"nope",
        b"{",
        b'{"a": 1} more',
        b'{"a": NaN}',
        b'{"a": 1e999}',
        b"[" * 100_000,
        b"1" * 5000,
    ],
)
def test_what_is_no_json_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError):
        read_chunk(data)


def test_a_chunk_is_read_with_space_around_it_and_bytes_that_are_no_utf_8_repaired() -> None:
    assert read_chunk(b' {"a": "\xff"} \n') == {"a": "�"}


def test_halves_of_a_character_become_one() -> None:
    text = Growing()
    assert [text.add("a\ud83d"), text.add("\ude00b")] == ["a", "😀b"]
    assert (text.text(), text.end()) == ("a😀b", "")


def test_a_half_that_stays_alone_is_told_at_the_end() -> None:
    text = Growing()
    assert [text.add("\ude00"), text.add("x\ud83d")] == ["�", "x"]
    assert text.text() == "�x�"
    assert (text.end(), text.end(), text.text()) == ("�", "", "�x�")


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("{}", True),
        (' {"a": [1]}\n', True),
        ("", False),
        ("{", False),
        ('{"a": "}', False),
        ("[]", False),
        ("{}{}", False),
        ('{"a":1,"a":2}', False),
    ],
)
def test_only_a_whole_object_is_one(text: str, whole: bool) -> None:
    assert is_whole_object(text) is whole


@pytest.mark.parametrize(
    ("body", "cut"),
    [
        (b'{"a', True),
        (b"[DON", True),
        (b"dat", True),
        (b"ev", True),
        (b'{"a": 1}', False),
        (b"<html>", False),
    ],
)
def test_the_beginning_of_something_is_told_from_something_else(body: bytes, cut: bool) -> None:
    assert is_cut(body) is cut


def test_documents_are_one_a_list_or_lines() -> None:
    assert read_documents(b'{\n"a": 1}') == [{"a": 1}]
    assert read_documents(b'[{"a": 1}, 2]') == [{"a": 1}]
    assert read_documents(b'{"a": 1}\n\n{"b": 2}') == [{"a": 1}, {"b": 2}]
    assert read_documents(b"<html>") == []


def test_what_json_cannot_say_never_becomes_an_input() -> None:
    assert sayable({"a": 1}) == {"a": 1}
    assert list(sayable({"a": float("nan")})) == ["vespe_arguments"]


def test_what_is_nested_deeper_than_vespe_reads_is_told() -> None:
    deep: list[object] = []
    for _ in range(100):
        deep = [deep]
    assert shallow([[1], "x"]) and not shallow(deep)


def test_an_id_of_ours_goes_by_what_was_said() -> None:
    assert call_id("a", 1) == call_id("a", 1) != call_id("a", 2)
    assert call_id("\ud83d").startswith("vespe_call_")
