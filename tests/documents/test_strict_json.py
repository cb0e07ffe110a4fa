import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vespe import defaults
from vespe.documents import strict_json
from vespe.errors import InvalidDocument

ROWS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "cases" / "json" / "rows.json").read_text(encoding="utf-8")
)


def content(row: dict[str, Any]) -> bytes:
    """The bytes of a row: a text, hexadecimal, or [piece, times] one after the other."""
    if "hex" in row:
        return bytes.fromhex(row["hex"])
    text: str = (
        row["text"] if "text" in row else "".join(piece * times for piece, times in row["pieces"])
    )
    return text.encode("utf-8")


def refused(data: bytes | str, **how: Any) -> InvalidDocument:
    with pytest.raises(InvalidDocument) as caught:
        strict_json.parse_json(data, path="f.json", **how)
    return caught.value


# Strict JSON in


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row["name"].startswith("n_")], ids=lambda row: row["name"]
)
def test_p23_what_is_not_strict_json_is_refused_in_a_sentence(row: dict[str, Any]) -> None:
    error = refused(content(row))
    assert row["says"] in error.reason
    assert len(str(error)) < 200


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row["name"].startswith("y_")], ids=lambda row: row["name"]
)
def test_p23_strict_json_is_read_as_the_standard_library_reads_it(row: dict[str, Any]) -> None:
    data = content(row)
    assert (
        strict_json.parse_json(data)
        == json.loads(data)
        == strict_json.parse_json(data.decode("utf-8"))
    )


def test_p23_the_rows_are_many() -> None:
    assert len(ROWS) >= 120


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"s": "NaN\\"",\n "n": NaN,\n "t": "NaN"}', 2),
        ('{"a": "{\\"a\\"",\n "b": {"a": 1},\n "a": 2,\n "c": {"a": 3}}', 3),
        ('[{"é": 1},\n {"\\u00e9": 1,\n "é": 2}]', 3),
        ('{"x": "1e400",\n "y": 1e400}', 2),
        ("[\n" * 70 + "]" * 70, 65),
        ('{"a": 1,\n\n "b" 2}', 3),
        ('\n"\\x"', 2),
    ],
)
def test_p23_the_line_of_what_is_refused_is_told(text: str, line: int) -> None:
    error = refused(text)
    assert error.line == line
    assert str(error).startswith(f"f.json:{line}")


def test_p23_a_byte_that_is_not_utf_8_is_told_with_its_line() -> None:
    assert str(refused(b'{\n"a": "\xff"}')) == "f.json:2: is not UTF-8: byte 0xff"


def test_p23_a_lone_surrogate_is_told_with_its_pointer() -> None:
    assert refused('{"a/b": ["x", "\\ud800"]}').pointer == "/a~1b/1"
    assert refused('["\ud800"]').pointer == "/0"
    assert refused('{"\\udc00": 1}').pointer == ""


@pytest.mark.parametrize("limit", [2, 5])
def test_p23_a_document_larger_than_its_limit_is_refused_unread(limit: int) -> None:
    assert strict_json.parse_json(b" " * (limit - 2) + b"[]", limit=limit) == []
    assert f"larger than {limit} bytes" in refused(b"\xff" * (limit + 1), limit=limit).reason


def test_p23_a_document_at_the_limit_of_a_file_is_read() -> None:
    whole = b'["' + b"x" * (defaults.MAX_FILE_BYTES - 4) + b'"]'
    assert len(strict_json.parse_json(whole)[0]) == defaults.MAX_FILE_BYTES - 4
    assert "larger than" in refused(whole + b" ").reason


def test_p23_deep_nesting_is_refused_wherever_the_callers_stack_stands() -> None:
    def deeper(levels: int) -> InvalidDocument:
        return deeper(levels - 1) if levels else refused(b"[" * 500 + b"]" * 500)

    for levels in (0, 100, 500):
        assert "deeper than 64" in deeper(levels).reason


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("[]", "an array"),
        ("null", "null"),
        ("true", "a boolean"),
        ("1", "a number"),
        ('"x"', "a string"),
    ],
)
def test_a_document_that_should_be_an_object_says_what_it_is(text: str, kind: str) -> None:
    with pytest.raises(InvalidDocument, match=f"must be a JSON object, not {kind}"):
        strict_json.parse_object(text)


