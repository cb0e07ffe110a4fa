"""Files that are as they were: each change is seen by the next look, whether Linux tells of it or
not.
"""

import os
import shutil
import threading
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from tests.support.descriptors import opened
from tests.support.interrupting import is_interrupted
from vespe.files import watch
from vespe.files.stamps import stamp
from vespe.files.watch import Held, Watch

MANY = 60
"""More looks than Linux is asked after."""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    made = tmp_path / "above" / "place"
    (made / "inner").mkdir(parents=True)
    (made / "file").write_text("one", encoding="utf-8")
    time.sleep(0.02)  # longer than a tick of a file system's clock
    return made


def held(place: Path, *more: Path) -> Held:
    """Return the place and its file as they are, after so many looks that Linux tells of
    changes.
    """
    found = Held(
        tuple(
            (str(path), stamp(str(path)))
            for path in (place, place / "file", place / "missing" / "deep", *more)
        ),
        Watch(),
    )
    assert all(found.hold() for _ in range(MANY))
    return found


CHANGES: dict[str, Callable[[Path], object]] = {
    "rewritten": lambda place: (place / "file").write_text("two", encoding="utf-8"),
    "of the same size and times": lambda place: _forge(place / "file"),
    "through another link": lambda place: (place.parent / "link").write_text(
        "two", encoding="utf-8"
    ),
    "replaced": lambda place: os.replace(place.parent / "other", place / "file"),
    "gone": lambda place: (place / "file").unlink(),
    "moved and back": lambda place: (place / "file").rename(place / "aside").rename(place / "file"),
    "a name that came": lambda place: (place / "new").touch(),
    "what was missing": lambda place: (place / "missing" / "deep").mkdir(parents=True),
    "its mode": lambda place: place.chmod(0o770),
    "the directory": lambda place: place.rename(place.parent / "gone"),
    "the directory above": lambda place: _swap(place.parent),
}


def _forge(file: Path) -> None:
    status = file.stat()
    file.write_text("two", encoding="utf-8")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def _swap(above: Path) -> None:
    shutil.copytree(above, above.parent / "copy")
    above.rename(above.parent / "aside")
    (above.parent / "copy").rename(above)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_every_change_is_seen_by_the_next_look(
    place: Path, change: Callable[[Path], object]
) -> None:
    os.link(place / "file", place.parent / "link")
    (place.parent / "other").write_text("two", encoding="utf-8")
    found = held(place)
    change(place)
    assert not found.hold()


def test_what_happens_elsewhere_changes_nothing(place: Path) -> None:
    found = held(place)
    (place / "inner" / "new").touch()
    (place.parent / "beside").touch()
    assert found.hold() and found.hold()


def test_other_modes_and_times_beside_and_above_are_told_of_nobody(place: Path) -> None:
    beside = place.parent / "beside"
    beside.touch()
    watch_ = Watch()
    found = Held(tuple((str(path), stamp(str(path))) for path in (place, place / "file")), watch_)
    assert all(found.hold() for _ in range(MANY))
    covered = watch_.cover(0, [str(place / "file")])
    beside.chmod(0o600)
    os.utime(beside)
    (place / "inner").chmod(0o700)
    (place.parent / "made").mkdir()
    (place.parent / "made").rmdir()
    watch_.number()
    assert covered > 0 and watch_.is_covered(covered) and found.hold()
    (place / "file").chmod(0o600)
    watch_.number()
    assert not watch_.is_covered(covered) and not found.hold()


def test_a_place_behind_a_link_is_looked_at_each_time(place: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(place.parent)
    (tmp_path / "second" / "place").mkdir(parents=True)
    found = held(tmp_path / "link" / "place")
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to(tmp_path / "second")
    assert not found.hold()


def test_a_change_is_seen_by_every_thread(place: Path) -> None:
    changing, seen = threading.Event(), []
    found = held(place)

    def look() -> None:
        while not changing.is_set():
            found.hold()
        seen.append(found.hold())

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    (place / "file").write_text("two", encoding="utf-8")
    changing.set()
    for thread in threads:
        thread.join()
    assert seen == [False] * 4


def test_a_change_is_seen_after_a_look_that_was_interrupted_anywhere(place: Path) -> None:
    for at in count(1):
        found = held(place)
        covered = found._watch.tell(str(place)) and found._watch.told() is None
        (place / "file").write_text(f"{at}", encoding="utf-8")
        went_on = not is_interrupted(at, found.hold, watch)
        assert not found.hold(), at
        happened = found._watch.told()
        assert happened is None or (str(place), "file") in happened, at
        if went_on:
            break
    assert covered and at > 20


def test_a_child_that_was_forked_takes_nothing_from_its_parent(place: Path) -> None:
    found = held(place)
    (place / "file").write_text("two", encoding="utf-8")
    if (child := os.fork()) == 0:
        os._exit(found.hold())
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0 and not found.hold()


def test_what_linux_does_not_tell_is_seen_soon(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "_ITSELF", 0x400)
    monkeypatch.setattr(watch, "_CONTENTS", 0x400)
    found = held(place)
    os.truncate(place / "file", 0)
    until = time.monotonic() + 10
    while found.hold():
        assert time.monotonic() < until


def test_where_linux_tells_nothing_each_look_looks(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "_LOCAL", frozenset())
    found = held(place)
    (place / "file").write_text("two", encoding="utf-8")
    assert not found.hold()


def test_a_watch_that_is_given_up_leaves_nothing_open(place: Path) -> None:
    before, found = opened(), held(place)
    assert len(_watching() - before) == 1
    del found
    assert not _watching() - before


def _watching() -> set[tuple[str, str]]:
    return {(number, kind) for number, kind in opened() if kind == "anon_inode:inotify"}
