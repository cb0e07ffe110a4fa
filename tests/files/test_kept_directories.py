"""Temporary directories that one call after another has, where nothing was left in them."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from vespe.files.kept_directories import KeptDirectories


@pytest.fixture
def directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[KeptDirectories]:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    made = KeptDirectories()
    yield made
    made.close()
    assert not [*tmp_path.iterdir()]


def borrowed(directories: KeptDirectories, key: str = "a") -> str:
    with directories.borrow(key) as one:
        assert one.identity  # to list it would change its times
        return one.path


def test_an_empty_directory_is_lent_again_for_its_key_alone(directories: KeptDirectories) -> None:
    assert borrowed(directories) == borrowed(directories) != borrowed(directories, "b")


def test_one_with_another_time_is_not_lent_again(directories: KeptDirectories) -> None:
    with directories.borrow("a") as one:
        os.utime(one.path, ns=(1, 1))
    assert not os.path.exists(one.path)


def test_two_calls_at_a_time_have_two(directories: KeptDirectories) -> None:
    with directories.borrow("a") as one, directories.borrow("a") as other:
        assert one.path != other.path


def test_one_that_was_used_is_deleted(directories: KeptDirectories) -> None:
    with directories.borrow("a") as one:
        (Path(one.path) / "deep/er").mkdir(parents=True)
    assert not os.path.exists(one.path) and borrowed(directories) != one.path


def test_one_whose_call_failed_is_deleted(directories: KeptDirectories) -> None:
    with pytest.raises(ValueError, match="x"), directories.borrow("a") as one:
        raise ValueError("x")
    assert not os.path.exists(one.path)


def test_one_that_somebody_took_away_is_not_lent(directories: KeptDirectories) -> None:
    before = borrowed(directories)
    os.rmdir(before)
    os.mkdir(before)
    os.mkdir(before + ".other")
    assert borrowed(directories) != before
    os.rmdir(before + ".other")


def test_one_that_another_has_written_in_while_it_waited_is_not_lent(
    directories: KeptDirectories,
) -> None:
    before = borrowed(directories)
    (Path(before) / "planted").touch()
    assert borrowed(directories) != before
    assert not os.path.exists(before)


def test_who_uses_it_often_has_a_new_one_each_time(directories: KeptDirectories) -> None:
    for _ in range(3):
        with directories.borrow("a") as one:
            (Path(one.path) / "file").touch()
    with directories.borrow("a") as one:
        assert one.identity is None
    assert not os.path.exists(one.path)


def test_they_are_gone_with_what_kept_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    made = KeptDirectories()
    path = borrowed(made)
    assert os.path.exists(path)
    del made
    gc.collect()
    assert not os.path.exists(path)


def test_a_fork_has_its_own_and_leaves_those_of_its_parent(directories: KeptDirectories) -> None:
    before = borrowed(directories)
    pid = os.fork()
    if pid == 0:
        try:
            own = borrowed(directories)
            directories.close()
            gc.collect()
            os._exit(0 if own != before and not os.path.exists(own) else 1)
        finally:
            os._exit(2)
    assert os.waitpid(pid, 0)[1] == 0
    assert borrowed(directories) == before


def test_few_wait_for_calls_however_many_tools_are_called(
    directories: KeptDirectories, tmp_path: Path
) -> None:
    for number in range(100):
        with directories.borrow(number), directories.borrow(number), directories.borrow(number):
            pass
    assert 0 < len([*tmp_path.iterdir()]) <= 64
