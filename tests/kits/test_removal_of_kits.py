"""Taking kits out, and what stays where nobody knows what needs it."""

from pathlib import Path

import pytest

from vespe.errors import KitNotFound
from vespe.kits import lock as kit_lock
from vespe.kits import removal, store
from vespe.kits.lock import LockedKit

DIGEST = "v1:" + "a" * 64


@pytest.fixture
def lock(tmp_path: Path, home: Path) -> str:
    (tmp_path / ".vespe").mkdir()
    made = kit_lock.project_lock(tmp_path)
    kit_lock.update_lock(
        made, lambda kits: kits.update(rain=LockedKit(kit_id="rain", source="/kit", digest=DIGEST))
    )
    Path(store.place_of(DIGEST)).mkdir(parents=True)
    return made


def test_a_kit_whose_bytes_are_not_here_can_still_be_removed(lock: str) -> None:
    Path(store.place_of(DIGEST)).rmdir()
    assert [kit.kit_id for kit in removal.remove(["rain"], lock)] == [
        "rain"
    ] and kit_lock.read_lock(lock) == {}


def test_nothing_is_tidied_that_a_lock_needs_or_where_a_lock_cannot_be_read(lock: str) -> None:
    with store.locked():
        removal.tidy([DIGEST])
        assert store.stored() == (DIGEST,)
        Path(lock).write_text("<<<<<<< HEAD", encoding="utf-8")
        removal.tidy([DIGEST])
        assert store.stored() == (DIGEST,)
        Path(lock).unlink()
        removal.tidy([DIGEST])
    assert store.stored() == ()


def test_an_unknown_kit_is_not_found(lock: str) -> None:
    with pytest.raises(KitNotFound):
        removal.remove(["snow"], lock)
