"""Which tools changed, whether Linux tells of it or not."""

import os
import shutil
import time
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from tests.support.interrupting import is_interrupted
from tests.support.ondisk import PATIENCE_S, write_tool
from vespe.files import watch
from vespe.files.stamps import stamp
from vespe.files.watch import Watch
from vespe.projects import watched_tools
from vespe.projects.watched_tools import WatchedTools


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    made = tmp_path / "above" / "tools"
    for name in "ab":
        write_tool(made / f"tool-{name}", name)
    time.sleep(0.12)  # until their stamps are older than clocks are coarse
    return made


@pytest.fixture(params=["told at once", "told", "looked at"])
def watched(
    request: pytest.FixtureRequest, tools: Path, monkeypatch: pytest.MonkeyPatch
) -> WatchedTools:
    """Give the tools as somebody knows them who asked twice, and who is told or has to look."""
    if request.param != "looked at":
        monkeypatch.setattr(watched_tools, "_WORTH", 1)
    made = WatchedTools(Watch())
    if request.param == "told at once":
        made.watch_at_once()
    made.take([str(tools)])
    assert all(made.refresh(exact=True) for _ in range(3))
    return made


CHANGES: dict[str, Callable[[Path], object]] = {
    "rewritten": lambda tools: (tools / "tool-a/config.json").write_text("{}", encoding="utf-8"),
    "replaced": lambda tools: os.replace(
        shutil.copy(tools / "tool-b/config.json", tools / ".x"), tools / "tool-a/config.json"
    ),
    "its mode": lambda tools: (tools / "tool-a/config.json").chmod(0o600),
    "gone": lambda tools: (tools / "tool-a/config.json").unlink(),
    "a file that came": lambda tools: (tools / "tool-a/main.py").touch(),
    "moved out and another in": lambda tools: _swap(tools / "tool-a", tools / "tool-b"),
    "removed": lambda tools: shutil.rmtree(tools / "tool-a"),
    "removed and made again": lambda tools: _make_again(tools / "tool-a"),
    "a link in its place": lambda tools: _link(tools / "tool-a", tools.parent / "aside"),
}


def _make_again(tool: Path) -> None:
    shutil.rmtree(tool)
    write_tool(tool, "a")


def _link(tool: Path, aside: Path) -> None:
    tool.rename(aside)
    tool.symlink_to(aside)


def _swap(one: Path, other: Path) -> None:
    one.rename(one.parent / ".aside")
    other.rename(one)
    (one.parent / ".aside").rename(other)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_tool_that_changed_is_named(
    watched: WatchedTools, tools: Path, change: Callable[[Path], object]
) -> None:
    before = watched.version
    change(tools)
    watched.refresh(exact=True)
    assert watched.version > before
    assert str(tools / "tool-a") in (watched.changed_since(before) or ())
    time.sleep(0.12)
    assert watched.refresh(exact=True)
    after = watched.version
    (tools / "tool-b").chmod(0o700)
    watched.refresh(exact=True)
    assert watched.version > after


def test_a_change_is_named_after_a_look_that_was_interrupted_anywhere(
    watched: WatchedTools, tools: Path
) -> None:
    config = tools / "tool-a/config.json"
    look = partial(watched.refresh, exact=True)
    for at in count(1):
        before = watched.version
        config.write_text(f"{at:06}", encoding="utf-8")
        went_on = not is_interrupted(at, look, watched_tools, watch)
        look()
        named = watched.changed_since(before)
        assert named is None or str(tools / "tool-a") in named, at
        assert watched.stamps(str(tools / "tool-a"))[1] == stamp(str(config)), at
        if went_on:
            break
    assert at > 20


def test_what_comes_is_watched_too(watched: WatchedTools, tools: Path) -> None:
    write_tool(tools / "tool-c", "c")
    watched.refresh(exact=True)
    before = watched.version, watched.names
    (tools / "tool-c/config.json").write_text("{}", encoding="utf-8")
    watched.refresh(exact=True)
    assert watched.version > before[0] and watched.names > before[1]
    assert watched.changed_since(before[0]) == [str(tools / "tool-c")]
    assert watched.stamps(str(tools / "tool-c"))[1] is not None


def test_who_is_told_at_once_looks_at_each_config_once(
    tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watched_tools, "_WORTH", 1)
    (tools / "tool-without").mkdir()
    made = WatchedTools(Watch())
    made.watch_at_once()
    made.take([str(tools)])
    assert made.refresh(exact=True)
    first, looked = made.version, made.looked(str(tools))
    assert looked is not None and {uid: rows[0] is None for uid, rows in looked.items()} == {
        "tool-a": True,
        "tool-b": True,
        "tool-without": False,
    }
    assert all(made.refresh(exact=True) for _ in range(3)) and made.version == first
    (tools / "tool-b/config.json").write_text("{}", encoding="utf-8")
    assert made.refresh(exact=True)
    assert made.changed_since(first) == [str(tools / "tool-b")] and made.looked(str(tools)) is None


