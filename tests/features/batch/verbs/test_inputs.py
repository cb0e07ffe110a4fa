"""The inputs of `vespe batch`."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from vespe.errors import UsageError
from vespe.features.batch.items import Item
from vespe.features.batch.verbs.inputs import Inputs, open_inputs
from vespe.models import Tool

PROPERTIES = {
    "city": {"type": "string"},
    "days": {"type": "integer"},
    "warm": {"type": "boolean"},
    "tags": {"type": "array"},
    "at": {"type": "number"},
}
TOOL = Tool(
    uid="tool-t",
    name="t",
    description="",
    input_schema={"type": "object", "properties": PROPERTIES},
)


def read(data: bytes, *, is_csv: bool = False, id_field: str | None = None) -> list[Item]:
    return list(Inputs(io.BytesIO(data), TOOL, is_csv, id_field, len(data)).items())


def test_each_line_is_an_object_of_arguments_and_its_number_the_id() -> None:
    assert [(item.id, item.arguments) for item in read(b'{"city": "Bergen"}\n\n{"days": 2}')] == [
        (1, {"city": "Bergen"}),
        (2, {"days": 2}),
    ]


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b"[1]",
        b"3",
        b'{"a": NaN}',
        b'{"a": 1, "a": 2}',
        b"\xff",
        b'{"a": ' + b"[" * 100 + b"]" * 100 + b"}",
    ],
)
def test_a_broken_line_is_an_item_with_an_error_and_the_next_one_goes_on(line: bytes) -> None:
    broken, after = read(line + b'\n{"days": 2}\n')
    assert (
        broken.failure is not None
        and broken.failure.code == "invalid_json"
        and "line 1" in broken.failure.message
    )
    assert after == Item(2, {"days": 2})


def test_a_line_without_an_end_is_not_held_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vespe.features.batch.verbs.inputs._MAX_LINE", 100)
    broken, after = read(b'{"city": "' + b"x" * 10_000 + b'"}\n{"days": 2}\n')
    assert broken.failure is not None and after.arguments == {"days": 2}


def test_a_field_can_be_the_id_and_is_no_argument() -> None:
    assert read(b'{"key": "a", "days": 2}\n', id_field="key") == [Item("a", {"days": 2})]


@pytest.mark.parametrize("value", [None, 1.5, True, [], {}])
def test_an_id_that_is_neither_string_nor_whole_number_is_an_error(value: Any) -> None:
    (item,) = read(json.dumps({"key": value}).encode(), id_field="key")
    assert item.failure is not None and item.id == "line 1"


def test_an_id_that_comes_again_is_an_error_under_its_line() -> None:
    first, second = read(b'{"key": 1}\n{"key": 1}\n', id_field="key")
    assert (
        first.failure is None
        and second.id == "line 2"
        and second.failure is not None
        and second.failure.code == "duplicate_id"
    )


def test_cells_of_csv_are_typed_by_the_schema_and_empty_ones_left_out() -> None:
    data = '\ufeffcity,days,warm,tags,at\n"Oslo, N",3,true,"[1, 2]",1.5\nBergen,,,,\n'.encode()
    assert [item.arguments for item in read(data, is_csv=True)] == [
        {"city": "Oslo, N", "days": 3, "warm": True, "tags": [1, 2], "at": 1.5},
        {"city": "Bergen"},
    ]


@pytest.mark.parametrize("is_csv", [False, True])
def test_how_many_there_are_is_known_by_what_the_first_ones_take(
    is_csv: bool, tmp_path: Path
) -> None:
    file = tmp_path / "in"
    line = "Oslo,2\n" if is_csv else '{"city": "Oslo"}\n'
    file.write_text(("city,days\n" if is_csv else "") + line * 300, encoding="utf-8")
    with open_inputs(str(file), TOOL, id_field=None, is_csv=is_csv) as inputs:
        items = inputs.items()
        assert inputs.total == 0
        for _ in range(20):
            next(items)
        assert 280 <= inputs.total <= 302
        assert len(list(items)) == 280 and round(inputs.total) == 300


def test_a_row_with_too_few_cells_is_an_error_and_the_next_one_goes_on() -> None:
    broken, after = read(b"city,days\nOslo\nBergen,2\n", is_csv=True)
    assert (
        broken.failure is not None
        and "1 cell" in broken.failure.message
        and after.arguments == {"city": "Bergen", "days": 2}
    )


@pytest.mark.parametrize("data", [b"", b"a,a\n1,2\n", b"a,\n1,2\n"])
def test_a_header_that_does_not_name_each_argument_once_is_refused(data: bytes) -> None:
    with pytest.raises(UsageError, match="name each argument once"):
        read(data, is_csv=True)


def test_a_file_that_is_not_there_is_a_sentence() -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        open_inputs("missing.jsonl", TOOL, id_field=None)
