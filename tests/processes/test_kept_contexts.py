"""Contexts that are entered once for each key, and left together: by their owner, and by nobody who
was forked from it.
"""

import contextlib
import gc
import os
from collections.abc import Iterator
from pathlib import Path

from vespe.processes.kept_contexts import KeptContexts


@contextlib.contextmanager
def file(path: Path) -> Iterator[str]:
    path.touch(exist_ok=False)
    try:
        yield str(path)
    finally:
        path.unlink()


def test_a_context_is_entered_once_for_each_key_and_left_when_its_owner_closes(
    tmp_path: Path,
) -> None:
    kept, one, two = KeptContexts(), tmp_path / "one", tmp_path / "two"
    assert [
        kept.of(1, lambda: file(one)),
        kept.of(1, lambda: file(two)),
        kept.of(2, lambda: file(two)),
    ] == [str(one), str(one), str(two)]
    kept.close()
    assert os.listdir(tmp_path) == []
    assert kept.of(1, lambda: file(two)) == str(two)
    kept.close()


def test_what_nobody_closed_is_left_with_its_owner(tmp_path: Path) -> None:
    kept = KeptContexts()
    kept.of(1, lambda: file(tmp_path / "one"))
    del kept
    gc.collect()
    assert os.listdir(tmp_path) == []


def test_a_fork_leaves_what_its_parent_entered_and_keeps_its_own(tmp_path: Path) -> None:
    kept = KeptContexts()
    kept.of(1, lambda: file(tmp_path / "one"))
    if not (pid := os.fork()):
        try:
            kept.close()
            kept.of(1, lambda: file(tmp_path / "two"))
            kept.close()
            os._exit(len(os.listdir(tmp_path)))
        finally:
            os._exit(9)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1 and os.listdir(tmp_path) == ["one"]
    kept.close()
