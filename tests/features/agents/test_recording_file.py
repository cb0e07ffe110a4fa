"""Files of recordings: what is none is told with its pointer; bodies that are no text; where two
values first differ.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from vespe.errors import InvalidDocument
from vespe.features.agents import recording_file

EMPTY = {
    "version": 1,
    "provider": "openai",
    "api": "openai",
    "model": "m",
    "turns": [],
    "outcomes": [],
}
TURN = {"same_messages": 0, "same": [], "request": {"messages": []}, "answer": {}}


@pytest.mark.parametrize(
    ("change", "pointer", "told"),
    [
        (
            {"version": 2},
            "/version",
            "has version 2, but this version of Vespe only reads version 1",
        ),
        ({"version": None}, "/version", "has version"),
        ({"turns": {}}, "/turns", "is not a recording"),
        ({"model": 1}, "/model", "is not a recording"),
        ({"turns": [TURN, {}]}, "/turns/1", "is not a turn"),
        ({"turns": [TURN | {"same_messages": 1}]}, "/turns/0", "is not a turn"),
        ({"turns": [TURN | {"same_messages": -1}]}, "/turns/0", "is not a turn"),
        ({"turns": [TURN | {"same": ["model"]}]}, "/turns/0", "is not a turn"),
        ({"turns": [TURN | {"same": None}]}, "/turns/0", "is not a turn"),
        ({"turns": [TURN | {"answer": {"status": "200"}}]}, "/turns/0", "is not a turn"),
        ({"turns": [TURN | {"answer": {"body": 5}}]}, "/turns/0", "is not a turn"),
        ({"turns": [TURN | {"answer": {"error": "x"}}]}, "/turns/0", "is not a turn"),
        ({"turns": [TURN | {"answer": {"error": {"status": []}}}]}, "/turns/0", "is not a turn"),
        ({"outcomes": [{"call_id": 1}]}, "/outcomes/0", "is not an outcome"),
        (
            {"outcomes": [{"call_id": "a", "outcome": {"notes": 1}}]},
            "/outcomes/0",
            "is not an outcome",
        ),
        (
            {"outcomes": [{"call_id": "a", "outcome": {"error": {"why": 1}}}]},
            "/outcomes/0",
            "is not an outcome",
        ),
        ({"keep": "x"}, "/keep", "is not a recording"),
    ],
)
def test_what_is_no_recording_is_told_with_its_pointer(
    change: Any, pointer: str, told: str, tmp_path: Path
) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps(EMPTY | change), encoding="utf-8")
    with pytest.raises(InvalidDocument) as caught:
        recording_file.read_recording(str(path))
    assert caught.value.pointer == pointer and told in str(caught.value)


def test_a_file_without_a_version_is_no_recording(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text('{"turns": []}', encoding="utf-8")
    with pytest.raises(InvalidDocument, match="version"):
        recording_file.read_recording(str(path))


@pytest.mark.parametrize("body", [b"", b"text", "é".encode(), b"\xff\x00"])
def test_a_body_comes_back_byte_for_byte(body: bytes) -> None:
    written = json.loads(json.dumps(recording_file.body_as_json(body)))
    assert recording_file.body_of(written) == body


def test_a_body_in_base64_that_is_none_is_told() -> None:
    with pytest.raises(InvalidDocument, match="base64"):
        recording_file.body_of({"body_base64": "a"})


@pytest.mark.parametrize(
    ("recorded", "given", "pointer"),
    [
        ({"a": [1, {"b/c": 2}]}, {"a": [1, {"b/c": 3}]}, "/a/1/b~1c"),
        ([1, 2], [1], "/1"),
        ([1], [1, 2], "/1"),
        ({"a": 1}, {"a": 1, "b": None}, "/b"),
        (1, True, ""),
        ({"a": {}}, {"a": []}, "/a"),
        ("x" * 500, "x" * 499, ""),
    ],
)
def test_the_first_difference_is_named(recorded: Any, given: Any, pointer: str) -> None:
    found = recording_file.first_difference(recorded, given)
    assert found is not None and found[0] == pointer and len(found[1]) < 250


def test_every_difference_is_told_with_what_was_and_what_is() -> None:
    found = list(
        recording_file.differences(
            {"a": 1, "b": [1, 2], "c": 0}, {"a": True, "b": [1], "d": None, "c": 0}
        )
    )
    assert [
        (each.pointer, each.recorded, each.now, each.was_there, each.is_there) for each in found
    ] == [
        ("/a", 1, True, True, True),
        ("/b/1", 2, None, True, False),
        ("/d", None, None, False, True),
    ]


def test_the_order_of_keys_is_no_difference() -> None:
    assert recording_file.first_difference({"a": 1, "b": [None]}, {"b": [None], "a": 1}) is None


@pytest.mark.parametrize(
    ("recorded", "given", "fits"),
    [
        ("my key ***", "my key sk-1", True),
        ("***, *** and ***.", "a, b and c.", True),
        ("***", "", True),
        ("a***a", "a", False),
        ("a *** b *** c", "a 1 c", False),
        ("key ***", "no key sk-1", False),
        ("***", 5, False),
    ],
)
def test_a_mask_stands_for_the_key_that_was_not_recorded(
    recorded: str, given: Any, *, fits: bool
) -> None:
    assert (recording_file.first_difference([recorded], [given], masked=True) is None) == fits
    assert recording_file.first_difference([recorded], [given]) is not None
