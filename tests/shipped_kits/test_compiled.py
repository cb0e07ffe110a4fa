"""The compiled kit: its modules are what their sources say, and compute right on real texts."""

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from tests.shipped_kits.shipped import DIRECTORIES, call, load
from vespe.errors import InvalidArguments, Refused
from vespe.tools import building, built

KIT = {name: DIRECTORIES[name] for name in DIRECTORIES if name.startswith("compiled/")}
WORDS, DISTANCE = "compiled/word_count_compiled", "compiled/edit_distance"


def recorded(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((KIT[name] / built.RECORD).read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", KIT)
def test_the_committed_module_is_the_one_that_was_built_from_the_committed_source(
    name: str,
) -> None:
    assert list(built.stale(str(KIT[name]), load(name).document["implementation_details"])) == []


@pytest.mark.parametrize("name", KIT)
def test_the_same_compiler_makes_the_same_bytes(name: str) -> None:
    """Another compiler, or none, makes other bytes; then there is nothing to compare."""
    try:
        made = building.build(load(name))
    except Refused as none:
        pytest.skip(none.message)
    if made.record["compiler"] != recorded(name)["compiler"]:
        pytest.skip(
            f"here is {made.record['compiler']}, "
            f"and the module was built by {recorded(name)['compiler']}"
        )
    assert made.record == recorded(name) and made.module == (KIT[name] / "tool.wasm").read_bytes()


def test_the_glue_in_rust_is_the_one_that_new_tools_get() -> None:
    from vespe.types.wasm import template

    assert (KIT[WORDS] / "src" / "vespe.rs").read_text(encoding="utf-8") == template.rust_files(
        "x", "x"
    )["vespe.rs"]


def test_words_are_counted_as_python_counts_them(tmp_path: Path) -> None:
    draw = random.Random(4)
    for _ in range(20):
        text = "".join(draw.choices("ab Zé\n\t\"\\'😀ß\u2028/.", k=draw.randint(0, 200)))
        found = call(WORDS, {"text": text}, at=tmp_path)
        lines = len(text.removesuffix("\n").split("\n")) if text else 0
        assert (found["characters"], found["lines"]) == (len(text), lines), text


def test_frequent_words_have_no_short_ones_where_that_is_asked_for(tmp_path: Path) -> None:
    text = "To be, or not to be: that is the question. Question’s 'that'!"
    found = call(WORDS, {"text": text, "shortest": 4, "top": 2}, at=tmp_path)
    assert found["frequent"] == [{"word": "that", "count": 2}, {"word": "question", "count": 1}]
    assert (found["words"], found["sentences"]) == (12, 2)


def test_a_text_of_a_million_characters_is_counted(tmp_path: Path) -> None:
    found = call(WORDS, {"text": "ab " * 330_000}, at=tmp_path)
    assert found["words"] == 330_000 and found["frequent"] == [{"word": "ab", "count": 330_000}]


def distance(before: str, after: str) -> int:
    """As a book has it, slowly."""
    row = list(range(len(after) + 1))
    for i, one in enumerate(before, 1):
        row, last = [i], row
        for j, other in enumerate(after, 1):
            row.append(min(last[j] + 1, row[-1] + 1, last[j - 1] + (one != other)))
    return row[-1]


def test_distances_are_those_of_the_textbook(tmp_path: Path) -> None:
    draw = random.Random(5)
    for _ in range(20):
        before, after = (
            "".join(draw.choices('ab"\\\né😀\t/', k=draw.randint(0, 30))) for _ in range(2)
        )
        assert call(DISTANCE, {"before": before, "after": after}, at=tmp_path)[
            "distance"
        ] == distance(before, after), (before, after)


def test_what_is_too_long_does_not_start(tmp_path: Path) -> None:
    with pytest.raises(InvalidArguments):
        call(DISTANCE, {"before": "a" * 10_001, "after": ""}, at=tmp_path)
    assert call(DISTANCE, {"before": "a" * 4000, "after": "b" * 3000}, at=tmp_path) == {
        "distance": 4000,
        "similarity": 0,
    }


def test_the_modules_are_small_and_say_nothing_of_the_machine_that_built_them() -> None:
    for name in KIT:
        module = (KIT[name] / "tool.wasm").read_bytes()
        assert (
            len(module) < 300_000
            and os.fsencode(Path.home()) not in module
            and b"/tmp/" not in module
        )
