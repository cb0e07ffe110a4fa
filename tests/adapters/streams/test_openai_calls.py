"""The calls of one choice, gathered from deltas of every kind that servers send."""

from typing import Any

import pytest

from vespe.adapters.streams.base import StreamEvent
from vespe.adapters.streams.openai_calls import CallGathering


def piece(
    index: Any = None, id: Any = None, name: Any = None, arguments: Any = None, **rest: Any
) -> dict[str, Any]:
    function = {
        key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None
    }
    made = {"index": index, "id": id, "function": function} | rest
    return {key: value for key, value in made.items() if value is not None}


def gathered(*deltas: Any) -> list[tuple[str, str, str]]:
    calls = CallGathering()
    order = 0
    for delta in deltas:
        order = calls.take(delta, [], order)
    assert order == len(calls.calls)
    return [(call.id, call.name, call.text()) for call in calls.calls]


F, G = "f", "g"
CASES = {
    "empty objects under two names at one index": (
        [[piece(0, None, F, {})], [piece(0, None, G, {})]],
        [("", F, "{}"), ("", G, "{}")],
    ),
    "an empty object, and another under its name": (
        [[piece(0, None, F, {})], [piece(0, None, F, {"x": 1})]],
        [("", F, "{}"), ("", F, '{"x":1}')],
    ),
    "an empty object again under its name": (
        [[piece(0, None, F, {})], [piece(0, None, F, {})]],
        [("", F, "{}")],
    ),
    "arguments in pieces": (
        [[piece(0, "a", F, "")], [piece(0, arguments='{"x"')], [piece(0, arguments=":1}")]],
        [("a", F, '{"x":1}')],
    ),
    "interleaved": (
        [
            [piece(0, "a", F), piece(1, "b", G)],
            [piece(1, arguments="2")],
            [piece(0, arguments="1")],
        ],
        [("a", F, "1"), ("b", G, "2")],
    ),
    "the first index is 1": ([[piece(1, "a", F, "{}")]], [("a", F, "{}")]),
    "id and name repeated": ([[piece(0, "a", F, "1")], [piece(0, "a", F, "2")]], [("a", F, "12")]),
    "id and name null or empty": (
        [
            [piece(0, "a", F, "1")],
            [{"index": 0, "id": None, "function": {"name": "", "arguments": "2"}}],
        ],
        [("a", F, "12")],
    ),
    "a late id": ([[piece(0, None, F, "1")], [piece(0, "a", None, "2")]], [("a", F, "12")]),
    "a late id without index": (
        [[piece(None, None, F, "1")], [piece(None, "a", None, "2")]],
        [("a", F, "12")],
    ),
    "a late name": ([[piece(0, "a", None, "1")], [piece(0, None, F, "2")]], [("a", F, "12")]),
    "a name in pieces": (
        [[piece(0, "a", "get_")], [piece(0, None, "weather")], [piece(0, None, None, "{}")]],
        [("a", "get_weather", "{}")],
    ),
    "a name that grows": ([[piece(0, "a", "get")], [piece(0, "a", "get_x")]], [("a", "get_x", "")]),
    "all indexes 0": (
        [[piece(0, "a", F, "1")], [piece(0, "b", F, "2")], [piece(0, None, None, "3")]],
        [("a", F, "1"), ("b", F, "23")],
    ),
    "all indexes 0, ids everywhere": (
        [[piece(0, "a", F)], [piece(0, "b", G)], [piece(0, "a", F, "1"), piece(0, "b", None, "2")]],
        [("a", F, "1"), ("b", G, "2")],
    ),
    "all indexes 0, no ids": (
        [[piece(0, "", F, '{"x":1}')], [piece(0, "", F, '{"x":2}')]],
        [("", F, '{"x":1}'), ("", F, '{"x":2}')],
    ),
    "another id alone": ([[piece(0, "a", F, "1")], [piece(0, "b", None, "2")]], [("a", F, "12")]),
    "one id at two indexes": (
        [[piece(0, "a", F, "1"), piece(1, "a", F, "2")]],
        [("a", F, "1"), ("a", F, "2")],
    ),
    "no index": (
        [[piece(None, "a", F, "1")], [piece(None, "b", G, "2")], [piece(None, "a", None, "3")]],
        [("a", F, "13"), ("b", G, "2")],
    ),
    "no index, no id": (
        [[piece(None, "a", F)], [piece(None, None, None, "1")], [piece(None, None, None, "2")]],
        [("a", F, "12")],
    ),
    "only names": (
        [[piece(None, None, F, "{}"), piece(None, None, G, "{}"), piece(None, None, G, "{}")]],
        [("", F, "{}"), ("", G, "{}"), ("", G, "{}")],
    ),
    "a name repeated over pieces": (
        [[piece(None, None, F, '{"x"')], [piece(None, None, F, ":1}")]],
        [("", F, '{"x":1}')],
    ),
    "an index that is none": (
        [[piece("0", "a", F, "1")], [piece(True, None, None, "2")]],
        [("a", F, "12")],
    ),
    "arguments as an object": ([[piece(0, "a", F, {"x": "é"})]], [("a", F, '{"x":"é"}')]),
    "an empty object": ([[piece(0, "a", F, {})]], [("a", F, "{}")]),
    "an empty object before the pieces": (
        [[piece(0, "a", F, {})], [piece(0, None, None, '{"x":1}')]],
        [("a", F, '{"x":1}')],
    ),
    "arguments of other types": (
        [[piece(0, "a", F, [1])], [piece(1, "b", F, 0)]],
        [("a", F, "[1]"), ("b", F, "0")],
    ),
    "no arguments": ([[piece(0, "a", F)], [piece(1, "b", F, "")]], [("a", F, ""), ("b", F, "")]),
    "a call that is not in a list": ([piece(0, "a", F, "1")], [("a", F, "1")]),
    "a function that is null": (
        [[{"index": 0, "id": "a", "function": None}], [piece(0, None, F, "1")]],
        [("a", F, "1")],
    ),
    "what is not a call": ([[None, 5, "x"]], []),
}


