"""The content-addressed store: put in whole, verified byte by byte, taken out."""

import fcntl
import json
import os
from pathlib import Path

import pytest

from tests.support.ondisk import python_tool, write_kit
from vespe.errors import InvalidDocument, Refused
from vespe.files import digests
from vespe.files.digests import File
from vespe.kits import origins, staging, store

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "cases/git/digests.json").read_text(encoding="utf-8")
)


@pytest.fixture
def stored(tmp_path: Path, home: Path) -> str:
    """The digest of a kit `weather` that is in the store."""
    python_tool(write_kit(tmp_path / "src", "weather") / "tool-a", "now", "return 1", tags=["x"])
    return put(tmp_path / "src" / "weather")


def put(source: Path) -> str:
    with store.staging() as directory:
        staged = staging.stage(origins.folder_tree(str(source), source.name), directory)
        with store.locked():
            staging.commit(staged)
    return staged.digest


@pytest.mark.parametrize("row", GOLDEN, ids=lambda row: str(row["name"]))
def test_p6_the_digest_of_frozen_contents_never_changes(
    row: dict[str, object], tmp_path: Path, home: Path
) -> None:
    source = tmp_path / "weather"
    source.mkdir()
    for path, executable, content in row["files"]:  # type: ignore[attr-defined]  # from the table
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_bytes(content.encode("latin-1"))
        (source / path).chmod(0o755 if executable else 0o644)
    assert put(source) == row["digest"]


def test_a_stored_kit_is_whole_and_read_only(stored: str) -> None:
    assert store.differences(stored, "weather") == ()
    kit = Path(store.kit_path(stored, "weather"))
    for directory in (kit.parent, kit, kit / "tool-a"):
        assert directory.stat().st_mode & 0o777 == 0o555
    assert store.stored() == (stored,) and set(store.manifest(stored)) >= {
        "kit_config.json",
        "tool-a/main.py",
    }


def test_what_is_there_already_stays_and_what_was_changed_is_mended(
    stored: str, tmp_path: Path
) -> None:
    script = Path(store.kit_path(stored, "weather")) / "tool-a" / "main.py"
    inode = script.stat().st_ino
    assert put(tmp_path / "src/weather") == stored and script.stat().st_ino == inode
    script.write_text("evil", encoding="utf-8")
    assert put(tmp_path / "src/weather") == stored and store.differences(stored, "weather") == ()


def _files(stored: str) -> list[Path]:
    return [path for path in Path(store.place_of(stored)).rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    "mutation", ["byte", "mode", "add", "delete", "rename", "symlink", "directory"]
)
def test_p6_every_mutation_of_every_file_is_found_and_named(
    mutation: str, tmp_path: Path, stored: str
) -> None:
    for index in range(len(_files(stored))):
        file = sorted(_files(stored))[index]
        os.chmod(file.parent, 0o755)
        if mutation == "byte":
            file.write_bytes(bytes([file.read_bytes()[0] ^ 1]) + file.read_bytes()[1:])
        elif mutation == "mode":
            file.chmod(0o755)
        elif mutation == "add":
            (file.parent / "added.py").touch()
        elif mutation == "rename":
            file.rename(file.parent / "renamed")
        else:
            file.unlink()
        if mutation == "symlink":
            file.symlink_to(tmp_path / "src/weather/tool-a" / file.name)
        elif mutation == "directory":
            file.mkdir()
        found = store.differences(stored, "weather")
        named = {"add": "added.py", "rename": "renamed"}.get(mutation, file.name)
        if not (mutation == "mode" and file.name == "manifest"):
            assert found and any(named in change or file.name in change for change in found), (
                file,
                found,
            )
        assert put(tmp_path / "src/weather") == stored


@pytest.mark.parametrize(
    "digest",
    [
        "",
        "v1:",
        "v1:" + "A" * 64,
        "v2:" + "a" * 64,
        "v1:" + "a" * 64 + "\n",
        "v1:../../etc",
        "../x",
    ],
)
def test_p12_only_a_digest_leads_into_the_store(digest: str) -> None:
    with pytest.raises(InvalidDocument):
        store.place_of(digest)


def test_a_path_in_the_store_tells_its_kit(stored: str) -> None:
    assert store.owner_of(store.kit_path(stored, "weather") + "/tool-a") == (
        stored,
        "weather",
        "tool-a",
    )
    for other in (
        "/",
        "/etc/passwd",
        store.store_dir(),
        store.store_dir() + "/x/y",
        store.place_of(stored),
    ):
        assert store.owner_of(other) is None


def test_p12_taking_out_deletes_the_place_and_never_what_a_link_leads_to(
    stored: str, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").touch()
    place = Path(store.place_of(stored))
    place.rename(place.with_name("aside"))
    place.symlink_to(tmp_path / "mine")
    with store.locked(), pytest.raises(Refused, match="symbolic link"):
        store.remove(stored)
    place.unlink()
    place.with_name("aside").rename(place)
    os.chmod(place / "weather", 0o755)
    (place / "weather" / "link").symlink_to(tmp_path / "mine")
    with store.locked():
        store.remove(stored)
        store.remove(stored)
    assert (
        (tmp_path / "mine" / "file").exists()
        and store.stored() == ()
        and os.listdir(store.store_dir()) == []
    )


def test_p45_what_a_killed_process_left_is_swept_and_what_a_living_one_uses_is_not(
    stored: str,
) -> None:
    left = Path(store.store_dir()) / f".vespe-{'a' * 24}.tmp"
    used = Path(store.store_dir()) / f".vespe-{'b' * 24}.tmp"
    (left / "deep").mkdir(parents=True, mode=0o755)
    used.mkdir()
    (left / "deep").chmod(0o555)
    descriptor = os.open(used, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    with store.staging() as directory:
        assert os.path.isdir(directory)
    os.close(descriptor)
    assert not left.exists() and used.exists() and not os.path.exists(directory)


def test_a_manifest_is_what_the_digest_is_made_of() -> None:
    files = {
        "b": File(executable=True, sha256="0" * 64),
        "a": File(executable=False, sha256="1" * 64),
    }
    assert digests.manifest_of(files) == f"a\0-\0{'1' * 64}\nb\0x\0{'0' * 64}\n".encode()
    assert f"v1:{store.sha256_of(digests.manifest_of(files))}" == digests.digest_of(files)


def test_p2_a_link_in_the_place_of_a_kit_is_a_change_though_its_bytes_are_the_same(
    stored: str, tmp_path: Path
) -> None:
    place = Path(store.place_of(stored))
    place.rename(place.with_name("moved"))
    place.symlink_to("moved")
    assert store.differences(stored, "weather") == (f"{place} is a symbolic link",)


def test_a_manifest_that_is_gone_is_a_change_of_what_was_installed(stored: str) -> None:
    place = Path(store.place_of(stored))
    place.chmod(0o755)
    (place / store.MANIFEST).unlink()
    with pytest.raises(InvalidDocument, match="no longer exists"):
        store.manifest(stored)
    assert "no longer exists" in store.differences(stored, "weather")[0]


def test_what_a_killed_removal_left_is_cleared_where_there_is_something_alone(stored: str) -> None:
    left = Path(store.store_dir()) / f".vespe-{'0' * 24}.tmp"
    left.mkdir()
    store.recover()
    assert not left.exists() and store.stored() == (stored,)
