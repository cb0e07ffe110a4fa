"""What every translation needs of a message: its parts, copies of what it carries, and sentences
with its index.
"""

from collections.abc import Callable
from typing import Any

import pytest

from vespe.adapters import messages
from vespe.errors import InvalidDocument


@pytest.mark.parametrize("given", ["text", {"role": "user"}, 3, None, b"x"])
def test_what_is_no_list_of_messages_is_refused(given: object) -> None:
    with pytest.raises(InvalidDocument, match="messages: must be a list"):
        messages.check_messages(given)  # type: ignore[arg-type]  # the wrong type is the point


def test_a_message_that_is_no_object_is_named_by_its_index() -> None:
    with pytest.raises(InvalidDocument, match=r"messages\[1\]: must be an object"):
        messages.check_messages([{"role": "user"}, "hello"])  # type: ignore[list-item]  # the wrong type is the point


def test_a_refusal_points_into_the_conversation() -> None:
    with pytest.raises(InvalidDocument) as caught:
        messages.refuse(3, "is wrong", pointer="/content/0")
    assert (caught.value.path, caught.value.pointer) == ("messages[3]", "/3/content/0")


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (None, []),
        ("", []),
        ("a", [{"type": "text", "text": "a"}]),
        ({"type": "text", "text": "a"}, [{"type": "text", "text": "a"}]),
        (["a", {"text": "b"}], [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
    ],
)
def test_content_of_every_kind_becomes_parts(content: object, parts: list[object]) -> None:
    assert messages.parts_of(content, 0) == parts


@pytest.mark.parametrize("content", [3, True, [3]])
def test_content_of_another_kind_is_refused(content: object) -> None:
    with pytest.raises(InvalidDocument, match=r"messages\[7\]"):
        messages.parts_of(content, 7)


def test_other_keys_ride_under_their_own_name_or_the_rests() -> None:
    block = {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}, "citations": None}
    carried = messages.rest_of(block, ("type", "text"), 0)
    assert carried == {"cache_control": {"type": "ephemeral"}, "anthropic": {"citations": None}}
    assert messages.completed({"type": "text", "text": "a"}, carried, 0) == block
    assert messages.completed({"type": "text"}, {"anthropic": {"type": "image", "b": 1}}, 0) == {
        "type": "text",
        "b": 1,
    }
    assert messages.rest_of({"type": "text"}, ("type", "text"), 0) == {}


def test_a_copy_shares_nothing_and_what_is_too_deep_is_refused() -> None:
    given = {"a": [1]}
    messages.copied(given, 0)["a"].append(2)
    assert given == {"a": [1]}
    deep: list[object] = []
    for _ in range(300):
        deep = [deep]
    with pytest.raises(InvalidDocument, match="nested deeper"):
        messages.copied(deep, 0)


def test_a_lone_surrogate_is_said_as_a_replacement() -> None:
    assert (messages.said("a\ud800"), messages.said("ä")) == ("a\ufffd", "ä")


def test_plain_text_is_one_text_part_that_carries_nothing() -> None:
    assert messages.plain_text([{"type": "text", "text": "a"}]) == "a"
    assert messages.plain_text([{"type": "text", "text": "a", "cache_control": {}}]) is None
    assert messages.plain_text([]) is None


def test_names_in_a_sentence_are_each_said_once_and_bounded() -> None:
    assert messages.quoted_names(["a", "a", "b"]) == "'a', 'b'"
    told = messages.quoted_names([f"{n}" * 10_000 for n in range(1, 9)])
    assert len(told) < 600 and told.endswith(", 3 more")


def test_what_is_detached_is_a_copy_and_bounded_in_depth() -> None:
    given: dict[str, Any] = {"a": [{"b": 1}]}
    assert (
        messages.detached(given, "it") == given
        and messages.detached(given, "it")["a"] is not given["a"]
    )
    for _ in range(201):
        given = {"a": given}
    with pytest.raises(InvalidDocument, match="it: is nested deeper than 200 levels"):
        messages.detached(given, "it")


class Dumped(list[object]):
    """Stands for an SDK's object, which is iterable."""

    def model_dump(self) -> None:
        """Give it as data."""


def test_an_sdks_object_is_told_with_what_to_give_instead() -> None:
    assert (
        messages.kind(Dumped()) == "Dumped (give its `model_dump()`)" and messages.kind(3) == "int"
    )
    wrong: Any = Dumped()
    refusals: list[Callable[[], object]] = [
        lambda: messages.check_messages(wrong),
        lambda: messages.check_messages([wrong]),
        lambda: messages.parts_of([wrong], 0),
    ]
    for refused in refusals:
        with pytest.raises(InvalidDocument, match=r"not Dumped \(give its `model_dump"):
            refused()


@pytest.mark.parametrize("value", [{1}, b"a", float("nan"), float("inf"), object()])
def test_what_json_cannot_say_is_never_copied(value: Any) -> None:
    for held in (value, {"a": [value]}):
        with pytest.raises(
            InvalidDocument, match=r"messages\[4\]: holds .*, which JSON cannot represent"
        ):
            messages.copied(held, 4)


def test_a_tuple_is_as_good_as_a_list() -> None:
    parts = ({"type": "text", "text": "a"},)
    assert messages.parts_of(parts, 0) == list(parts)
    assert messages.told({"content": parts}, 0) == {"content": parts}


def _nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize("levels", [0, 1, 15, 16, 17, 199, 200])
def test_a_copy_shares_nothing_with_what_was_given(levels: int) -> None:
    given = _nested(levels)
    made = messages.detached(given, "x")
    assert made == given
    while isinstance(made, dict):
        assert made is not given
        made, given = made["a"], given["a"]


def test_what_is_nested_deeper_than_200_levels_is_not_copied() -> None:
    endless: list[Any] = []
    endless.append(endless)
    shared: Any = []
    for _ in range(300):
        shared = [shared, shared]
    for given in (_nested(201), endless, shared):
        with pytest.raises(InvalidDocument, match="nested deeper than 200 levels"):
            messages.detached(given, "x")


def test_a_copy_has_text_as_utf_8_can_say_it_and_lists_for_tuples() -> None:
    given = {"a\ud800": ("\udc00b", {"c": "ü"}), "d": True, "e": 1.5, "f": None}
    assert messages.detached(given, "x") == {
        "a\ufffd": ["\ufffdb", {"c": "ü"}],
        "d": True,
        "e": 1.5,
        "f": None,
    }
    for wrong in (float("nan"), {"a": object()}, [b"x"]):
        with pytest.raises(InvalidDocument, match="which JSON cannot represent"):
            messages.detached(wrong, "x")
