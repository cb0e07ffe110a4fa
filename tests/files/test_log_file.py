"""A file of lines that several processes write to."""

from pathlib import Path

import pytest

from tests.support.descriptors import opened
from vespe.files.log_file import OLD, LogFile
from vespe.files.watch import Watch


@pytest.mark.parametrize("kept", [False, True])
def test_lines_are_added_whole_and_a_torn_one_is_ended_first(tmp_path: Path, kept: bool) -> None:
    path = tmp_path / "private" / "log"
    log = LogFile(str(path), limit=1000, kept=kept)
    log.append(b"one")
    with path.open("ab") as other:
        other.write(b"torn")
    log.append(b"two")
    assert path.read_bytes() == b"one\ntorn\ntwo\n" and path.stat().st_mode & 0o777 == 0o600
    log.close()


def test_a_kept_file_is_opened_again_where_another_took_its_place(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = LogFile(str(path), limit=1000, kept=True)
    log.append(b"one")
    path.rename(tmp_path / "gone")
    log.append(b"two")
    assert path.read_bytes() == b"two\n"
    log.close()


def test_a_grown_file_becomes_the_old_one(tmp_path: Path) -> None:
    log = LogFile(str(tmp_path / "log"), limit=5, kept=True)
    for line in (b"first", b"second"):
        log.append(line)
    assert (tmp_path / "log").read_bytes() == b"second\n" and (
        tmp_path / f"log{OLD}"
    ).read_bytes() == b"first\n"
    log.close()


def test_nothing_stays_open_unless_it_is_kept(tmp_path: Path) -> None:
    LogFile(str(tmp_path / "log"), limit=100).append(b"x")
    assert not _opened_below(tmp_path)
    kept = LogFile(str(tmp_path / "log"), limit=100, kept=True)
    kept.append(b"y")
    assert _opened_below(tmp_path) == [str(tmp_path / "log")]
    kept.close()
    assert not _opened_below(tmp_path)


def _opened_below(directory: Path) -> list[str]:
    return [path for _, path in opened() if path.startswith(f"{directory}/")]


@pytest.mark.parametrize("taken", ["moved", "removed", "with its directory"])
def test_a_watched_file_that_is_taken_away_is_opened_again_for_the_next_line(
    tmp_path: Path, taken: str
) -> None:
    path = tmp_path / "private" / "log"
    log = LogFile(str(path), limit=1000, kept=True, watch=Watch())
    for _ in range(60):
        log.append(b"one")
    if taken == "removed":
        path.unlink()
    else:
        (path if taken == "moved" else path.parent).rename(tmp_path / "gone")
    log.append(b"two")
    assert path.read_bytes() == b"two\n"
    log.close()
    log.append(b"three")
    assert path.read_bytes() == b"two\nthree\n"
    log.close()


def test_a_watched_file_that_another_writes_to_keeps_lines_whole_and_is_rotated(
    tmp_path: Path,
) -> None:
    path, watch = tmp_path / "log", Watch()
    log = LogFile(str(path), limit=300, kept=True, watch=watch)
    for _ in range(60):
        log.append(b"one")
    with path.open("ab") as other:
        other.write(b"torn")
    log.append(b"two")
    assert path.read_bytes().endswith(b"\none\ntorn\ntwo\n")
    for _ in range(20):
        log.append(b"three")
    assert path.read_bytes() == b"three\n" * 11 and (tmp_path / f"log{OLD}").stat().st_size >= 300
    log.close()
