"""Questions to the file system that are noted."""

import os
import threading
from pathlib import Path

from vespe.processes.sandbox import looked


class Notes:
    """Notes every question, by what it is about."""

    def __init__(self) -> None:
        self.noted: list[tuple[str, str]] = []

    def place(self, path: str) -> None:
        self.noted.append(("place", path))

    def through(self, path: str) -> None:
        self.noted.append(("through", path))

    def content(self, path: str) -> None:
        self.noted.append(("content", path))

    def listing(self, path: str) -> None:
        self.noted.append(("listing", path))


def test_each_question_is_answered_as_by_os_and_noted_by_its_thread_alone(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_bytes(b"#!/bin/sh -e\nexit\n")
    file.chmod(0o700)
    link.symlink_to("file")
    notes = Notes()
    with looked.noting(notes):
        assert looked.lexists(str(file)) and looked.islink(str(link)) and looked.exists(str(link))
        assert looked.isfile(str(link)) and not looked.isdir(str(link))
        assert looked.realpath(str(link)) == os.path.realpath(file)
        assert looked.access(str(file), os.X_OK) and looked.first_line(str(file), 8) == b"#!/bin/s"
        assert sorted(looked.listdir(str(tmp_path))) == ["file", "link"]
        assert looked.entries(str(tmp_path)) == ((str(file), False),)
        looked.note("/a")
        other = threading.Thread(target=looked.lexists, args=("/b",))
        other.start()
        other.join()
    looked.lexists("/c")
    of_link, of_file = ("through", str(link)), ("content", str(file))
    assert notes.noted == [
        ("place", str(file)),
        ("place", str(link)),
        *[of_link] * 4,
        *[of_file] * 2,
        *[("listing", str(tmp_path))] * 2,
        ("place", "/a"),
    ]
