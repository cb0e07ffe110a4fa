"""The workers of compiled tools: who has one, when each ends, and what of compiled code is
believed.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.wasm_modules import says
from vespe.models import JsonObject
from vespe.types.wasm.workers import WORKERS, Worker, borrow


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


@pytest.fixture
def kept(home: Path) -> Iterator[None]:
    WORKERS.close()
    yield
    WORKERS.close()


def asked(worker: Worker, text: str, *, digest: str = "a" * 64) -> bytes:
    fields: JsonObject = {
        "name": "x",
        "stdin": b"{}",
        "memory": 1 << 26,
        "cap": 1000,
        "directories": [],
        "timeout_s": 20.0,
    }
    _, answer = worker.ask(
        {**fields, "module": digest, "code": says(text)}, until=time.monotonic() + 20, cancel=None
    )
    return answer.body


def cached(home: Path) -> list[Path]:
    return sorted((home / "cache" / "vespe" / "wasm").iterdir())


def test_a_worker_that_was_given_back_is_lent_again_and_two_at_once_are_two(kept: None) -> None:
    with borrow() as (first, _):
        with borrow() as (second, is_new):
            assert is_new and first is not second and asked(second, "2", digest="b" * 64) == b"2"
        assert asked(first, "1") == b"1"
    with borrow() as (again, is_new):
        assert again is first and not is_new


def test_a_worker_that_has_many_modules_is_replaced(kept: None) -> None:
    with borrow() as (first, _):
        first.knows = {str(number) for number in range(64)}
    with borrow() as (second, is_new):
        assert is_new and second is not first


def test_what_was_compiled_is_found_again_by_the_next_process_and_is_private(home: Path) -> None:
    for _ in range(2):
        worker = Worker()
        assert asked(worker, "1") == b"1"
        worker.end()
    (file,) = cached(home)
    assert file.stat().st_mode & 0o777 == 0o600 and file.parent.stat().st_mode & 0o777 == 0o700
    assert (home / "state" / "vespe" / "wasm.key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "forged", ["another module's", "another signature", "cut", "empty", "of another key"]
)
def test_forged_code_is_not_run_but_compiled_anew(home: Path, forged: str) -> None:
    """The forger's code says 2 where the module says 1: with a good signature of another digest, or
    a bad one of this.
    """
    worker = Worker()
    asked(worker, "2", digest="b" * 64)
    evil = cached(home)[0]
    asked(worker, "1")
    worker.end()
    (good,) = (path for path in cached(home) if path != evil)
    data = evil.read_bytes()
    made = {
        "another signature": b"\0" * 32 + data[32:],
        "cut": good.read_bytes()[:-9],
        "empty": b"",
    }.get(forged, data)
    good.write_bytes(made)
    if forged == "of another key":
        (home / "state" / "vespe" / "wasm.key").write_bytes(b"k" * 32)
    worker = Worker()
    assert asked(worker, "1") == b"1"
    worker.end()
    assert good.read_bytes() != made


def test_a_cache_that_cannot_be_had_costs_time_alone(home: Path) -> None:
    (home / "cache").mkdir()
    (home / "cache" / "vespe").write_text("in the way", encoding="utf-8")
    worker = Worker()
    assert asked(worker, "1") == b"1"
    worker.end()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_process_that_is_forked_off_begins_with_no_worker(kept: None) -> None:
    with borrow() as (worker, _):
        asked(worker, "1")
    if (pid := os.fork()) == 0:
        with borrow() as (_, is_new):
            os._exit(not is_new)
    assert os.waitpid(pid, 0)[1] == 0
    with borrow() as (again, _):
        assert again is worker and asked(again, "1") == b"1"
