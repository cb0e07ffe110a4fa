"""A kit as one file: the same content has the same bytes, and no other form is read."""

import hashlib
import io
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from vespe.errors import InvalidDocument, Refused, StorageError
from vespe.files.entries import DIRECTORY, EXECUTABLE, FILE, TreeEntry
from vespe.kits.archives import archive_tree, pack
from vespe.kits.entry_rules import MAX_ENTRIES, MAX_ENTRY_BYTES, KitTree

CONFIG = b'{"kit_id": "mine"}\n'
FILES = {"kit_config.json": CONFIG, "tool-a/run.sh": b"#!/bin/sh\n", "tool-a/über.txt": b"\0\xff"}


def tree(files: dict[str, bytes], *, mode: int = FILE, **modes: int) -> KitTree:
    entries = [
        TreeEntry(path=path, mode=modes.get(path, mode), size=len(data))
        for path, data in files.items()
    ]

    def read(wanted: Sequence[TreeEntry]) -> Iterator[tuple[TreeEntry, bytes]]:
        return ((entry, files[entry.path]) for entry in wanted)

    return KitTree(kit_id="mine", subdirectory="", entries=tuple(entries), read=read)


def put(at: Path, data: bytes) -> str:
    (at / "mine.kit").write_bytes(data)
    return str(at / "mine.kit")


def test_what_is_packed_comes_back_with_its_bytes_and_executable_bits(tmp_path: Path) -> None:
    given = tree(FILES, **{"tool-a/run.sh": EXECUTABLE})
    back = archive_tree(put(tmp_path, pack(given)))
    assert (
        back.kit_id == "mine"
        and {entry.path: data for entry, data in back.read(back.entries)} == FILES
    )
    assert {entry.path: entry.mode for entry in back.entries} == {
        **dict.fromkeys(FILES, FILE),
        "tool-a/run.sh": EXECUTABLE,
    }


def test_the_order_in_which_files_are_found_changes_no_byte() -> None:
    assert pack(tree(FILES)) == pack(tree(dict(reversed(FILES.items()))))


def test_the_bytes_are_frozen() -> None:
    assert hashlib.sha256(pack(tree(FILES, **{"tool-a/run.sh": EXECUTABLE}))).hexdigest() == GOLDEN


GOLDEN = "10971b5bfa18cc336eeb370900c69f200b0bfcaf506d07296c5120386196941b"


def test_every_unzip_can_read_it(tmp_path: Path) -> None:
    with zipfile.ZipFile(put(tmp_path, pack(tree(FILES)))) as archive:
        assert (
            archive.testzip() is None
            and {name: archive.read(name) for name in archive.namelist()} == FILES
        )


HOSTILE_ENTRIES: list[tuple[str, dict[str, bytes], int]] = [
    ("../escape", {"../escape": b"x"}, FILE),
    ("a/../../b", {"a/../../b": b"x"}, FILE),
    ("/etc/cron.d/x", {"/etc/cron.d/x": b"x"}, FILE),
    ("C:\\x", {"C:\\x": b"x"}, FILE),
    ("a\\..\\b", {"a\\..\\b": b"x"}, FILE),
    (".git/config", {".git/config": b"x"}, FILE),
    ("sub/.GIT/hooks/x", {"sub/.GIT/hooks/x": b"x"}, FILE),
    ("con.txt", {"con.txt": b"x"}, FILE),
    ("dot.", {"dot.": b"x"}, FILE),
    ("line\nbreak", {"line\nbreak": b"x"}, FILE),
    ("‮rtl", {"‮rtl": b"x"}, FILE),
    ("README/readme", {"README": b"x", "readme": b"y"}, FILE),
    ("é/é", {"\u00e9": b"x", "e\u0301": b"y"}, FILE),
    ("file and directory", {"a": b"x", "a/b": b"y"}, FILE),
    ("long name", {"n" * 256: b"x"}, FILE),
    ("deep", {"d/" * 40 + "f": b"x"}, FILE),
    ("empty part", {"a//b": b"x"}, FILE),
    ("trailing slash", {"a/": b""}, FILE),
    ("a symbolic link", {"leak": b"/etc/passwd"}, 0o120000),
    ("a submodule", {"sub": b""}, 0o160000),
    ("a directory", {"dir": b""}, DIRECTORY),
    ("setuid", {"run": b"x"}, 0o104755),
    ("a FIFO", {"fifo": b""}, 0o010644),
    ("a device", {"null": b""}, 0o020666),
    ("group-writable", {"run": b"x"}, 0o100664),
    ("too large a file", {"big": bytes(MAX_ENTRY_BYTES + 1)}, FILE),
]


@pytest.mark.parametrize(
    ("files", "mode"),
    [case[1:] for case in HOSTILE_ENTRIES],
    ids=[case[0] for case in HOSTILE_ENTRIES],
)
def test_p9_one_bad_entry_refuses_the_archive(
    tmp_path: Path, files: dict[str, bytes], mode: int
) -> None:
    data = pack(tree({"kit_config.json": CONFIG, **files}, mode=mode, **{"kit_config.json": FILE}))
    with pytest.raises((InvalidDocument, Refused)):
        archive_tree(put(tmp_path, data))


def zipped(
    change: Callable[[zipfile.ZipFile], None], *, compression: int = zipfile.ZIP_STORED
) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        archive.writestr("kit_config.json", CONFIG)
        change(archive)
    return stream.getvalue()


