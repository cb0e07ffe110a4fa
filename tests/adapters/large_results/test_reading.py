"""`read_result`."""

import json
from typing import Any

import pytest

from vespe.adapters.large_results.reading import read
from vespe.errors import InvalidArguments

ROWS = [{"id": number, "name": f"name {number}", "note": None} for number in range(2_000)]
JSON = json.dumps({"rows": ROWS, "about": "x" * 30_000, "a/b": {"~": 1}})
TEXT = "".join(f"line {number}\n" for number in range(1, 5_001)) + "no end"


def asked(text: str, most: int = 2_000, **more: Any) -> Any:
    is_json = text is JSON
    answer: Any = read(text, is_json=is_json, asked={"handle": "r1", **more}, most=most)
    assert len(json.dumps(answer, ensure_ascii=False, separators=(",", ":"))) <= most
    assert answer.keys() in ({"text", "next"}, {"value", "next"})
    return answer


def all_of(text: str, most: int = 2_000, **first: Any) -> list[Any]:
    """Read until nothing is left, by what each answer says."""
    pieces: list[Any] = []
    going_on: Any = first
    while going_on is not None:
        answer = asked(text, most, **going_on)
        pieces.append(answer.get("text", answer.get("value")))
        going_on = answer["next"] and {k: v for k, v in answer["next"].items() if k != "handle"}
    return pieces


def joined(pages: list[list[Any]]) -> list[Any]:
    return [one for page in pages for one in page]


@pytest.mark.parametrize("most", [600, 2_000, 40_000])
@pytest.mark.parametrize("text", [TEXT, JSON, '"\\\n\x01é日' * 5_000])
def test_pages_by_offset_are_the_text(text: str, most: int) -> None:
    assert "".join(all_of(text, most)) == text
    assert "".join(all_of(text, most, limit=300, offset=7)) == text[7:]


def test_pages_of_lines_are_the_lines() -> None:
    pieces = all_of(TEXT, lines=[3, 4_000])
    assert "".join(pieces) == "".join(f"line {number}\n" for number in range(3, 4_001))
    assert all(piece.endswith("\n") for piece in pieces)
    assert "".join(all_of(TEXT, lines=[5_000, 9_999])) == "line 5000\nno end"
    assert asked(TEXT, lines=[3, 9], limit=2) == {
        "text": "line 3\nline 4\n",
        "next": {"handle": "r1", "lines": [5, 9], "limit": 2},
    }


def test_a_line_that_is_too_long_is_paged_by_characters() -> None:
    text = "short\n" + "y" * 9_000 + "\nend\n"
    assert "".join(all_of(text, lines=[1, 3])) == text


def test_a_pointer_gives_the_value_and_a_list_item_by_item() -> None:
    assert asked(JSON, pointer="/rows/7") == {"value": ROWS[7], "next": None}
    assert asked(JSON, pointer="/a~1b/~0")["value"] == 1
    assert joined(all_of(JSON, pointer="/rows")) == ROWS
    assert joined(all_of(JSON, pointer="/rows", offset=1_990, limit=3)) == ROWS[1_990:]
    assert "".join(all_of(JSON, pointer="/about")) == "x" * 30_000


def test_an_object_that_is_too_large_is_paged_as_json() -> None:
    assert json.loads("".join(all_of(JSON, pointer=""))) == json.loads(JSON)


def test_a_match_gives_lines_or_pointers() -> None:
    assert asked(TEXT, match="LINE 77")["value"][:2] == [
        {"line": 77, "text": "line 77"},
        {"line": 770, "text": "line 770"},
    ]
    found = joined(all_of(JSON, match="name 1"))
    assert found[0] == {"pointer": "/rows/1/name", "value": "name 1"}
    assert len(found) == sum("name 1" in str(row["name"]) for row in ROWS)
    assert asked(JSON, match="ABOUT")["value"][0]["pointer"] == "/about"
    assert asked(TEXT, match="nowhere") == {"value": [], "next": None}
    assert len(asked(TEXT, 40_000, match="line")["value"]) == 50


def test_what_stands_around_a_match_in_a_long_line_is_shown() -> None:
    (found,) = asked("a" * 5_000 + "needle" + "b" * 5_000, match="needle")["value"]
    assert "needle" in found["text"] and len(found["text"]) < 500


@pytest.mark.parametrize(
    ("text", "more", "said"),
    [
        (TEXT, {"pointer": "/rows"}, "not JSON, so `pointer` cannot be used"),
        (JSON, {"pointer": "/rows/99999"}, "nothing at '/rows/99999'"),
        (JSON, {"pointer": "rows"}, "not a JSON Pointer"),
        (JSON, {"pointer": "/rows", "offset": 2_000}, "no item 2,000: the list has 2,000"),
        (TEXT, {"lines": [9, 3]}, "comes after the last"),
        (TEXT, {"lines": [9_000, 9_001]}, "no line 9,000: the result has 5,001"),
        (TEXT, {"offset": 10**9}, "no character"),
        (TEXT, {"match": "a", "lines": [1, 2]}, "use one of lines and match"),
    ],
)
def test_what_is_not_there_is_said(text: str, more: Any, said: str) -> None:
    with pytest.raises(InvalidArguments, match=said):
        asked(text, **more)
