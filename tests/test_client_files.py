"""A file of another program: changed in one step, through links, with its mode, and with a backup."""

import os
import threading
from pathlib import Path

import pytest

from vespe import client_files
from vespe.errors import InvalidDocument, StorageError


def test_a_change_keeps_what_stood_there_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text("old", encoding="utf-8")
    done = client_files.change(str(path), lambda text: text + "+new")
    assert path.read_text(encoding="utf-8") == "old+new"
    assert done.changed and done.backup and Path(done.backup).read_text(encoding="utf-8") == "old"


def test_a_file_that_is_not_there_is_made_with_its_directories_and_without_a_backup(tmp_path: Path) -> None:
    done = client_files.change(str(tmp_path / "a/b/c.json"), lambda text: f"[{text}]")
    assert (tmp_path / "a/b/c.json").read_text(encoding="utf-8") == "[]" and done.backup is None
    assert os.listdir(tmp_path / "a/b") == ["c.json"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o400])
def test_the_mode_of_the_file_stays_and_its_backup_is_no_more_readable(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "c.json"
    path.write_text("old", encoding="utf-8")
    path.chmod(mode)
    done = client_files.change(str(path), lambda _: "new")
    assert {oct(Path(name).stat().st_mode & 0o777) for name in (path, str(done.backup))} == {oct(mode)}


def test_a_link_stays_a_link_and_the_file_behind_it_changes(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    real, link = tmp_path / "dotfiles/real.json", tmp_path / "c.json"
    real.write_text("old", encoding="utf-8")
    link.symlink_to("dotfiles/real.json")
    client_files.change(str(link), lambda _: "new")
    assert link.is_symlink() and real.read_text(encoding="utf-8") == "new"


def test_nothing_is_written_where_nothing_changes_or_the_edit_fails(tmp_path: Path) -> None:
    def fails(_: str) -> str:
        raise InvalidDocument("is odd")

    assert not client_files.change(str(tmp_path / "x/c.json"), lambda text: text).changed
    with pytest.raises(InvalidDocument):
        client_files.change(str(tmp_path / "x/c.json"), fails)
    assert os.listdir(tmp_path) == []


def test_line_ends_and_a_byte_order_mark_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb\r\n")
    client_files.change(str(path), lambda text: text + "c\r\n")
    assert path.read_bytes() == b"\xef\xbb\xbfa\r\nb\r\nc\r\n"


def test_two_that_change_it_at_once_lose_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "c.json")
    threads = [threading.Thread(target=client_files.change, args=(path, lambda text, n=n: text + f"{n};")) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(client_files.read(path).split(";")) == sorted(["", *map(str, range(16))])


def test_an_editor_that_saves_in_between_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text("old", encoding="utf-8")

    def edit(text: str) -> str:
        if text == "old":
            path.write_text("saved", encoding="utf-8")
        return text + "+ours"

    client_files.change(str(path), edit)
    assert path.read_text(encoding="utf-8") == "saved+ours"


def test_a_program_that_never_stops_writing_ends_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text("0", encoding="utf-8")

    def edit(text: str) -> str:
        path.write_text(f"{text}.", encoding="utf-8")
        return text + "+ours"

    with pytest.raises(StorageError, match="keeps writing"):
        client_files.change(str(path), edit)


def test_what_is_no_text_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "latin").write_bytes(b"a\nb\xff")
    for name in ("pipe", "latin"):
        with pytest.raises(InvalidDocument):
            client_files.read(str(tmp_path / name))
    with pytest.raises(StorageError):
        client_files.change(str(tmp_path / "latin/c.json"), lambda _: "x")
