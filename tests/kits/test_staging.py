"""Writing a kit out: new regular files alone, flushed, with the digest of what was written."""

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.support.systems import refusing
from vespe import defaults
from vespe.errors import InvalidDocument, StorageError
from vespe.files import staging as files_staging
from vespe.files.entries import EXECUTABLE, FILE, TreeEntry
from vespe.kits import staging
from vespe.kits.entry_rules import KitTree


def tree(contents: dict[str, bytes], *, lie: int = 0) -> KitTree:
    entries = tuple(
        TreeEntry(path=p, mode=EXECUTABLE if p.endswith("sh") else FILE, size=len(c) + lie)
        for p, c in sorted(contents.items())
    )

    def read(wanted: Sequence[TreeEntry]) -> Iterator[tuple[TreeEntry, bytes]]:
        yield from ((entry, contents[entry.path]) for entry in wanted)

    return KitTree(kit_id="weather", subdirectory="", entries=entries, read=read)


@pytest.mark.parametrize("many", [0, 100])
def test_files_have_their_bytes_and_modes_whatever_their_number(
    many: int, tmp_path: Path, home: Path
) -> None:
    contents = {"kit_config.json": b"{}", "tool-a/run.sh": b"#!", "tool-a/deep/er/x": b"\r\n"} | {
        f"n{n}": b"x" for n in range(many)
    }
    staged = staging.stage(tree(contents), str(tmp_path))
    root = Path(staged.path)
    assert {
        str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()
    } == contents
    assert (
        stat.S_IMODE((root / "tool-a/run.sh").stat().st_mode) == 0o755
        and stat.S_IMODE((root / "n0").stat().st_mode if many else 0o644) == 0o644
    )
    assert staged.files["tool-a/run.sh"].executable and staged.digest.startswith("v1:")
    files_staging.delete(staged.place)


def test_a_reader_that_lies_about_sizes_is_caught(tmp_path: Path) -> None:
    with pytest.raises(InvalidDocument, match="were listed"):
        staging.stage(tree({"a": b"x"}, lie=1), str(tmp_path))


def test_p9_nothing_is_written_over_or_through_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "weather").symlink_to("/etc")
    with pytest.raises(StorageError):
        staging.stage(tree({"a": b"x"}), str(tmp_path))


def test_p47_a_full_disk_is_a_sentence_with_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(StorageError, match="No space left"):
        staging.stage(tree({"a": b"x"}), str(tmp_path))


STAGING = """
import os, sys
from vespe.errors import StorageError
from vespe.files.entries import FILE, TreeEntry
from vespe.kits import staging, store
from vespe.kits.entry_rules import KitTree

entries = tuple(TreeEntry(path=f"n{n}", mode=FILE, size=1) for n in range(100))
tree = KitTree(
    kit_id="weather",
    subdirectory="",
    entries=entries,
    read=lambda wanted: ((entry, b"x") for entry in wanted),
)
staged = staging.stage(tree, sys.argv[1])
for _ in range(2):
    try:
        staging.commit(staged)
    except StorageError as error:
        print(error)
print(os.path.lexists(store.place_of(staged.digest)))
"""


def test_p45_what_the_disk_does_not_confirm_never_comes_into_the_store(
    tmp_path: Path, home: Path
) -> None:
    broken = refusing({"syncfs": errno.EIO}, sys.executable, "-c", STAGING, str(tmp_path))
    done = subprocess.run(broken, capture_output=True, encoding="utf-8", check=True)
    said = f"cannot write {tmp_path}/weather: Input/output error"
    assert done.stdout.splitlines() == [said, said, "False"]
    files_staging.delete(str(tmp_path / "weather"))


def test_where_no_file_system_can_be_flushed_whole_every_file_is(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[int] = []
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(os, "fsync", lambda descriptor: flushed.append(os.fstat(descriptor).st_ino))
    staged = staging.stage(tree({f"d{n}/n": b"x" for n in range(100)}), str(tmp_path))
    assert staged.flush is None
    places = [Path(staged.place), *Path(staged.place).rglob("*")]
    assert set(flushed) == {place.stat().st_ino for place in places} and len(places) == 203
    files_staging.delete(staged.place)


def test_the_bytes_of_every_tool_s_config_are_kept_as_they_were_hashed(
    tmp_path: Path, home: Path
) -> None:
    large = b"x" * (defaults.MAX_FILE_BYTES + 1)
    contents = {
        "tool-a/config.json": b"{}",
        "tool-b/config.json": large,
        "config.json": b"1",
        "tool-a/deep/config.json": b"2",
    }
    staged = staging.stage(tree(contents), str(tmp_path))
    assert staged.configs == {"tool-a": b"{}"}
    files_staging.delete(staged.place)