def patched(data: bytes, old: bytes, new: bytes, *, count: int = -1) -> bytes:
    assert old in data
    return data.replace(old, new, count)


GOOD = pack(tree(FILES))
HOSTILE_FORMS: list[tuple[str, bytes]] = [
    ("empty", b""),
    ("text", b"no archive"),
    ("gzip", b"\x1f\x8b" + bytes(100)),
    ("a cut archive", GOOD[:-30]),
    ("a cut beginning", GOOD[5:]),
    ("bytes behind", GOOD + b"x"),
    ("bytes before", b"#!/bin/sh\n" + GOOD),
    ("a second archive behind", GOOD + GOOD),
    ("a comment", patched(GOOD[:-2], b"PK\5\6", b"PK\5\6") + b"\1\0x"),
    ("bytes between the files and the directory", patched(GOOD, b"PK\1\2", b"xPK\1\2", count=1)),
    ("another content", patched(GOOD, b"#!/bin/sh", b"#!/bin/no")),
    (
        "another name in the local header",
        patched(GOOD, b"tool-a/run.sh", b"tool-a/ran.sh", count=1),
    ),
    (
        "deflated",
        zipped(
            lambda archive: archive.writestr("a", bytes(10_000)), compression=zipfile.ZIP_DEFLATED
        ),
    ),
    (
        "a bomb",
        zipped(
            lambda archive: archive.writestr("a", bytes(50_000_000)),
            compression=zipfile.ZIP_DEFLATED,
        ),
    ),
    ("written by another program", zipped(lambda archive: archive.writestr("a", b"x"))),
    ("encrypted", patched(GOOD, b"\x14\0\0\x08", b"\x14\0\1\x08")),
    ("zip64", patched(GOOD, b"\x14\0\0\x08", b"\x2d\0\0\x08")),
    ("more entries claimed", GOOD[:-14] + b"\4\0\4\0" + GOOD[-10:]),
    ("fewer entries claimed", GOOD[:-14] + b"\2\0\2\0" + GOOD[-10:]),
    ("another disk", GOOD[:-18] + b"\1\0\0\0" + GOOD[-14:]),
    ("a directory far away", GOOD[:-6] + b"\xff\xff\xff\x7f" + GOOD[-2:]),
    ("no kit", pack(tree({"a": b"x"}))),
    ("a kit without an id", pack(tree({"kit_config.json": b"{}"}))),
    ("a configuration that is not JSON", pack(tree({"kit_config.json": b"{"}))),
]


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    "data", [case[1] for case in HOSTILE_FORMS], ids=[case[0] for case in HOSTILE_FORMS]
)
def test_whatever_pack_does_not_write_is_not_read(tmp_path: Path, data: bytes) -> None:
    with pytest.raises((InvalidDocument, Refused)):
        back = archive_tree(put(tmp_path, data))
        list(back.read(back.entries))


def test_every_single_byte_changed_is_noticed_or_is_another_kit(tmp_path: Path) -> None:
    for at in range(len(GOOD)):
        changed = bytearray(GOOD)
        changed[at] ^= 0x01
        with pytest.raises((InvalidDocument, Refused)):
            back = archive_tree(put(tmp_path, bytes(changed)))
            assert (
                pack(back) == bytes(changed)
                and {entry.path: data for entry, data in back.read(back.entries)} == FILES
            )
            raise InvalidDocument(
                "only a name or the executable bit may differ, and is what it says"
            )


def test_a_name_twice_is_refused(tmp_path: Path) -> None:
    data = pack(tree({"kit_config.json": CONFIG, "tool-a/run1": b"x", "tool-a/run2": b"y"}))
    with pytest.raises(InvalidDocument, match="contained twice, or out of order"):
        archive_tree(put(tmp_path, patched(data, b"tool-a/run2", b"tool-a/run1")))


def test_p10_a_number_of_entries_beyond_the_bound_is_refused_before_they_are_read(
    tmp_path: Path,
) -> None:
    data = pack(tree({f"f{number:05}": b"" for number in range(MAX_ENTRIES + 1)}))
    with pytest.raises(Refused, match="more than 10000"):
        archive_tree(put(tmp_path, data))


def test_p10_an_archive_larger_than_any_kit_is_not_read(tmp_path: Path) -> None:
    with open(tmp_path / "mine.kit", "wb") as stream:
        stream.truncate(1 << 40)
    with pytest.raises(Refused, match="more than any kit"):
        archive_tree(str(tmp_path / "mine.kit"))


def test_what_is_no_file_never_blocks(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.kit")
    for name in ("fifo.kit", "."):
        with pytest.raises(InvalidDocument, match="not a regular file"):
            archive_tree(str(tmp_path / name))
    with pytest.raises(StorageError):
        archive_tree(str(tmp_path / "missing.kit"))


def test_the_clock_the_umask_and_the_locale_change_no_byte(tmp_path: Path) -> None:
    code = "import sys; from tests.kits.test_archives import GOOD; sys.stdout.buffer.write(GOOD)"
    for number, environment in enumerate(
        (
            {"TZ": "Asia/Tokyo", "LC_ALL": "C"},
            {"TZ": "UTC", "PYTHONHASHSEED": "7", "PYTHONUTF8": "0"},
        )
    ):
        umask = 0o077 * number
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            check=True,
            umask=umask,
        )
        assert done.stdout == GOOD
