"""What a keeper lends, to whom, when it ends it, and that nothing of it is left: with real
processes.
"""

import contextlib
import gc
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.ondisk import PATIENCE_S
from vespe.processes.answering import AnsweringProcess, NoAnswer
from vespe.processes.keeper import Closed, Keeper, Terms, Use

SCRIPT = """
import os, sys, time
for line in sys.stdin.buffer:
    word = line.strip().decode()
    if word == "die": os._exit(3)
    if word == "pause": time.sleep(0.3)
    os.write(int(sys.argv[-1]), b"0 %d\\n" % os.getpid())
"""
SHORT = Terms(max_idle_s=0.2)


def made() -> AnsweringProcess:
    return AnsweringProcess((sys.executable, "-I", "-S", "-c", SCRIPT), cwd="/", env={}, first=b"")


def asked(process: AnsweringProcess, word: str = "hi") -> int:
    """Return the process that has answered."""
    until = time.monotonic() + PATIENCE_S
    return int(process.ask(word.encode() + b"\n", until=until, cancel=None).head)


def call(
    keeper: Keeper[AnsweringProcess], key: str = "one", word: str = "hi", terms: Terms = SHORT
) -> int:
    with keeper.borrow(key, made, terms=terms) as (process, _):
        return asked(process, word)


def until_gone(pid: int) -> None:
    until = time.monotonic() + PATIENCE_S
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < until
        time.sleep(0.02)


LONG = Terms(max_idle_s=600.0)


@pytest.fixture
def keep() -> Iterator[Callable[[Use, int], Keeper[AnsweringProcess]]]:
    keepers: list[Keeper[AnsweringProcess]] = []

    def keep(use: Use, most: int = 8) -> Keeper[AnsweringProcess]:
        keepers.append(Keeper(most=most, use=use))
        return keepers[-1]

    yield keep
    for keeper in keepers:
        keeper.close()


Keep = Callable[..., Keeper[AnsweringProcess]]


@pytest.mark.parametrize("use", ["exclusive", "serial", "shared"])
def test_what_was_returned_is_lent_again_by_its_key(keep: Keep, use: Use) -> None:
    keeper = keep(use)
    one, other = call(keeper, terms=LONG), call(keeper, "other", terms=LONG)
    assert one != other and call(keeper, terms=LONG) == one
    with keeper.borrow("one", made, terms=LONG) as first, keeper.borrow("new", made) as second:
        assert (first.is_new, second.is_new) == (False, True)


@pytest.mark.parametrize(("use", "same"), [("exclusive", False), ("shared", True)])
def test_two_at_once_have_a_process_each_or_share_one(keep: Keep, use: Use, same: bool) -> None:
    keeper = keep(use)
    with keeper.borrow("one", made) as first, keeper.borrow("one", made) as second:
        assert (first.process is second.process) == same


def test_two_at_once_take_turns_in_a_serial_process(keep: Keep) -> None:
    keeper = keep("serial")
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: call(keeper, word="pause", terms=LONG), range(4)))
    assert len(set(found)) == 1


@pytest.mark.parametrize("reason", ["late", "cancelled"])
def test_who_waits_for_a_turn_waits_no_longer_than_wanted(keep: Keep, reason: str) -> None:
    keeper, cancel = keep("serial"), threading.Event()
    if reason == "cancelled":
        threading.Timer(0.1, cancel.set).start()
    until = time.monotonic() + (0.1 if reason == "late" else PATIENCE_S)
    with (
        keeper.borrow("one", made),
        ThreadPoolExecutor(1) as pool,
        pytest.raises(NoAnswer, match=reason),
    ):
        pool.submit(keeper.borrow("one", made, until=until, cancel=cancel).__enter__).result()


def test_the_one_that_was_used_longest_ago_ends_where_too_many_wait(keep: Keep) -> None:
    keeper = keep("serial", 2)
    first, second = call(keeper, "1", terms=LONG), call(keeper, "2", terms=LONG)
    call(keeper, "1", terms=LONG)
    third = call(keeper, "3", terms=LONG)
    until_gone(second)
    assert call(keeper, "1", terms=LONG) == first and call(keeper, "3", terms=LONG) == third


def test_what_nobody_uses_for_long_ends_and_what_is_in_use_does_not(keep: Keep) -> None:
    keeper = keep("serial")
    with keeper.borrow("busy", made, terms=SHORT) as (busy, _):
        pid = asked(busy)
        until_gone(call(keeper))
        assert asked(busy) == pid
    until_gone(pid)


