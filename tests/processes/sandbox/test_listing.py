"""Directories without some of what is in them."""

import os
import time
from pathlib import Path

from vespe.processes.sandbox import listing


def parts(path: Path, *holes: str) -> dict[str, bool]:
    places = {str(path / hole) for hole in holes}
    found = listing.without(str(path), places, listing.above(places))
    return {os.path.relpath(one, path): is_directory for one, is_directory in found}


def test_what_holds_no_hole_is_returned_whole_and_links_are_left_out(tmp_path: Path) -> None:
    for name in ("a/b/c", "a/key", "d/e"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("a/f", "g"):
        (tmp_path / name).touch()
    (tmp_path / "link").symlink_to("d")
    assert parts(tmp_path) == {".": True}
    assert parts(tmp_path, "a/key") == {"a/b": True, "a/f": False, "d": True, "g": False}
    assert parts(tmp_path, "a/key", "a/b/none", "g", "not/there") == {
        "a/b/c": True,
        "a/f": False,
        "d": True,
    }
    assert parts(tmp_path / "none", "x") == {}


def test_a_directory_is_listed_again_once_it_changed(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    before = time.time_ns() - 10**10
    os.utime(tmp_path, ns=(before, before))
    assert parts(tmp_path, "x") == {"a": False}
    (tmp_path / "b").touch()
    assert parts(tmp_path, "x") == {"a": False, "b": False}
    (tmp_path / "a").rename(tmp_path / "x")
    assert parts(tmp_path, "x") == {"b": False}


def test_what_is_above_places_is_all_that_holds_them() -> None:
    assert listing.above(["/a/b/c", "/a/d", "/"]) == {"/", "/a", "/a/b"}


def test_a_link_that_may_not_be_read_leads_to_itself(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("there")
    assert listing.real_path(str(tmp_path / "link")) == str(tmp_path.resolve() / "there")
    assert listing.real_path("/a\0b") == "/a\0b"
    # What nobody may ask for.
    assert listing.real_path("/proc/1/cwd")
