"""The store of approvals: private files outside the project, found by content or by the identity of a place."""

import json
import os
import shutil
import stat
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from vespe.errors import StorageError
from vespe.files import digests
from vespe.files.digests import File, Tree
from vespe.files.identity import Place, place_of
from vespe.trust import approvals
from vespe.trust.approvals import Approval


def tree(*texts: str) -> Tree:
    return Tree(files={f"tool/{text}": File(executable=False, sha256=text * 64) for text in texts})


def store(home: Path) -> Path:
    return home / "state" / "vespe" / "trust"


def place(root: Path) -> Place:
    found = place_of(str(root))
    assert found
    return found


def test_an_approval_of_content_is_found_by_its_digest_alone(home: Path) -> None:
    kept = approvals.store_content("/some/where", tree("a", "b"), secrets=("KEY",))
    assert kept.digest == tree("a", "b").digest
    assert approvals.find_content(kept.digest) == kept
    assert (kept.kind, kept.path, kept.secrets, kept.files) == ("content", "/some/where", ("KEY",), tree("a", "b").files)
    assert approvals.find_content(tree("a").digest or "") is None


def test_the_store_is_private_to_its_user_and_made_only_by_an_approval(home: Path) -> None:
    assert (approvals.find_content("v1:00"), approvals.any_content(), approvals.nearest_content("/p", tree("a"))) == (None, False, None)
    assert approvals.forget("/p", "v1:00", ()) == ()
    assert list(home.iterdir()) == []
    approvals.store_content("/p", tree("a"), secrets=())
    assert stat.S_IMODE(store(home).stat().st_mode) == 0o700
    assert [stat.S_IMODE(record.stat().st_mode) for record in store(home).iterdir()] == [0o600]


def test_a_store_that_others_may_enter_is_closed_to_them(home: Path) -> None:
    store(home).mkdir(parents=True, mode=0o755)
    approvals.store_content("/p", tree("a"), secrets=())
    assert stat.S_IMODE(store(home).stat().st_mode) == 0o700


def test_p2_a_record_that_git_could_have_carried_there_grants_nothing(home: Path) -> None:
    kept = approvals.store_content("/p", tree("a"), secrets=())
    next(store(home).iterdir()).chmod(0o644)
    assert approvals.find_content(kept.digest) is None


@pytest.mark.parametrize(
    "damage",
    ["", "{", "[]", "{}", '{"version": 2}', '{"version": 1, "kind": "content"}', '{"version": 1, "kind": "content", "files": 3}'],
)
def test_a_damaged_record_grants_nothing(home: Path, damage: str) -> None:
    kept = approvals.store_content("/p", tree("a"), secrets=())
    next(store(home).iterdir()).write_text(damage, encoding="utf-8")
    assert approvals.find_content(kept.digest) is None
    assert approvals.nearest_content("/p", tree("a")) is None


def test_a_record_under_another_digests_name_grants_nothing(home: Path) -> None:
    approvals.store_content("/p", tree("a"), secrets=())
    record = next(store(home).iterdir())
    record.rename(record.with_name(f"content-{'0' * 64}.json"))
    assert approvals.find_content(f"v1:{'0' * 64}") is None


def test_a_tree_with_odd_paths_cannot_be_stored(home: Path) -> None:
    with pytest.raises(ValueError, match="odd"):
        approvals.store_content("/p", Tree(odd={"a": "a FIFO"}), secrets=())