def test_so_many_calls_or_other_makings_are_another_process(keep: Keep) -> None:
    keeper, twice = keep("serial"), Terms(max_calls=2)
    first, second, third = (call(keeper, terms=twice) for _ in range(3))
    assert first == second != third
    other = call(keeper, terms=Terms(made_of="another script"))
    assert other != third
    for pid in (first, third):
        until_gone(pid)


def test_one_that_died_is_not_lent_again(keep: Keep) -> None:
    keeper = keep("exclusive")
    first = call(keeper)
    with pytest.raises(NoAnswer):
        call(keeper, word="die")
    assert call(keeper) != first


def test_what_cannot_be_made_leaves_nothing_behind(keep: Keep) -> None:
    keeper = keep("serial")

    def fail() -> AnsweringProcess:
        raise OSError("out of paper")

    with pytest.raises(OSError, match="out of paper"), keeper.borrow("one", fail):
        pass
    assert call(keeper)


def test_closing_waits_for_who_uses_a_process_alone_and_the_next_is_another(keep: Keep) -> None:
    keeper, began = keep("serial"), threading.Event()
    found: list[int] = []

    def pause() -> None:
        with keeper.borrow("one", made, terms=LONG) as (process, _):
            began.set()
            found.append(asked(process, "pause"))

    thread = threading.Thread(target=pause)
    thread.start()
    assert began.wait(PATIENCE_S)
    keeper.close()
    assert len(found) == 1 and not Path(f"/proc/{found[0]}").exists()
    thread.join()
    assert call(keeper) not in found


def test_closing_ends_what_is_shared_at_once_and_for_good(keep: Keep) -> None:
    keeper = keep("shared")
    with keeper.borrow("one", made) as (process, _):
        pid = asked(process)
        keeper.close(for_good=True)
        assert not Path(f"/proc/{pid}").exists()
    with pytest.raises(Closed):
        call(keeper)


@pytest.mark.parametrize("terms", [Terms(), LONG])
def test_what_nobody_closed_ends_with_its_keeper(terms: Terms, tmp_path: Path) -> None:
    keeper = Keeper[AnsweringProcess](most=2, use="serial")
    keeper.enter("one", lambda: file(tmp_path / "one"))
    pid = call(keeper, terms=terms)
    del keeper
    gc.collect()
    until_gone(pid)
    until = time.monotonic() + PATIENCE_S
    while os.listdir(tmp_path):
        assert time.monotonic() < until


@contextlib.contextmanager
def file(path: Path) -> Iterator[str]:
    path.touch(exist_ok=False)
    try:
        yield str(path)
    finally:
        path.unlink()


def test_a_context_is_entered_once_for_each_key_and_left_at_the_end(
    keep: Keep, tmp_path: Path
) -> None:
    keeper, one, two = keep("serial"), tmp_path / "one", tmp_path / "two"
    assert [
        keeper.enter(1, lambda: file(one)),
        keeper.enter(1, lambda: file(two)),
        keeper.enter(2, lambda: file(two)),
    ] == [str(one), str(one), str(two)]
    keeper.close()
    assert os.listdir(tmp_path) == []
    assert keeper.enter(1, lambda: file(two)) == str(two)
    keeper.close()
    assert os.listdir(tmp_path) == []


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_begins_with_nothing_and_ends_nothing_of_its_parents(
    keep: Keep, tmp_path: Path
) -> None:
    keeper = keep("serial")
    keeper.enter(1, lambda: file(tmp_path / "one"))
    before = call(keeper, terms=LONG)
    if not (pid := os.fork()):
        try:
            keeper.close()
            keeper.enter(1, lambda: file(tmp_path / "two"))
            other = call(keeper, terms=LONG)
            keeper.close()
            os._exit(10 * (other == before) + len(os.listdir(tmp_path)))
        finally:
            os._exit(99)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1 and os.listdir(tmp_path) == ["one"]
    assert call(keeper, terms=LONG) == before


AT_EXIT = """
import pathlib, sys
sys.path.insert(0, {root!r})
from tests.processes.test_keeper import LONG, call, file
from vespe.processes.keeper import Keeper
keeper = Keeper(most=2, use={use!r})
keeper.enter(1, lambda: file(pathlib.Path({path!r})))
print(call(keeper, terms=LONG))
"""


@pytest.mark.parametrize("use", ["exclusive", "shared"])
def test_nothing_is_left_when_a_program_exits_that_closed_nothing(use: str, tmp_path: Path) -> None:
    root = str(Path(__file__).parents[2])
    source = AT_EXIT.format(root=root, use=use, path=str(tmp_path / "one"))
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, encoding="utf-8", check=True
    )
    assert not Path(f"/proc/{int(done.stdout)}").exists() and os.listdir(tmp_path) == []
