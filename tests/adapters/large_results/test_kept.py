"""The files that keep the whole of large results."""

import os
import stat
import time
from pathlib import Path

import pytest

from tests.support.ondisk import PATIENCE_S
from vespe.adapters.large_results import kept
from vespe.errors import InvalidDocument, StorageError
from vespe.files import stamps
from vespe.files.locations import user_state_dir

pytestmark = pytest.mark.usefixtures("home")


def files() -> list[Path]:
    return sorted(Path(user_state_dir(), "results").iterdir())


def wait_until_settled(*paths: Path) -> None:
    until = time.monotonic() + PATIENCE_S
    while not stamps.are_settled(stamps.stamp(str(path)) for path in paths):
        assert time.monotonic() < until
        time.sleep(0.01)


def test_what_was_kept_is_read_by_its_digest_and_is_its_owners_alone() -> None:
    digest = kept.keep("é\0".encode())
    assert kept.read(digest) == "é\0".encode()
    (path,) = files()
    assert path.name == digest and stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_the_same_is_kept_once_and_is_young_again() -> None:
    digest = kept.keep(b"x")
    os.utime(files()[0], (1, 1))
    assert kept.keep(b"x") == digest
    assert len(files()) == 1 and files()[0].stat().st_mtime > 1


def test_a_file_that_was_changed_is_refused_and_kept_anew() -> None:
    digest = kept.keep(b"honest")
    files()[0].write_bytes(b"forged")
    with pytest.raises(InvalidDocument, match="somebody changed it"):
        kept.read(digest)
    assert kept.keep(b"honest") == digest
    assert kept.read(digest) == b"honest"


def test_a_text_is_read_once_while_its_file_stays_as_it_is() -> None:
    digest, other = kept.keep("naïve".encode()), kept.keep(b"other")
    wait_until_settled(*files())
    text = kept.read_text(digest)
    assert text == "naïve" and kept.read_text(digest) is text
    assert kept.read_text(other) == "other" and kept.read_text(digest) == text


def test_a_text_that_was_read_is_refused_once_its_file_is_changed_or_gone() -> None:
    digest = kept.keep(b"honest")
    (path,) = files()
    wait_until_settled(path)
    assert kept.read_text(digest) == kept.read_text(digest) == "honest"
    status = path.stat()
    path.write_bytes(b"forged")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(InvalidDocument, match="somebody changed it"):
        kept.read_text(digest)
    path.unlink()
    with pytest.raises(StorageError) as caught:
        kept.read_text(digest)
    assert kept.is_gone(caught.value)


def test_a_text_that_was_just_kept_is_read_each_time() -> None:
    digest = kept.keep(b"honest")
    assert kept.read_text(digest) == "honest"
    files()[0].write_bytes(b"forged")
    with pytest.raises(InvalidDocument, match="somebody changed it"):
        kept.read_text(digest)


@pytest.mark.parametrize("digest", ["", "x", "../../secret", "A" * 64, "a" * 63, None])
def test_what_is_no_digest_names_no_file(digest: str) -> None:
    assert not kept.is_digest(digest)
    with pytest.raises((InvalidDocument, TypeError)):
        kept.read(digest)


def test_what_is_gone_is_told_apart() -> None:
    with pytest.raises(StorageError) as caught:
        kept.read("a" * 64)
    assert kept.is_gone(caught.value)


def test_a_sweep_takes_what_is_old(monkeypatch: pytest.MonkeyPatch) -> None:
    old, young = kept.keep(b"old"), kept.keep(b"young")
    os.utime(Path(user_state_dir(), "results", old), (1, 1))
    kept.sweep()
    assert [path.name for path in files()] == [young]
    kept.sweep(now=10**10)
    assert files() == []


def test_a_sweep_takes_the_oldest_of_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MAX_BYTES", 20)
    for number in range(5):
        digest = kept.keep(b"%08d" % number)
        os.utime(Path(user_state_dir(), "results", digest), (10**9 + number,) * 2)
    kept.sweep(now=10**9 + 10)
    assert sorted(path.read_bytes() for path in files()) == [b"00000003", b"00000004"]
