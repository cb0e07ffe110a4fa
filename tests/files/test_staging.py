"""Directories are made aside and come to their place whole; what killed processes left goes, what
living ones use stays.
"""

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from vespe.errors import Refused, StorageError
from vespe.files.staging import delete, has_leftovers, place, remove, staging, sweep

LEFT = f".vespe-{'a' * 24}.tmp"


def test_what_is_staged_comes_to_its_place_and_nothing_else_stays(tmp_path: Path) -> None:
    with staging(str(tmp_path)) as aside:
        Path(aside, "made").mkdir()
        Path(aside, "draft").touch()
        place(os.path.join(aside, "made"), str(tmp_path / "place"))
    assert os.listdir(tmp_path) == ["place"]


def test_what_fails_on_its_way_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), staging(str(tmp_path)) as aside:
        Path(aside, "half").touch()
        raise RuntimeError
    assert os.listdir(tmp_path) == []


def test_where_nothing_can_be_made_the_error_names_what_was_to_be_made(tmp_path: Path) -> None:
    with (
        pytest.raises(StorageError, match="cannot make the kit"),
        staging(str(tmp_path / "gone"), target="the kit"),
    ):
        pytest.fail("there is no directory to use")


def test_a_place_that_is_taken_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "place" / "theirs").mkdir(parents=True)
    with staging(str(tmp_path)) as aside, pytest.raises(StorageError, match="cannot make"):
        Path(aside, "made").mkdir()
        place(os.path.join(aside, "made"), str(tmp_path / "place"))
    assert os.listdir(tmp_path / "place") == ["theirs"]


def test_a_removed_directory_is_gone_with_its_links_and_not_what_they_lead_to(
    tmp_path: Path,
) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "tool").mkdir()
    (tmp_path / "tool/link").symlink_to(tmp_path / "kept")
    remove(str(tmp_path / "tool"))
    assert os.listdir(tmp_path) == ["kept"]


def test_a_link_in_the_place_of_a_directory_is_not_removed(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "kept")
    with pytest.raises(Refused, match="symbolic link"):
        remove(str(tmp_path / "link"))
    assert sorted(os.listdir(tmp_path)) == ["kept", "link"]


def test_a_file_or_nothing_in_the_place_of_a_directory_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name in ("file", "gone"):
        with pytest.raises(StorageError, match="cannot remove"):
            remove(str(tmp_path / name))
    assert os.listdir(tmp_path) == ["file"]


def test_what_nobody_holds_is_swept_and_what_people_made_or_others_use_stays(
    tmp_path: Path,
) -> None:
    kept = [".vespe", ".vespe-x.tmp", f".vespe-{'b' * 24}", f"vespe-{'b' * 24}.tmp", "tool-a"]
    for name in (*kept, LEFT):
        (tmp_path / name / "inner").mkdir(parents=True)
    link = tmp_path / f".vespe-{'c' * 24}.tmp"
    link.symlink_to(tmp_path / "tool-a")
    with staging(str(tmp_path)) as used:
        sweep(str(tmp_path))
        assert sorted(os.listdir(tmp_path)) == sorted([*kept, link.name, os.path.basename(used)])
    assert (tmp_path / "tool-a/inner").is_dir()


def test_before_a_leftover_goes_its_path_is_told(tmp_path: Path) -> None:
    told: list[str] = []
    (tmp_path / LEFT).mkdir()
    sweep(str(tmp_path), before=told.append)
    assert told == [str(tmp_path / LEFT)] and os.listdir(tmp_path) == []


def test_a_leftover_whose_lock_is_held_stays(tmp_path: Path) -> None:
    (tmp_path / LEFT).mkdir()
    held = os.open(tmp_path / LEFT, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    sweep(str(tmp_path))
    os.close(held)
    assert has_leftovers(str(tmp_path)) and not has_leftovers(str(tmp_path / "gone"))


def test_a_directory_that_cannot_be_read_cannot_be_swept(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot read"):
        sweep(str(tmp_path / "gone"))


def test_a_read_only_directory_goes_whole_and_what_a_link_leads_to_stays(tmp_path: Path) -> None:
    ours, kept = tmp_path / "ours", tmp_path / "kept"
    kept.mkdir()
    (kept / "file").touch()
    (ours / "below").mkdir(parents=True)
    (ours / "below/link").symlink_to(kept)
    (ours / "below").chmod(0o555)
    delete(str(ours))
    assert not ours.exists() and (kept / "file").exists()


# A process may get a signal where no `with` block has begun or is still there to end.
_INTERRUPTED = """
import os, sys
from vespe.files.staging import staging
from vespe.processes.signals import raise_on_signals

held = staging(sys.argv[1])
try:
    with raise_on_signals():
        held.__enter__()
        print(os.listdir(sys.argv[1]), flush=True)
        os.kill(os.getpid(), int(sys.argv[2]))
except KeyboardInterrupt:
    os._exit(9)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_skips_the_end_of_a_block_leaves_nothing(
    tmp_path: Path, number: signal.Signals
) -> None:
    arguments = [sys.executable, "-c", _INTERRUPTED, str(tmp_path), str(int(number))]
    done = subprocess.run(arguments, capture_output=True, text=True, encoding="utf-8", check=False)
    assert ".vespe-" in done.stdout
    assert done.returncode == 9, done.stderr
    assert list(tmp_path.iterdir()) == []
