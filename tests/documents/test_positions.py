"""From pointers to lines and columns."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vespe.documents.pointers import pointer_to
from vespe.documents.positions import locate

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


def places(value: Any, steps: tuple[str | int, ...] = ()) -> list[tuple[str, Any]]:
    found = [(pointer_to(steps), value)]
    for key, item in (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    ):
        found += places(item, (*steps, key))
    return found


@settings(max_examples=200, deadline=None)
@given(VALUES, st.sampled_from([None, 0, 2]), st.booleans())
def test_what_stands_at_a_place_is_the_value_of_the_pointer(
    value: Any, indent: int | None, ascii_only: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    lines = text.split("\n")
    found = locate(text, [pointer for pointer, _ in places(value)])
    for pointer, item in places(value):
        line, column = found[pointer]
        rest = "\n".join([lines[line - 1][column - 1 :], *lines[line:]])
        assert json.JSONDecoder().raw_decode(rest)[0] == item


def test_what_is_not_there_is_where_the_nearest_above_it_is() -> None:
    text = '{\n "a": {\n  "b": 1}}'
    assert locate(text, ["/a/c/d", "/x", "/a/b/0"]) == {
        "/a/c/d": (2, 7),
        "/x": (1, 1),
        "/a/b/0": (3, 8),
    }


def test_lines_are_an_array_whose_empty_lines_do_not_count() -> None:
    text = '{"a": 1}\n\n  {"b": [1, {"c": 2}]}\n'
    assert locate(text, ["/0/a", "/1", "/1/b/1/c", "/7"], kind="jsonl") == {
        "/0/a": (1, 7),
        "/1": (3, 3),
        "/1/b/1/c": (3, 19),
        "/7": (1, 1),
    }


def test_yaml_is_located_by_its_own_marks() -> None:
    text = "tools:\n  - name: a\n    inputSchema: {type: object, properties: {x: {type: dict}}}\n"
    assert locate(text, ["/tools/0/inputSchema/properties/x/type", "/tools/0/zz"], kind="yaml") == {
        "/tools/0/inputSchema/properties/x/type": (3, 56),
        "/tools/0/zz": (2, 5),
    }


@pytest.mark.parametrize(
    "text",
    ["", "{", '{"a": [1,', "]]}}", '{"a" "b"}', '"unended', "{:,}", '{"\\ud800": 1}', "a: [b\n"],
)
def test_text_that_is_no_json_or_yaml_raises_nothing(text: str) -> None:
    for kind in ("json", "jsonl", "yaml"):
        line, column = locate(text, ["/a/0"], kind=kind)["/a/0"]
        assert line >= 1 and column >= 1


def test_a_key_that_comes_twice_is_its_last() -> None:
    assert locate('{"a": 1,\n"a": 2}', ["/a"]) == {"/a": (2, 6)}