def test_a_place_is_found_under_any_name_where_the_system_tells_its_generation(home: Path, tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    approvals.store_place("place", place(here))
    here.rename(tmp_path / "there")
    moved = place(tmp_path / "there")
    assert bool(approvals.find_place("place", moved)) is moved.strong
    assert approvals.find_place("tool", moved) is None


def test_a_place_that_is_deleted_and_made_again_is_another_place(home: Path, tmp_path: Path) -> None:
    here = tmp_path / "here"
    for _ in range(20):
        here.mkdir()
        kept = place(here)
        approvals.store_place("place", kept)
        assert approvals.find_place("place", kept)
        here.rmdir()
        here.mkdir()
        assert approvals.find_place("place", place(here)) is None or not kept.strong
        shutil.rmtree(here)


def test_a_weak_place_needs_its_device_and_its_path_too(home: Path) -> None:
    weak = Place(path="/p/.vespe", inode=12, device=3)
    approvals.store_place("place", weak)
    assert approvals.find_place("place", weak)
    assert approvals.find_place("place", replace(weak, path="/q/.vespe")) is None
    assert approvals.find_place("place", replace(weak, device=4)) is None


def test_the_time_of_birth_makes_a_place_strong(home: Path) -> None:
    born = Place(path="/p/.vespe", inode=12, device=3, birth_ns=10**18)
    approvals.store_place("place", born)
    assert approvals.find_place("place", replace(born, path="/q/.vespe"))
    assert approvals.find_place("place", replace(born, birth_ns=10**18 + 1)) is None


def test_the_nearest_approval_is_the_last_one_given_at_the_path(home: Path) -> None:
    for texts in (("a",), ("b",), ("c",)):
        approvals.store_content("/p" if texts != ("c",) else "/q", tree(*texts), secrets=())
    nearest = approvals.nearest_content("/p", tree("c", "d"))
    assert nearest
    assert nearest.files == tree("b").files


def test_the_nearest_approval_elsewhere_shares_at_least_half_of_its_files(home: Path) -> None:
    approvals.store_content("/q", tree("a", "b"), secrets=())
    approvals.store_content("/r", tree("a", "b", "c", "d"), secrets=())
    nearest = approvals.nearest_content("/p", tree("a", "e"))
    assert nearest
    assert nearest.path == "/q"
    assert approvals.nearest_content("/p", tree("e")) is None


def test_forgetting_takes_the_bytes_the_places_and_all_that_was_given_here_but_nothing_of_a_neighbour(home: Path) -> None:
    weak = Place(path="/p/.vespe", inode=1, device=1)
    inner = Place(path="/p/.vespe/tools/tool-a", inode=2, device=1)
    elsewhere = Place(path="/moved/.vespe", inode=3, device=1, generation=7)
    neighbour = Place(path="/p/sub/.vespe", inode=4, device=1)
    kept = approvals.store_content("/q", tree("a"), secrets=())
    old = approvals.store_content("/p", tree("b"), secrets=())
    other = approvals.store_content("/p2", tree("c"), secrets=())
    for kind, one in (("place", weak), ("tool", inner), ("place", elsewhere), ("place", neighbour)):
        approvals.store_place(kind, one)
    gone = approvals.forget("/p", kept.digest, [elsewhere])
    assert {(a.kind, a.path) for a in gone} == {
        ("content", "/q"), ("content", "/p"), ("place", "/p/.vespe"), ("tool", inner.path), ("place", "/moved/.vespe"),
    }  # fmt: skip
    assert approvals.find_content(old.digest) is None
    assert approvals.find_content(other.digest)
    assert approvals.find_place("place", neighbour)


def test_a_path_that_is_not_utf8_can_be_kept(home: Path) -> None:
    assert approvals.store_content("/p\udcff", tree("a"), secrets=()).path == "/p\ufffd"


def test_p47_what_the_system_refuses_is_a_sentence(home: Path) -> None:
    (home / "state").write_text("a file in the way", encoding="utf-8")
    with pytest.raises(StorageError, match="trust"):
        approvals.store_content("/p", tree("a"), secrets=())
    assert approvals.find_content(tree("a").digest or "") is None
    assert approvals.any_content() is False


def test_p46_many_writers_at_once_lose_no_approval(home: Path) -> None:
    def write(start: int) -> None:
        for number in range(start, start + 10):
            approvals.store_place("place", Place(path=f"/{number}", inode=number, device=1))

    threads = [threading.Thread(target=write, args=(start,)) for start in range(0, 80, 10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list(store(home).iterdir())) == 80
    assert all(json.loads(record.read_text(encoding="utf-8"))["version"] == 1 for record in store(home).iterdir())


def test_an_approval_of_ten_thousand_tools_is_kept_and_read(home: Path) -> None:
    files = {f"tool-{n}/{name}": File(executable=False, sha256=f"{n:064x}") for n in range(10_000) for name in ("config.json", "main.py")}
    kept: Approval = approvals.store_content("/p", Tree(files=files), secrets=())
    found = approvals.find_content(digests.digest_of(files))
    assert found
    assert found.files == kept.files == files


def test_p47_a_store_that_cannot_be_read_is_a_sentence_and_no_approval(home: Path) -> None:
    kept = approvals.store_content("/p", tree("a"), secrets=())
    store(home).chmod(0)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        with pytest.raises(StorageError, match="cannot read"):
            approvals.find_content(kept.digest)
        with pytest.raises(StorageError, match="cannot read"):
            approvals.any_content()
    finally:
        os.seteuid(user)
        store(home).chmod(0o700)
    assert approvals.find_content(kept.digest) == kept


def test_p45_what_a_killed_writer_left_is_gone_after_the_next_approval(home: Path) -> None:
    approvals.store_content("/p", tree("a"), secrets=())
    (store(home) / "content-00.json.1f-2f.tmp").write_text("{", encoding="utf-8")
    kept = approvals.store_content("/p", tree("b"), secrets=())
    assert [record.suffix for record in store(home).iterdir()] == [".json", ".json"]
    assert approvals.find_content(kept.digest)
