"""One name among many tools: the index makes it quick, and whatever becomes of the index, the
answer is the same.
"""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from vespe.tools import catalog, name_index
from vespe.tools.name_index import MANY


def write(tools: Path, uid: str, name: str) -> Path:
    config = tools / uid / "config.json"
    config.parent.mkdir(exist_ok=True)
    config.write_text(json.dumps({"uid": uid, "name": name}), encoding="utf-8")
    return config


@pytest.fixture
def tools(tmp_path: Path, home: Path) -> Path:
    """More tools than are read one by one, listed and indexed."""
    directory = tmp_path / "tools"
    directory.mkdir()
    for number in range(MANY):
        write(directory, f"tool-{number:03d}", f"n{number}")
    settle(directory)
    assert found(directory, "n7") == ["tool-007"] and index(directory).exists()
    return directory


def settle(directory: Path) -> None:
    """Wait until the directory is older than what could hide a change."""
    while time.time_ns() - directory.stat().st_ctime_ns < 120_000_000:
        time.sleep(0.02)


def found(directory: Path, name: str) -> list[str]:
    return [
        entry.uid for entry in catalog.find(directory, name, scope="project_tools", kit_id=None)
    ]


def index(directory: Path) -> Path:
    return Path(name_index._path(str(directory)))


def read_anew(directory: Path, name: str) -> list[str]:
    """Return what a reader without an index finds."""
    name_index.forget(str(directory))
    return found(directory, name)


def test_a_name_is_looked_up_without_listing_or_reading_the_others(tools: Path) -> None:
    asked: list[str] = []  # as if there were none
    held = name_index.holders(str(tools), "n7", listed=lambda: asked, named=str)
    assert held == ["tool-007"]


def test_few_tools_have_no_index(tmp_path: Path, home: Path) -> None:
    write(tmp_path, "tool-a", "a")
    assert found(tmp_path, "a") == ["tool-a"] and not index(tmp_path).exists()


def added(tools: Path) -> None:
    write(tools, "tool-new", "n7")


def removed(tools: Path) -> None:
    (tools / "tool-007/config.json").unlink()
    (tools / "tool-007").rmdir()


def moved(tools: Path) -> None:
    (tools / "tool-007").rename(tools / "tool-700")


def renamed_in_place(tools: Path) -> None:
    write(tools, "tool-007", "other")
    write(tools, "tool-008", "n7")


def made_a_link(tools: Path) -> None:
    (tools / "tool-007").rename(tools.parent / "elsewhere")
    (tools / "tool-007").symlink_to(tools.parent / "elsewhere")


def broken(tools: Path) -> None:
    (tools / "tool-007/config.json").write_text("{", encoding="utf-8")


@pytest.mark.parametrize("change", [added, removed, moved, renamed_in_place, made_a_link, broken])
def test_after_a_change_the_answer_is_that_of_reading_all(
    tools: Path, change: Callable[[Path], None]
) -> None:
    change(tools)
    for name in ("n7", "n8", "other", "nowhere"):
        assert found(tools, name) == read_anew(tools, name)


def lost(path: Path) -> None:
    path.unlink()


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def strange(path: Path) -> None:
    path.write_bytes(b"\xff[1,2]\nn7")


def edited(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"\nn7\t", b"\nn9\t"))


def forged(path: Path) -> None:
    """One whose checksum holds: it leads the name elsewhere, out of the directory too."""
    head, _, lines = path.read_text(encoding="utf-8").partition("\n")
    lines = "\n" + lines.replace("n7\ttool-007", "n7\ttool-009\nn7\t../../secret\nn7\t.hidden")
    path.write_text(
        json.dumps([*json.loads(head)[:-1], name_index._checksum(lines)]) + lines, encoding="utf-8"
    )


def another_s(path: Path) -> None:
    """The index of another directory, in which the name is elsewhere."""
    path.write_text(path.read_text(encoding="utf-8").replace("/tools", "/other"), encoding="utf-8")


def a_link(path: Path) -> None:
    path.rename(path.with_name("kept"))
    path.symlink_to(path.with_name("kept"))


@pytest.mark.parametrize("harm", [lost, cut, empty, strange, edited, forged, another_s, a_link])
def test_whatever_becomes_of_the_index_the_answer_is_the_same(
    tools: Path, harm: Callable[[Path], None]
) -> None:
    harm(index(tools))
    assert [found(tools, name) for name in ("n7", "n9", "nowhere")] == [
        ["tool-007"],
        ["tool-009"],
        [],
    ]


def test_a_cache_that_cannot_be_written_costs_time_only(tools: Path) -> None:
    os.unlink(index(tools))
    os.rmdir(index(tools).parent)
    index(tools).parent.write_text("in the way", encoding="utf-8")
    assert found(tools, "n7") == found(tools, "n7") == ["tool-007"]


def test_two_of_one_name_are_both_found(tools: Path) -> None:
    write(tools, "tool-twin", "n7")
    settle(tools)
    assert found(tools, "n7") == found(tools, "n7") == ["tool-007", "tool-twin"]


def test_a_twin_made_in_place_is_found_once_the_tools_were_listed(tools: Path) -> None:
    catalog.scan(tools, scope="project_tools", kit_id=None)
    write(tools, "tool-008", "n7")
    catalog.scan(tools, scope="project_tools", kit_id=None)
    assert found(tools, "n7") == ["tool-007", "tool-008"]


@pytest.mark.parametrize("name", ["with space", "tab\tin", "line\nin", "ümlaut", ""])
def test_a_name_that_a_line_cannot_hold_is_found_by_reading(tools: Path, name: str) -> None:
    write(tools, "tool-odd", name)
    settle(tools)
    assert found(tools, name) == found(tools, name) == read_anew(tools, name)
