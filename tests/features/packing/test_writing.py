"""Packed files on disk: written whole, compared, and what is left over removed."""

from pathlib import Path

import pytest

from vespe.errors import Refused
from vespe.features.packing.writing import differences, write

FILES = {"a.json": b"{}", "kits/k/run": b"#!/bin/sh\n"}


def test_only_what_is_other_is_written_and_what_is_left_over_goes(tmp_path: Path) -> None:
    place = str(tmp_path)
    runs = frozenset({"kits/k/run"})
    assert write(place, FILES, own="kits/k", executable=runs) == ["a.json", "kits/k/run"]
    assert (tmp_path / "kits/k/run").stat().st_mode & 0o111
    assert differences(place, FILES, own="kits/k", executable=runs) == []
    (tmp_path / "kits/k/old.py").write_text("", encoding="utf-8")
    (tmp_path / "mine.txt").write_text("", encoding="utf-8")
    assert differences(place, FILES, own="kits/k", executable=runs) == ["kits/k/old.py"]
    assert write(place, FILES, own="kits/k", executable=runs) == ["kits/k/old.py"]
    assert (tmp_path / "mine.txt").exists() and not (tmp_path / "kits/k/old.py").exists()


def test_directories_that_a_removal_empties_go_too_and_others_stay(tmp_path: Path) -> None:
    place, old = str(tmp_path), {"kits/k/old/deep/a": b"", "kits/k/kept/a": b"", "kits/k/b": b""}
    write(place, old, own="kits/k", executable=frozenset())
    (tmp_path / "kits/k/kept/mine").mkdir()
    write(place, {"kits/k/b": b""}, own="kits/k", executable=frozenset())
    left = sorted(
        str(path.relative_to(tmp_path / "kits/k")) for path in tmp_path.rglob("kits/k/**/*")
    )
    assert left == ["b", "kept", "kept/mine"]


def test_the_directory_that_a_kit_is_packed_in_stays(tmp_path: Path) -> None:
    place = str(tmp_path)
    write(place, {"kits/k/a": b""}, own="kits/k", executable=frozenset())
    write(place, {}, own="kits/k", executable=frozenset())
    assert (tmp_path / "kits/k").is_dir()


def test_p83_a_file_that_is_no_longer_executable_is_told_and_mended(tmp_path: Path) -> None:
    place, runs = str(tmp_path), frozenset({"kits/k/run"})
    write(place, FILES, own="kits/k", executable=runs)
    (tmp_path / "kits/k/run").chmod(0o644)
    (tmp_path / "a.json").chmod(0o755)
    for _ in range(2):
        assert differences(place, FILES, own="kits/k", executable=runs) == ["a.json", "kits/k/run"]
    assert write(place, FILES, own="kits/k", executable=runs) == ["a.json", "kits/k/run"]
    assert differences(place, FILES, own="kits/k", executable=runs) == []


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out/kits").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Refused, match="is a link"):
        write(str(tmp_path / "out"), FILES, own="kits/k", executable=frozenset())
    assert list((tmp_path / "elsewhere").iterdir()) == []
