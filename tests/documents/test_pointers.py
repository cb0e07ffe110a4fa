from typing import Any

import pytest

from vespe.documents import pointers

DOCUMENT = {"a": {"b/c": [10, {"~": 5}]}, "": 1, "0": 2, "é": 3}
ROWS = [("", DOCUMENT), ("/a/b~1c/0", 10), ("/a/b~1c/1/~0", 5), ("/", 1), ("/0", 2), ("/é", 3)]


@pytest.mark.parametrize(("pointer", "value"), ROWS)
def test_a_pointer_finds_what_it_stands_for(pointer: str, value: Any) -> None:
    assert pointers.resolve_pointer(DOCUMENT, pointer) == value


@pytest.mark.parametrize(
    "pointer",
    ["/b", "/a/b", "/a/b~1c/2", "/a/b~1c/01", "/a/b~1c/-", "/a/b~1c/-1", "/a/b~1c/٣", "/0/x"],
)
def test_a_pointer_to_nothing_is_a_lookup_error(pointer: str) -> None:
    with pytest.raises(LookupError):
        pointers.resolve_pointer(DOCUMENT, pointer)


@pytest.mark.parametrize("text", ["a", "a/b", "#/a", "/~", "/a~2", "/a~"])
def test_a_text_that_is_no_pointer_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="not a JSON Pointer"):
        pointers.steps_of(text)


def test_a_path_becomes_a_pointer_and_comes_back() -> None:
    steps = ("a/b", 0, "~1", "")
    assert pointers.pointer_to(steps) == "/a~1b/0/~01/"
    assert pointers.steps_of(pointers.pointer_to(steps)) == tuple(map(str, steps))
