"""The identity of a place: never through a link, and never a directory made later under the same
name.
"""

import os
import time
from pathlib import Path

import pytest

from vespe.files.identity import Place, place_of


def test_no_place_is_seen_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "real" / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    assert place_of(str(tmp_path), "real", "inner")
    assert place_of(str(tmp_path), "link") is None
    assert place_of(str(tmp_path), "link", "inner") is None
    assert place_of(str(tmp_path), "gone") is None


@pytest.mark.skipif(
    not os.path.isdir("/dev/shm"),
    reason="needs a file system without generations, as Linux has there",
)
def test_a_directory_in_memory_made_again_has_another_time_of_birth() -> None:
    directory = f"/dev/shm/vespe-{os.urandom(8).hex()}"
    seen = set()
    for _ in range(5):
        os.mkdir(directory)
        place = place_of(directory)
        os.rmdir(directory)
        time.sleep(0.01)
        assert place
        seen.add((place.generation, place.birth_ns))
    if seen == {(None, None)}:
        pytest.skip("this kernel keeps no time of birth in memory: the documented residual risk")
    assert len(seen) == 5


def test_a_file_system_that_tells_neither_gives_a_weak_place() -> None:
    found = place_of("/proc" if os.path.isdir("/proc") else "/dev")
    assert found
    assert found.generation is None
    assert found.strong is (found.birth_ns is not None)


def test_a_directory_made_again_under_the_same_name_has_another_identity(tmp_path: Path) -> None:
    seen: set[str] = set()
    for number in range(20):
        (tmp_path / "here").mkdir()
        place = place_of(str(tmp_path), "here")
        assert place
        if not place.strong:
            pytest.skip(
                "this file system tells no generation of an inode: the documented residual risk"
            )
        seen.add(place.name)
        assert len(seen) == number + 1
        (tmp_path / "here").rmdir()


def test_the_path_of_a_place_is_the_real_one(tmp_path: Path) -> None:
    (tmp_path / "real" / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    place = place_of(str(tmp_path / "link"), "inner")
    assert place
    assert place.path == str(tmp_path / "real" / "inner")


def test_names_of_records_differ_by_what_makes_a_place_strong() -> None:
    weak = Place(path="/p", inode=255, device=16)
    assert weak.name == "ff-d10-u0"
    assert Place(path="/p", inode=255, device=16, generation=10).name == "ff-d10-ga-u0"
    assert Place(path="/p", inode=255, device=16, birth_ns=11).name == "ff-d10-bb-u0"
    assert (
        len(
            {
                Place(path="/p", inode=1, device=device, owner=owner, generation=3).name
                for device in (1, 2)
                for owner in (1, 2)
            }
        )
        == 4
    )
