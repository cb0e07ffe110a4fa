"""A file of another program: changed in one step, through links, with its mode, and with a
backup.
"""

import os
import threading
from pathlib import Path

import pytest

from vespe.errors import InvalidDocument, StorageError
from vespe.features.mcp.clients import files


def test_a_change_keeps_what_stood_there_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text("old", encoding="utf-8")
    done = files.change(str(path), lambda text: text + "+new")
    assert path.read_text(encoding="utf-8") == "old+new"
    assert done.changed and done.backup and Path(done.backup).read_text(encoding="utf-8") == "old"


def test_a_file_that_is_not_there_is_made_with_its_directories_and_without_a_backup(
    tmp_path: Path,
) -> None:
    done = files.change(str(tmp_path / "a/b/c.json"), lambda text: f"[{text}]")
    assert (tmp_path / "a/b/c.json").read_text(encoding="utf-8") == "[]" and done.backup is None
    assert os.listdir(tmp_path / "a/b") == ["c.json"]


def test_a_file_that_a_change_made_of_nothing_goes_when_it_is_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    files.change(str(path), lambda _: "new")
    done = files.change(
        str(path),
        lambda text: text,
        made_of=lambda text, origin: (text, origin) == ("new", ""),
        back=True,
    )
    assert done.changed and done.restored and os.listdir(tmp_path) == []


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o400])
def test_the_mode_of_the_file_stays_and_its_backup_is_no_more_readable(
    tmp_path: Path, mode: int
) -> None:
    path = tmp_path / "c.json"
    path.write_text("old", encoding="utf-8")
    path.chmod(mode)
    done = files.change(str(path), lambda _: "new")
    assert {oct(Path(name).stat().st_mode & 0o777) for name in (path, str(done.backup))} == {
        oct(mode)
    }


def test_a_link_stays_a_link_and_the_file_behind_it_changes(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    real, link = tmp_path / "dotfiles/real.json", tmp_path / "c.json"
    real.write_text("old", encoding="utf-8")
    link.symlink_to("dotfiles/real.json")
    files.change(str(link), lambda _: "new")
    assert link.is_symlink() and real.read_text(encoding="utf-8") == "new"


def test_nothing_is_written_where_nothing_changes_or_the_edit_fails(tmp_path: Path) -> None:
    def fails(_: str) -> str:
        raise InvalidDocument("is odd")

    assert not files.change(str(tmp_path / "x/c.json"), lambda text: text).changed
    with pytest.raises(InvalidDocument):
        files.change(str(tmp_path / "x/c.json"), fails)
    assert os.listdir(tmp_path) == []


def test_line_ends_and_a_byte_order_mark_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb\r\n")
    files.change(str(path), lambda text: text + "c\r\n")
    assert path.read_bytes() == b"\xef\xbb\xbfa\r\nb\r\nc\r\n"


def test_two_that_change_it_at_once_lose_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "c.json")
    threads = [
        threading.Thread(target=files.change, args=(path, lambda text, n=n: text + f"{n};"))
        for n in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(files.read(path).split(";")) == sorted(["", *map(str, range(16))])


def test_an_editor_that_saves_in_between_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text("old", encoding="utf-8")

    def edit(text: str) -> str:
        if text == "old":
            path.write_text("saved", encoding="utf-8")
        return text + "+ours"

    files.change(str(path), edit)
    assert path.read_text(encoding="utf-8") == "saved+ours"


def test_a_program_that_never_stops_writing_ends_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text("0", encoding="utf-8")

    def edit(text: str) -> str:
        path.write_text(f"{text}.", encoding="utf-8")
        return text + "+ours"

    with pytest.raises(StorageError, match="keeps writing"):
        files.change(str(path), edit)


def test_what_is_no_text_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "latin").write_bytes(b"a\nb\xff")
    for name in ("pipe", "latin"):
        with pytest.raises(InvalidDocument):
            files.read(str(tmp_path / name))
    with pytest.raises(StorageError):
        files.change(str(tmp_path / "latin/c.json"), lambda _: "x")


def made_with_ours(text: str, origin: str) -> bool:
    return text == origin + "+ours"


def test_going_back_restores_what_stood_there_and_takes_its_backup_away(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text("old", encoding="utf-8")
    files.change(str(path), lambda text: text + "+ours", made_of=made_with_ours)
    done = files.change(str(path), lambda _: "edited", made_of=made_with_ours, back=True)
    assert done.restored and done.backup is None
    assert path.read_text(encoding="utf-8") == "old" and os.listdir(tmp_path) == ["c.json"]


def test_where_others_wrote_since_then_going_back_is_an_edit_with_a_backup_of_its_own(
    tmp_path: Path,
) -> None:
    path = tmp_path / "c.json"
    path.write_text("old", encoding="utf-8")
    files.change(str(path), lambda text: text + "+ours", made_of=made_with_ours)
    path.write_text("old+ours+theirs", encoding="utf-8")
    done = files.change(
        str(path), lambda text: text.replace("+ours", ""), made_of=made_with_ours, back=True
    )
    assert path.read_text(encoding="utf-8") == "old+theirs" and not done.restored
    assert Path(str(done.backup)).read_text(encoding="utf-8") == "old+ours+theirs"


def test_a_second_change_keeps_the_backup_of_what_stood_there_before_the_first(
    tmp_path: Path,
) -> None:
    path = tmp_path / "c.json"
    path.write_text("old", encoding="utf-8")
    files.change(str(path), lambda text: text + "+ours", made_of=made_with_ours)
    done = files.change(str(path), lambda _: "old+ours anew", made_of=made_with_ours)
    assert Path(str(done.backup)).read_text(encoding="utf-8") == "old"


def test_in_a_git_repository_the_backup_is_where_no_commit_takes_it_along(
    tmp_path: Path, home: Path
) -> None:
    path = tmp_path / "work/sub/c.json"
    path.parent.mkdir(parents=True)
    (tmp_path / "work/.git").mkdir()
    path.write_text("old", encoding="utf-8")
    done = files.change(str(path), lambda _: "new")
    assert os.listdir(path.parent) == ["c.json"]
    assert (
        Path(str(done.backup)).is_relative_to(home)
        and Path(str(done.backup)).read_text(encoding="utf-8") == "old"
    )


def test_a_backup_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text("old", encoding="utf-8")
    (tmp_path / "c.json.vespe-backup").write_bytes(b"\xff")
    assert (
        files.change(str(path), lambda _: "new", made_of=lambda *_: True, back=True).restored
        is False
    )
