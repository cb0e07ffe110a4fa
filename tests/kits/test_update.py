"""Moving kits to another version as a use case."""

from pathlib import Path

import pytest

from tests.support import gitrepo
from vespe.errors import KitNotFound, Refused
from vespe.kits import install, sources, store
from vespe.kits import lock as kit_lock
from vespe.kits import update as kit_update
from vespe.kits.fetch import FetchRequest


@pytest.fixture
def lock(tmp_path: Path, home: Path) -> str:
    source = gitrepo.published(tmp_path / "source", "rain", "sun")
    (tmp_path / "project/.vespe").mkdir(parents=True)
    made = kit_lock.project_lock(tmp_path / "project")
    with install.prepare(
        [FetchRequest(source=sources.parse_source(str(source)), base="/")]
    ) as shown:
        install.install(shown, made)
    (source / "rain/tool-rain/main.py").write_text("new", encoding="utf-8")
    gitrepo.commit(source)
    return made


def test_those_that_are_named_or_all_that_can_move_are_chosen(lock: str) -> None:
    kits = kit_lock.read_lock(lock)
    assert sorted(kit_update.choose(kits, (), ref=None)) == ["rain", "sun"]
    assert kit_update.choose(kits, ("sun",), ref="v1")["sun"].ref == "v1"
    with pytest.raises(KitNotFound, match="no kit in the lock is called 'snow'"):
        kit_update.choose(kits, ("snow",), ref=None)


def test_a_lock_that_changed_while_somebody_read_is_not_overwritten(lock: str) -> None:
    with kit_update.prepare(kit_lock.read_lock(lock), lock) as update:
        assert [change.kit_id for change in update.changes] == ["rain"] and len(update.moved) == 2
        kit_lock.update_lock(lock, lambda kits: kits.__delitem__("rain"))
        with pytest.raises(Refused, match="changed in the meantime"):
            kit_update.apply(update, lock)
    assert sorted(kit_lock.read_lock(lock)) == ["sun"]


def test_where_the_old_version_is_not_here_all_of_the_new_one_is_shown_with_no_verdict(
    lock: str,
) -> None:
    with store.locked():
        store.remove(kit_lock.read_lock(lock)["rain"].digest)
    with kit_update.prepare(kit_lock.read_lock(lock), lock) as update:
        (change,) = update.changes
        assert (
            change.verdict == "unknown"
            and "cannot be compared" in change.tools[0].changes[0].message
        )
        assert any("+new" in diff for diff in change.tools[0].diffs) and all(
            old is None for old, _ in change.fields.values()
        )
        kit_update.apply(update, lock)
    assert not store.differences(kit_lock.read_lock(lock)["rain"].digest, "rain")
