"""The part of a large result that a model is shown."""

import json
from typing import Any

import pytest

from tests.adapters.large_results.generated import KINDS, result_of
from vespe.adapters.large_results.previews import preview_json, preview_text

ROWS = [{"id": number, "name": f"n{number}"} for number in range(8_000)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("characters", [5_000, 300_000])
@pytest.mark.parametrize("most", [256, 1_000, 40_000])
def test_a_part_is_never_longer_than_its_bound(kind: str, characters: int, most: int) -> None:
    for seed in range(3):
        value = result_of(kind, characters, seed)
        assert len(preview_json(value, most)) <= most
        assert len(preview_text(json.dumps(value), most)) <= most


def test_what_fits_is_whole() -> None:
    assert preview_text("one\ntwo\n", 8) == "one\ntwo\n"
    assert json.loads(preview_json({"a": [1, "x"]}, 40)) == {"a": [1, "x"]}


def test_a_text_is_cut_at_the_ends_of_lines_and_says_what_was_left_out() -> None:
    text = "".join(f"line {number}\n" for number in range(1, 10_001))
    shown = preview_text(text, 400).splitlines()
    said = next(line for line in shown if line.startswith("[…"))
    at = shown.index(said)
    assert all(line in text.splitlines() for line in [*shown[:at], *shown[at + 1 :]])
    first, last = int(shown[at - 1].split()[1]), int(shown[at + 1].split()[1])
    assert said.endswith(f"left out, lines {first + 1} to {last - 1:,} …]")
    assert shown[0] == "line 1" and shown[-1] == "line 10000"


def test_json_keeps_its_shape_its_scalars_and_the_ends_of_its_lists() -> None:
    value = {"count": 8_000, "ok": True, "rows": ROWS, "meta": {"long": "x" * 5_000, "page": 1}}
    shown: Any = json.loads(preview_json(value, 1_500))
    assert list(shown) == list(value) and shown["count"] == 8_000 and shown["ok"] is True
    assert shown["rows"][0] == ROWS[0] and shown["rows"][-1] == ROWS[-1]
    assert sum("items left out" in str(one) for one in shown["rows"]) == 1
    assert shown["meta"]["page"] == 1 and "5,000 characters in all" in shown["meta"]["long"]


def test_an_object_of_many_keys_counts_those_that_are_left_out() -> None:
    shown: Any = json.loads(preview_json({f"k{number}": number for number in range(5_000)}, 600))
    left = 5_000 - (len(shown) - 1)
    assert shown["k0"] == 0 and shown["…"] == f"{left:,} of 5,000 keys left out"


def test_what_lies_deep_is_counted() -> None:
    value: Any = "x" * 900
    for _ in range(40):
        value = {"inner": value, "beside": "y" * 300}
    assert "{… 2 keys …}" in preview_json(value, 900)