@settings(max_examples=200, deadline=None)
@given(
    data=st.binary(max_size=200) | st.text(alphabet='{}[]":,\\u019aeE+-.NaInfty \n', max_size=60)
)
def test_p19_no_bytes_make_the_reader_raise_anything_else(data: bytes | str) -> None:
    try:
        strict_json.parse_json(data)
    except InvalidDocument as error:
        assert error.reason


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(value=JSON)
def test_p26_what_is_written_is_read_back_the_same(value: Any) -> None:
    assert strict_json.parse_json(strict_json.dump_json(value)) == value
    assert strict_json.parse_json(strict_json.compact_json(value).encode("utf-8")) == value


# Strict JSON out


def test_files_are_written_with_two_spaces_real_characters_and_a_final_newline() -> None:
    assert strict_json.dump_json({"é": [1]}) == '{\n  "é": [\n    1\n  ]\n}\n'
    assert strict_json.compact_json({"é": [1, 2.0]}) == '{"é":[1,2.0]}'


class _Text(str):
    """A string of another class."""


@settings(max_examples=200, deadline=None)
@given(value=JSON)
def test_a_file_has_the_bytes_of_the_standard_library(value: Any) -> None:
    standard = json.dumps(value, indent=2, ensure_ascii=False)
    assert strict_json.dump_json(value) == strict_json.repair_surrogates(standard) + "\n"


@pytest.mark.parametrize(
    "value", [{}, [], (), (1, (True,)), {1: 2, None: [False]}, {_Text("a"): _Text("b")}, [10**20]]
)
def test_odd_values_are_written_as_the_standard_library_writes_them(value: Any) -> None:
    assert strict_json.dump_json(value) == json.dumps(value, indent=2) + "\n"


def test_what_json_cannot_say_is_refused() -> None:
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(ValueError, match="Circular"):
        strict_json.dump_json(circle)
    with pytest.raises(TypeError):
        strict_json.dump_json([object()])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")]])
def test_p24_nan_and_infinities_are_never_written(value: Any) -> None:
    for write in (strict_json.dump_json, strict_json.compact_json):
        with pytest.raises(ValueError, match="not JSON compliant"):
            write(value)


@pytest.mark.parametrize(
    ("text", "repaired"),
    [("a\ud800b", "a\ufffdb"), ("\udc00", "\ufffd"), ("\ud83d\ude00", "😀"), ("plain", "plain")],
)
def test_p24_lone_surrogates_are_repaired_in_what_is_written(text: str, repaired: str) -> None:
    assert strict_json.repair_surrogates(text) == repaired
    assert json.loads(strict_json.compact_json([text]).encode("utf-8")) == [repaired]
    assert json.loads(strict_json.dump_json({text: 1}).encode("utf-8")) == {repaired: 1}


# YAML


# Reading files


def test_an_object_is_read_from_its_file_with_the_path_in_its_errors(tmp_path: Path) -> None:
    (tmp_path / "f.json").write_text('{"a": 1}', encoding="utf-8")
    assert strict_json.read_object(tmp_path / "f.json") == {"a": 1}
    (tmp_path / "f.json").write_text('{"a": 1', encoding="utf-8")
    with pytest.raises(InvalidDocument, match=r"/f\.json:1:8: is not JSON"):
        strict_json.read_object(tmp_path / "f.json")


# Writing files


# The lock


def test_a_merge_conflict_is_named_with_its_lines() -> None:
    text = (
        '{\n<<<<<<< HEAD\n  "a": 1\n=======\n  "a": 2\n>>>>>>> other\n,\n'
        '<<<<<<< HEAD\n"b": 1\n>>>>>>> other\n}\n'
    )
    with pytest.raises(InvalidDocument) as caught:
        strict_json.parse_object(text.replace("\n", "\r\n"), path="c.json")
    assert str(caught.value) == ("c.json:2: contains an unresolved merge conflict: lines 2-6, 8-10")
    assert "keep one side" in caught.value.hint
    with pytest.raises(InvalidDocument, match="is not JSON"):
        strict_json.parse_object("{\n ======= \n}", path="c.json")


@pytest.mark.parametrize(
    "text",
    [
        "1",
        " 1",
        "1\n",
        "\t[1] \r\n",
        "",
        "  ",
        "\x0c1",
        "1\xa0",
        "1 2",
        '{"a": 1}}',
        "[1,]\n",
        "nul",
    ],
)
def test_white_space_around_a_value_is_passed_over_as_the_standard_library_does(text: str) -> None:
    try:
        expected: object = json.loads(text)
    except json.JSONDecodeError as error:
        with pytest.raises(InvalidDocument) as caught:
            strict_json.parse_json(text)
        assert error.msg in str(caught.value)
        assert (caught.value.line, caught.value.column) == (error.lineno, error.colno)
    else:
        assert strict_json.parse_json(text) == expected