@pytest.mark.parametrize(("deltas", "wanted"), CASES.values(), ids=CASES.keys())
def test_pieces_find_their_calls(deltas: list[Any], wanted: list[tuple[str, str, str]]) -> None:
    assert gathered(*deltas) == wanted


def test_arguments_that_json_cannot_say_never_parse() -> None:
    assert gathered([piece(0, "a", F, {"x": float("nan")})])[0][2].startswith("<")
    deep: dict[str, Any] = {}
    for _ in range(100):
        deep = {"x": deep}
    assert gathered([piece(0, "a", F, deep)])[0][2] == "<nested too deeply>"


def test_events_tell_the_start_with_the_name_and_then_the_arguments() -> None:
    calls, events = CallGathering(), list[StreamEvent]()
    calls.take([piece(0, None, None, "1")], events, 0)
    assert events == []
    calls.take([piece(0, "a", F, "2")], events, 1)
    assert [(e.type, e.text, e.call_id, e.name) for e in events] == [
        ("tool_start", "", "a", F),
        ("tool_arguments", "1", "a", F),
        ("tool_arguments", "2", "a", F),
    ]


def test_other_fields_of_a_call_are_kept() -> None:
    calls = CallGathering()
    calls.take(
        [piece(0, "a", F, "{}", extra_content={"google": {"thought_signature": "s"}})], [], 0
    )
    assert calls.calls[0].as_json()["extra_content"] == {"google": {"thought_signature": "s"}}


def test_a_custom_call_is_one() -> None:
    calls = CallGathering()
    calls.take(
        [{"index": 0, "id": "a", "type": "custom", "custom": {"name": F, "input": "x"}}], [], 0
    )
    calls.take([{"index": 0, "custom": {"input": "y"}}], [], 1)
    assert calls.calls[0].as_json() == {
        "id": "a",
        "type": "custom",
        "custom": {"name": F, "input": "xy"},
    }
