"""JSON with comments: what is read, and the place of what is wrong."""

import pytest

from vespe.documents import jsonc
from vespe.errors import InvalidDocument


def test_comments_trailing_commas_and_a_byte_order_mark_are_read_past() -> None:
    text = (
        '\ufeff// head\n{ /* a */ "a": [1, 2, /* x */], // b\n "b": {"c": "// no comment",},\n}\n'
    )
    assert jsonc.parse(text).value == {"a": [1, 2], "b": {"c": "// no comment"}}


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("{", 1, 2),
        ('{"a": 1', 1, 8),
        ('{\n  "a" 1}', 2, 7),
        ('{"a": }', 1, 7),
        ('{"a": 1} x', 1, 10),
        ("{'a': 1}", 1, 2),
        ("[1 2]", 1, 4),
        ('{"a": nope}', 1, 7),
        ('{"a": "x\n"}', 1, 7),
        ("/* never", 1, 1),
        ('{"a": 1,, }', 1, 9),
        ("", 1, 1),
        ('"\\q"', 1, 1),
        ("[" * 300, 1, 201),
    ],
)
def test_what_is_wrong_is_told_with_its_line_and_column(text: str, line: int, column: int) -> None:
    with pytest.raises(InvalidDocument) as caught:
        jsonc.parse(text, path="x.json")
    assert (caught.value.path, caught.value.line, caught.value.column) == ("x.json", line, column)


def test_a_member_is_found_with_its_place_and_one_that_is_not_there_is_none() -> None:
    text = '{"a": {"b": 12}}'
    found = jsonc.find(jsonc.parse(text), ["a", "b"])
    assert found is not None and text[found.node.start : found.node.end] == "12"
    assert jsonc.find(jsonc.parse(text), ["a", "c"]) is None


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '{"a": [1]}'])
def test_a_key_that_comes_twice_or_leads_into_no_object_is_refused(text: str) -> None:
    with pytest.raises(InvalidDocument):
        jsonc.find(jsonc.parse(text), ["a", "b"])


def test_a_root_that_is_no_object_is_refused() -> None:
    with pytest.raises(InvalidDocument, match="must be a JSON object"):
        jsonc.as_object(jsonc.parse("[]"))
