"""A process fetches each secret once, again where a server refused it, and remembers old values to
strike them out.
"""

import os
import threading
from pathlib import Path

import pytest

from vespe.errors import SecretUnavailable
from vespe.features.secrets import kept
from vespe.features.secrets.sources import SecretRequest


class Counted:
    """A secret that a command prints, another at each time; `times` is how often it ran."""

    def __init__(self, directory: Path) -> None:
        self.count, script = directory / "count", directory / "print.sh"
        script.write_text(
            f'#!/bin/sh\necho >> {self.count}\necho "value-$(wc -l < {self.count} | tr -d " ")"\n',
            encoding="utf-8",
        )
        script.chmod(0o755)
        self.asked = SecretRequest(
            name="TOKEN", reference={"command": [str(script)]}, environment=os.environ
        )

    @property
    def times(self) -> int:
        return len(self.count.read_bytes()) if self.count.exists() else 0


@pytest.fixture
def secret(tmp_path: Path, home: Path) -> Counted:
    return Counted(tmp_path)


def test_a_secret_is_fetched_once_by_however_many_threads(secret: Counted) -> None:
    assert kept.known(secret.asked) == ()
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(kept.value_of(secret.asked))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (found, secret.times) == (["value-1"] * 4, 1)
    assert kept.known(secret.asked) == ("value-1",)


def test_a_refused_value_is_fetched_again_once_and_still_struck_out(secret: Counted) -> None:
    first = kept.value_of(secret.asked)
    assert kept.renewed(secret.asked, refused=first) == "value-2"
    # Another thread was refused the first one too, and comes later.
    assert kept.renewed(secret.asked, refused=first) == "value-2"
    assert (kept.value_of(secret.asked), secret.times) == ("value-2", 2)
    assert kept.known(secret.asked) == ("value-2", "value-1")


def test_what_could_not_be_fetched_is_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "key"
    made = SecretRequest(name="T", reference={"ref": f"file:{path}"}, environment=os.environ)
    with pytest.raises(SecretUnavailable):
        kept.value_of(made)
    path.touch(mode=0o600)
    path.write_text("there-now", encoding="utf-8")
    assert kept.value_of(made) == "there-now"


def test_a_value_is_fetched_again_when_it_is_15_minutes_old(
    secret: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "FRESH_S", 0.0)
    assert [kept.value_of(secret.asked) for _ in range(2)] == ["value-1", "value-2"]


def test_a_variable_is_looked_up_at_each_time_and_other_environments_are_others(
    secret: Counted,
) -> None:
    for value in ("one", "two"):
        made = SecretRequest(name="T", reference={"ref": "env:O"}, environment={"O": value})
        assert kept.value_of(made) == kept.renewed(made, refused="x") == value
        assert kept.known(made) == (value,)
    assert kept.value_of(secret.asked) == "value-1"
    there = {**os.environ, "OP_ACCOUNT": "other"}
    made = SecretRequest(name="T", reference=secret.asked.reference, environment=there)
    assert kept.value_of(made) == "value-2"


def test_a_fork_begins_anew(secret: Counted) -> None:
    kept.value_of(secret.asked)
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        os.write(writing, repr(kept.known(secret.asked)).encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    assert os.read(reading, 99) == b"()"
    os.close(reading)
