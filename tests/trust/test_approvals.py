"""The store of approvals: private files outside the project, found by content or by the identity of
a place.
"""

import errno
import json
import os
import shutil
import stat
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

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


def at(path: str, inode: int = 1) -> Place:
    return Place(path=path, inode=inode, device=1)


def keep(path: str, *texts: str, inode: int = 1, **extra: Any) -> Approval:
    return approvals.store_content(
        at(path, inode), tree(*texts), **{"secrets": (), "scopes": (), **extra}
    )


def found(path: str, *texts: str, inode: int = 1) -> Approval | None:
    return approvals.find_content(tree(*texts).digest or "", at(path, inode))


def place(root: Path) -> Place:
    found = place_of(str(root))
    assert found
    return found


def test_an_approval_of_content_is_found_by_its_digest_and_its_place_together(home: Path) -> None:
    kept = keep("/some/where", "a", "b", secrets=("KEY",), scopes=("project_tools", "kit"))
    assert kept.digest == tree("a", "b").digest
    assert found("/some/where", "a", "b") == kept
    assert (kept.kind, kept.path, kept.secrets, kept.scopes) == (
        "content",
        "/some/where",
        ("KEY",),
        ("project_tools", "kit"),
    )
    assert kept.files == tree("a", "b").files
    assert (
        found("/some/where", "a")
        is found("/some/where", "a", "b", inode=2)
        is found("/else/where", "a", "b")
        is None
    )


def test_two_places_keep_an_approval_each_of_the_same_bytes(home: Path) -> None:
    keep("/p", "a")
    keep("/q", "a", inode=2)
    approvals.forget("/q", [at("/q", 2)])
    assert found("/p", "a") and not found("/q", "a", inode=2)


def test_an_approval_of_an_earlier_version_grants_nothing_but_a_kits(home: Path) -> None:
    keep("/p", "a")
    approvals.store_kit("v1:00", "somewhere")
    for record in store(home).glob("*.json"):
        record.write_text(
            record.read_text(encoding="utf-8").replace('"version": 2', '"version": 1'),
            encoding="utf-8",
        )
    assert (
        found("/p", "a") is None and approvals.is_outdated("/p") and not approvals.is_outdated("/q")
    )
    assert approvals.find_kit("v1:00")


def test_the_store_is_private_to_its_user_and_made_only_by_an_approval(home: Path) -> None:
    assert (
        found("/p", "a"),
        approvals.any_content(),
        approvals.nearest_content(at("/p"), tree("a")),
    ) == (None, False, None)
    assert approvals.forget("/p", [at("/p")]) == ()
    assert list(home.iterdir()) == []
    keep("/p", "a")
    assert stat.S_IMODE(store(home).stat().st_mode) == 0o700
    assert [stat.S_IMODE(record.stat().st_mode) for record in store(home).iterdir()] == [0o600]


def test_a_store_that_others_may_enter_is_closed_to_them(home: Path) -> None:
    store(home).mkdir(parents=True, mode=0o755)
    keep("/p", "a")
    assert stat.S_IMODE(store(home).stat().st_mode) == 0o700


def test_p2_a_record_that_git_could_have_carried_there_grants_nothing(home: Path) -> None:
    keep("/p", "a")
    next(store(home).iterdir()).chmod(0o644)
    assert found("/p", "a") is None


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"version": 2}',
        '{"version": 1, "kind": "content"}',
        '{"version": 1, "kind": "content", "files": 3}',
    ],
)
def test_a_damaged_record_grants_nothing(home: Path, damage: str) -> None:
    keep("/p", "a")
    next(store(home).iterdir()).write_text(damage, encoding="utf-8")
    assert found("/p", "a") is None
    assert approvals.nearest_content(at("/p"), tree("a")) is None


def test_a_record_under_another_digests_name_grants_nothing(home: Path) -> None:
    keep("/p", "a")
    record = next(store(home).iterdir())
    record.rename(record.with_name(record.name.replace(record.stem[-64:], "0" * 64)))
    assert approvals.find_content(f"v1:{'0' * 64}", at("/p")) is None


def test_a_tree_with_odd_paths_cannot_be_stored(home: Path) -> None:
    with pytest.raises(ValueError, match="odd"):
        approvals.store_content(at("/p"), Tree(odd={"a": "a FIFO"}), secrets=(), scopes=())


