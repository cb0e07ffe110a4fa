"""The digest of a tool directory and the rows that are kept by it."""

import json
import os
import time
from pathlib import Path

import pytest

from tests.support.ondisk import write_tool
from vespe.features.lint.judged_directory import ALL
from vespe.features.lint.judgements import judge
from vespe.features.lint.kept import KeptRows, code_identity, judgement_of, look_at, row_of
from vespe.tools.effects import FlowContext


@pytest.fixture
def tool(tmp_path: Path) -> Path:
    return write_tool(tmp_path / "tools/tool-a", "one", secret=["MISSPELT"])


def test_the_digest_is_that_of_every_file(tool: Path) -> None:
    first = look_at(str(tool))
    (tool / "below").mkdir()
    (tool / "below/notes.txt").write_text("a", encoding="utf-8")
    second = look_at(str(tool))
    (tool / "below/notes.txt").write_text("b", encoding="utf-8")
    third = look_at(str(tool))
    assert first and second and third
    assert len({first.digest, second.digest, third.digest}) == 3
    again = look_at(str(tool))
    assert again and again.digest == third.digest


def test_what_changed_since_or_just_now_does_not_hold(tool: Path) -> None:
    now = look_at(str(tool))
    assert now and not now.holds
    time.sleep(0.15)
    settled = look_at(str(tool))
    assert settled and settled.holds
    config = (tool / "config.json").read_bytes()
    (tool / "config.json").write_bytes(b"{}")
    (tool / "config.json").write_bytes(config)
    back = look_at(str(tool))
    assert not settled.holds and back and back.digest == settled.digest


@pytest.mark.parametrize("what", ["link", "fifo", "large", "many", "itself"])
def test_what_is_not_all_files_has_no_digest(what: str, tool: Path) -> None:
    place = tool / "odd"
    if what == "link":
        place.symlink_to("config.json")
    elif what == "fifo":
        os.mkfifo(place)
    elif what == "large":
        with place.open("wb") as stream:
            stream.truncate(33 * 1024 * 1024)
    elif what == "many":
        for number in range(1001):
            (tool / f"{number}.txt").touch()
    else:
        tool.rename(tool.parent / "elsewhere")
        tool.symlink_to(tool.parent / "elsewhere")
    assert look_at(str(tool)) is None


def test_a_row_says_what_the_judgement_said(tool: Path) -> None:
    around = FlowContext()
    made = judge(str(tool), kit_id=None, scope="s", around=around, rules=ALL)
    row = json.loads(json.dumps(row_of(made, "digest")))
    back = judgement_of(row, scope="s")
    assert made.found and row[0] == "digest"
    assert row_of(back, "digest") == row_of(made, "digest")
    assert back.outline == made.outline and back.outside == made.outside


def test_rows_are_kept_for_one_thing_alone(home: Path) -> None:
    KeptRows("a", [1]).save({"x": ["row"]})
    assert KeptRows("a", [1]).rows == {"x": ["row"]}
    assert KeptRows("a", [2]).rows == KeptRows("b", [1]).rows == {}


def test_the_code_has_one_identity() -> None:
    assert len(code_identity()) == 64
