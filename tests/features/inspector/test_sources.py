"""A tool's files as they are shown: text, cut, and never through a link."""

import os
from pathlib import Path

from vespe.features.inspector import sources
from vespe.features.inspector.sources import MAX_FILES, MAX_SHOWN, sources_of


def test_files_are_shown_as_text_the_script_first(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    (tmp_path / "main.py").write_text("é\n", encoding="utf-8")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\0")
    (tmp_path / "latin.txt").write_bytes(b"\xe9")
    found = sources_of(str(tmp_path))
    assert [(file.path, file.text) for file in found.files] == [
        ("latin.txt", None),
        ("main.py", "é\n"),
        ("picture.png", None),
        ("config.json", "{}"),
    ]
    assert found.files[1].size == 3


def test_a_long_file_is_cut_between_two_characters(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("a" + "é" * MAX_SHOWN, encoding="utf-8")
    (file,) = sources_of(str(tmp_path)).files
    assert file.is_cut
    assert file.text is not None
    assert len(file.text.encode()) == MAX_SHOWN - 1


def test_links_and_pipes_are_named_and_not_read(tmp_path: Path) -> None:
    os.symlink("/etc/passwd", tmp_path / "link")
    os.mkfifo(tmp_path / "pipe")
    found = sources_of(str(tmp_path))
    assert (found.files, found.odd) == ((), {"link": "a symbolic link", "pipe": "a FIFO"})


def test_a_directory_that_is_a_link_or_is_gone_shows_nothing(tmp_path: Path) -> None:
    os.symlink("/etc", tmp_path / "tool-link")
    assert sources_of(str(tmp_path / "tool-link")).files == ()
    assert sources_of(str(tmp_path / "tool-gone")) == sources.Sources(files=(), odd={}, more=0)


def test_of_many_files_the_first_are_shown(tmp_path: Path) -> None:
    for number in range(MAX_FILES + 2):
        (tmp_path / f"{number:03}").touch()
    found = sources_of(str(tmp_path))
    assert (len(found.files), found.more) == (MAX_FILES, 2)