def test_few_tools_are_not_watched_at_once(tools: Path) -> None:
    made = WatchedTools(Watch())
    made.watch_at_once()
    made.take([str(tools)])
    made.refresh(exact=True)
    assert None not in made.stamps(str(tools / "tool-a"))


def test_a_second_change_within_one_tick_of_the_clock_is_another_version(
    watched: WatchedTools, tools: Path
) -> None:
    config = tools / "tool-a/config.json"
    seen = set()
    for number in range(50):
        config.write_text(f"{number % 10}", encoding="utf-8")  # the size stays, and often the time
        watched.refresh(exact=True)
        seen.add(watched.version)
    assert len(seen) == 50


def test_what_a_tool_keeps_beside_its_config_gives_nobody_another_name(
    watched: WatchedTools, tools: Path
) -> None:
    before = watched.version, watched.names
    (tools / "tool-a/kept.txt").touch()
    watched.refresh(exact=True)
    assert watched.version > before[0] and watched.names == before[1]


@pytest.mark.parametrize("place", ["tools", "above"])
def test_another_directory_in_its_place_is_seen(
    watched: WatchedTools, tools: Path, place: str
) -> None:
    which = tools if place == "tools" else tools.parent
    shutil.copytree(which, which.parent / "copy")
    which.rename(which.parent / "aside")
    (which.parent / "copy").rename(which)
    before = watched.version
    watched.refresh(exact=True)
    (tools / "tool-a/config.json").write_text("{}", encoding="utf-8")
    after = watched.version
    watched.refresh(exact=True)
    assert before < after < watched.version


def test_a_directory_that_is_made_later_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watched_tools, "_WORTH", 0)
    made = WatchedTools(Watch())
    made.take([str(tmp_path / "later/tools")])
    assert all(made.refresh(exact=True) for _ in range(3))
    before = made.version
    write_tool(tmp_path / "later/tools/tool-a", "a")
    made.refresh(exact=True)
    assert made.version > before


def test_after_more_than_the_kernel_tells_anything_may_have_changed(
    watched: WatchedTools, tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "_MOST", 0)
    before, each = watched.version, {str(tools / "tool-a"), str(tools / "tool-b")}
    for tool in each:
        Path(tool, "config.json").write_text("{}", encoding="utf-8")
    watched.refresh(exact=True)
    assert watched.version > before and set(watched.changed_since(before) or each) == each


def test_what_nobody_tells_of_is_seen_in_its_turn(
    tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watched_tools, "_WORTH", 1)
    os.link(tools / "tool-a/config.json", tmp_path / "other")
    time.sleep(0.12)
    made = WatchedTools(Watch())
    made.take([str(tools)])
    assert all(made.refresh(exact=True) for _ in range(3))
    before, until = made.version, time.monotonic() + PATIENCE_S
    (tmp_path / "other").write_text("{}", encoding="utf-8")
    while made.version == before:
        made.refresh()
        assert time.monotonic() < until


@pytest.mark.parametrize(("large", "seen"), [(0, [False, True]), (20_000, [True, True])])
def test_a_look_at_very_many_is_believed_for_as_long_as_it_took(
    tools: Path, monkeypatch: pytest.MonkeyPatch, large: int, seen: list[bool]
) -> None:
    clock = iter([0.0, 0.0, 5.0])  # a question, and a look that takes five seconds
    monkeypatch.setattr(watched_tools, "_LARGE", large)
    monkeypatch.setattr(time, "monotonic", lambda: next(clock, 9.0))
    made = WatchedTools(Watch())
    made.take([str(tools)])
    made.refresh(exact=True)
    before, found = made.version, []
    (tools / "tool-a/config.json").write_text("{}", encoding="utf-8")
    made.refresh(exact=True)
    found.append(made.version > before)
    monkeypatch.setattr(time, "monotonic", lambda: 11.0)
    made.refresh(exact=True)
    assert [*found, made.version > before] == seen


def test_in_a_child_that_was_forked_each_tool_is_looked_at(
    watched: WatchedTools, tools: Path
) -> None:
    before = watched.version
    if (child := os.fork()) == 0:
        (tools / "tool-a/config.json").write_text("{}", encoding="utf-8")
        watched.refresh(exact=True)
        os._exit(watched.version == before)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    watched.refresh(exact=True)
    assert watched.version > before


def test_other_directories_are_taken_without_losing_what_is_known(
    watched: WatchedTools, tools: Path, tmp_path: Path
) -> None:
    before = watched.version
    write_tool(tmp_path / "kit/tool-k", "k")
    watched.take([str(tmp_path / "kit"), str(tools)])
    watched.refresh(exact=True)
    assert watched.version > before and watched.changed_since(before) is None
    assert None not in (
        watched.stamps(str(tools / "tool-a"))[1],
        watched.stamps(str(tmp_path / "kit/tool-k"))[1],
    )