def test_a_place_is_found_under_any_name_where_the_system_tells_its_generation(
    home: Path, tmp_path: Path
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    approvals.store_place("place", place(here))
    here.rename(tmp_path / "there")
    moved = place(tmp_path / "there")
    assert bool(approvals.find_place("place", moved)) is moved.strong
    assert approvals.find_place("tool", moved) is None


def test_a_place_that_is_deleted_and_made_again_is_another_place(
    home: Path, tmp_path: Path
) -> None:
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
        keep("/q" if texts == ("c",) else "/p", *texts, inode=2 if texts == ("c",) else 1)
    nearest = approvals.nearest_content(at("/p"), tree("c", "d"))
    assert nearest
    assert nearest.files == tree("b").files


def test_the_nearest_approval_elsewhere_shares_at_least_half_of_its_files(home: Path) -> None:
    keep("/q", "a", "b", inode=2)
    keep("/r", "a", "b", "c", "d", inode=3)
    nearest = approvals.nearest_content(at("/p"), tree("a", "e"))
    assert nearest
    assert nearest.path == "/q"
    assert approvals.nearest_content(at("/p"), tree("e")) is None


def test_forgetting_takes_all_that_was_given_here_but_nothing_of_a_neighbour(
    home: Path,
) -> None:
    weak = Place(path="/p/.vespe", inode=1, device=1)
    inner = Place(path="/p/.vespe/tools/tool-a", inode=2, device=1)
    elsewhere = Place(path="/moved/.vespe", inode=3, device=1, generation=7)
    neighbour = Place(path="/p/sub/.vespe", inode=4, device=1)
    keep("/q", "a", inode=20)
    keep("/p", "b", inode=21)
    keep("/p2", "c", inode=22)
    for kind, one in (("place", weak), ("tool", inner), ("place", elsewhere), ("place", neighbour)):
        approvals.store_place(kind, one)
    gone = approvals.forget("/p", [elsewhere, at("/r", inode=20)])
    assert {(a.kind, a.path) for a in gone} == {
        ("content", "/q"),
        ("content", "/p"),
        ("place", "/p/.vespe"),
        ("tool", inner.path),
        ("place", "/moved/.vespe"),
    }
    assert found("/p", "b", inode=21) is None
    assert found("/p2", "c", inode=22)
    assert approvals.find_place("place", neighbour)


def test_a_path_that_is_not_utf8_can_be_kept(home: Path) -> None:
    assert keep("/p\udcff", "a").path == "/p\ufffd"


def test_p47_what_the_system_refuses_is_a_sentence(home: Path) -> None:
    (home / "state").write_text("a file in the way", encoding="utf-8")
    with pytest.raises(StorageError, match="trust"):
        keep("/p", "a")
    assert found("/p", "a") is None
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
    assert all(
        json.loads(record.read_text(encoding="utf-8"))["version"] == approvals.VERSION
        for record in store(home).iterdir()
    )


def test_an_approval_of_ten_thousand_tools_is_kept_and_read(home: Path) -> None:
    files = {
        f"tool-{n}/{name}": File(executable=False, sha256=f"{n:064x}")
        for n in range(10_000)
        for name in ("config.json", "main.py")
    }
    kept: Approval = approvals.store_content(at("/p"), Tree(files=files), secrets=(), scopes=())
    again = approvals.find_content(digests.digest_of(files), at("/p"))
    assert again
    assert again.files == kept.files == files


def test_p47_a_store_that_cannot_be_read_is_a_sentence_and_no_approval(home: Path) -> None:
    kept = keep("/p", "a")
    store(home).chmod(0)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        with pytest.raises(StorageError, match="cannot read"):
            found("/p", "a")
        with pytest.raises(StorageError, match="cannot read"):
            approvals.any_content()
    finally:
        os.seteuid(user)
        store(home).chmod(0o700)
    assert found("/p", "a") == kept


def test_p45_what_a_killed_writer_left_is_gone_after_the_next_approval(home: Path) -> None:
    keep("/p", "a")
    (store(home) / "content-00.json.1f-2f.tmp").write_text("{", encoding="utf-8")
    keep("/p", "b")
    assert [record.suffix for record in store(home).iterdir()] == [".json", ".json"]
    assert found("/p", "a")


def test_the_texts_of_an_approval_are_told_for_its_own_bytes_alone_and_go_with_it(
    home: Path,
) -> None:
    first = approvals.store_content(
        at("/p"), tree("a"), secrets=(), scopes=(), texts={"tool/a": "one"}
    )
    assert approvals.texts_of(first) == {"tool/a": "one"}
    second = approvals.store_content(
        at("/p"), tree("b"), secrets=(), scopes=(), texts={"tool/b": "two"}
    )
    assert approvals.texts_of(first) == {} and approvals.texts_of(second) == {"tool/b": "two"}
    again = approvals.store_content(at("/p"), tree("b"), secrets=(), scopes=("kit",))
    assert approvals.texts_of(again) == {"tool/b": "two"}
    approvals.forget("/p", [at("/p")])
    assert list(store(home).iterdir()) == []


def test_an_approval_is_stored_though_its_directory_cannot_be_listed_to_sweep_it(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> list[str]:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as disk:
        disk.setattr(os, "listdir", broken)
        approvals.store_place("place", place(tmp_path))
    assert approvals.find_place("place", place(tmp_path)) is not None
