"""The lock: one order whoever writes it, one step that counts, and what comes with a repository is
not believed.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import gitrepo
from vespe.errors import InvalidDocument, Refused
from vespe.kits import lock as kit_lock
from vespe.kits.lock import LockedKit

DIGEST = "v1:" + "a" * 64


def kit(kit_id: str, **fields: Any) -> LockedKit:
    return LockedKit(
        **{
            "kit_id": kit_id,
            "source": "https://github.com/o/r",
            "digest": DIGEST,
            "commit": "b" * 40,
            "files": ("a", "b"),
            **fields,
        }
    )


@pytest.fixture
def lock(tmp_path: Path, home: Path) -> str:
    (tmp_path / ".vespe").mkdir()
    return kit_lock.project_lock(tmp_path)


def write(lock: str, **entry: Any) -> None:
    known = {"source": "https://example.org/kit", "commit": "b" * 40, "digest": DIGEST}
    Path(lock).write_text(
        json.dumps({"version": 1, "kits": {"rain": known | entry}}), encoding="utf-8"
    )


def test_a_lock_is_the_same_whatever_the_order_of_installing(lock: str) -> None:
    kit_lock.update_lock(lock, lambda kits: kits.update(sun=kit("sun"), rain=kit("rain")))
    one = Path(lock).read_bytes()
    kit_lock.update_lock(lock, lambda kits: kits.clear())
    kit_lock.update_lock(lock, lambda kits: kits.update(rain=kit("rain")))
    kit_lock.update_lock(lock, lambda kits: kits.update(sun=kit("sun")))
    assert Path(lock).read_bytes() == one and one.endswith(b"}\n")


def test_what_is_read_is_what_was_written_and_unknown_keys_stay(lock: str) -> None:
    write(lock, x_note="mine")
    kit_lock.update_lock(
        lock, lambda kits: kits.update(sun=kit("sun", signer="me", ref="v1", subdirectory="a/b"))
    )
    assert kit_lock.read_lock(lock)["sun"] == kit("sun", signer="me", ref="v1", subdirectory="a/b")
    assert json.loads(Path(lock).read_text(encoding="utf-8"))["kits"]["rain"]["x_note"] == "mine"


def test_nothing_is_written_where_nothing_changes_or_the_change_refuses(lock: str) -> None:
    def refuse(kits: dict[str, LockedKit]) -> None:
        kits.clear()
        raise Refused("no")

    write(lock)
    before = Path(lock).stat().st_ino, Path(lock).read_bytes()
    kit_lock.update_lock(lock, lambda kits: None)
    with pytest.raises(Refused):
        kit_lock.update_lock(lock, refuse)
    assert (Path(lock).stat().st_ino, Path(lock).read_bytes()) == before


@pytest.mark.parametrize("marker", ["<<<<<<< HEAD", "=======", ">>>>>>> main", "||||||| base"])
def test_a_merge_conflict_is_reported_as_one_with_its_line(marker: str, lock: str) -> None:
    Path(lock).write_text(f'{{\n  "version": 1,\n{marker}\n  "kits": {{}}\n}}\n', encoding="utf-8")
    with pytest.raises(
        InvalidDocument, match=r"kits\.lock\.json:3: contains an unresolved merge conflict"
    ):
        kit_lock.read_lock(lock)


@pytest.mark.parametrize(
    ("entry", "pointer"),
    [
        ({"source": "ext::sh -c id"}, "/kits/rain/source"),
        ({"source": "https://example.org/kit@v1"}, "/kits/rain/source"),
        ({"source": None}, "/kits/rain/source"),
        ({"ref": "--upload-pack=x"}, "/kits/rain/source"),
        ({"commit": "main"}, "/kits/rain/commit"),
        ({"commit": 1}, "/kits/rain/commit"),
        ({"digest": "v1:../../../etc"}, "/kits/rain/digest"),
        ({"digest": None}, "/kits/rain/digest"),
        ({"subdirectory": "../.."}, "/kits/rain/subdirectory"),
        ({"files": ["../x"]}, "/kits/rain/files"),
        ({"files": "x"}, "/kits/rain/files"),
    ],
)
def test_p8_a_lock_that_came_with_a_repository_is_held_to_the_same_rules(
    entry: dict[str, Any], pointer: str, lock: str
) -> None:
    write(lock, **entry)
    with pytest.raises(InvalidDocument) as wrong:
        kit_lock.read_lock(lock)
    assert wrong.value.pointer == pointer


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"kits": []}',
        '{"kits": {"../x": {}}}',
        '{"kits": {"rain": 1}}',
        '{"version": 2, "kits": {}}',
    ],
)
def test_p51_what_is_no_lock_of_this_version_is_refused_and_stays(text: str, lock: str) -> None:
    Path(lock).write_text(text, encoding="utf-8")
    with pytest.raises(InvalidDocument):
        kit_lock.read_lock(lock)
    with pytest.raises(InvalidDocument):
        kit_lock.update_lock(lock, lambda kits: kits.clear())
    assert Path(lock).read_text(encoding="utf-8") == text


def test_a_lock_that_is_not_there_locks_nothing(lock: str) -> None:
    assert kit_lock.read_lock(lock) == {}


def test_what_known_locks_need_is_in_use_until_they_are_gone(lock: str) -> None:
    kit_lock.update_lock(lock, lambda kits: kits.update(rain=kit("rain")))
    assert kit_lock.known_locks() == (lock,) and kit_lock.digests_in_use() == {DIGEST}
    Path(lock).unlink()
    assert kit_lock.known_locks() == () and kit_lock.digests_in_use() == frozenset()


def test_p45_what_a_killed_process_left_beside_the_lock_goes(lock: str) -> None:
    left = Path(f"{lock}.1f-2e.tmp")
    left.touch()
    kit_lock.update_lock(lock, lambda kits: None)
    assert not left.exists()


def test_merges_of_two_branches_that_install_different_kits_are_clean(
    lock: str, tmp_path: Path
) -> None:
    top = gitrepo.repository(tmp_path)
    kit_lock.update_lock(
        lock, lambda kits: kits.update({name: kit(name) for name in ("aa", "mm", "zz")})
    )
    gitrepo.commit(top)
    for branch, name in (("one", "bb"), ("two", "nn")):
        gitrepo.git(top, "checkout", "--quiet", "-b", branch, "main")
        kit_lock.update_lock(lock, lambda kits, name=name: kits.update({name: kit(name)}))  # type: ignore[misc]  # binds it
        gitrepo.commit(top)
    gitrepo.git(top, "merge", "--quiet", "-m", "merged", "one")
    assert sorted(kit_lock.read_lock(lock)) == ["aa", "bb", "mm", "nn", "zz"]


def test_a_projects_lock_says_whose_it_is() -> None:
    assert kit_lock.project_of(kit_lock.project_lock("/a/project")) == "/a/project"
