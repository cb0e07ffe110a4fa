"""Typed fields: the value, or a pointer to what is wrong."""

import pytest

from vespe.documents import fields
from vespe.errors import InvalidDocument
from vespe.models import JsonValue


def pointer_of(caught: pytest.ExceptionInfo[InvalidDocument]) -> str:
    return caught.value.pointer


def test_absent_fields_have_their_defaults() -> None:
    assert fields.string({}, "a", path="f", default="x") == "x"
    assert fields.strings({}, "a", path="f", default=("x",)) == ("x",)
    assert fields.mapping({}, "a", path="f") == {}


def test_present_fields_are_given_as_they_are() -> None:
    document = {"s": "x", "l": ["a", "b"], "o": {"k": 1}}
    assert fields.string(document, "s", path="f") == "x"
    assert fields.strings(document, "l", path="f", default=("z",)) == ("a", "b")
    assert fields.mapping(document, "o", path="f") == {"k": 1}


@pytest.mark.parametrize("value", [None, 1, True, [], {}])
def test_a_string_of_another_type_is_refused_with_its_pointer(value: JsonValue) -> None:
    with pytest.raises(InvalidDocument, match="must be a string") as caught:
        fields.string({"a": value}, "a", path="f", default="x")
    assert (caught.value.path, pointer_of(caught)) == ("f", "/a")


@pytest.mark.parametrize(
    ("value", "pointer"),
    [(None, "/a"), ("x", "/a"), ({}, "/a"), (["x", 1], "/a/1"), ([["x"]], "/a/0")],
)
def test_a_list_of_another_type_is_refused_with_the_pointer_of_the_first_wrong_element(
    value: JsonValue, pointer: str
) -> None:
    with pytest.raises(InvalidDocument) as caught:
        fields.strings({"a": value}, "a", path="f")
    assert pointer_of(caught) == pointer


def test_an_object_of_another_type_is_refused_and_not_quoted_since_it_may_be_a_secret() -> None:
    with pytest.raises(InvalidDocument, match="must be an object") as caught:
        fields.mapping({"a": "hunter2"}, "a", path="f")
    assert "hunter2" not in str(caught.value) and pointer_of(caught) == "/a"


@pytest.mark.parametrize("version", [99, "1", None, True, 0, 1.5])
def test_p26_a_version_that_this_vespe_does_not_know_is_refused(version: JsonValue) -> None:
    with pytest.raises(InvalidDocument) as caught:
        fields.refuse_newer({"version": version}, path="f")
    assert pointer_of(caught) == "/version"


def test_the_present_version_and_none_at_all_are_read() -> None:
    assert fields.refuse_newer({"version": 1}, path="f") is None  # type: ignore[func-returns-value]  # it gives nothing: it must not raise
    assert fields.refuse_newer({}, path="f") is None  # type: ignore[func-returns-value]  # as above


def test_a_long_value_is_quoted_by_its_beginning() -> None:
    assert len(str(fields.wrong_type("a string", "x" * 1000, path="f", pointer="/a"))) < 100
