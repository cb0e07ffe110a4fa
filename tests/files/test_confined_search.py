"""Searching files: lines with their numbers, in bounded time and size, whatever the pattern."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from vespe.errors import InvalidArguments, StorageError, UsageError
from vespe.files import confined_search
from vespe.files.confined import Directory, PathRefused
from vespe.files.confined_search import Match, Query, search


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Directory]:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.py").write_text("import os\r\nprint(os.name)\r\n", encoding="utf-8")
    (tmp_path / "sub" / "b.txt").write_text("Import nothing\nétude\nend", encoding="utf-8")
    (tmp_path / "binary").write_bytes(b"import\0")
    with Directory(tmp_path) as opened:
        yield opened


def test_a_literal_is_found_in_every_text_file_in_order(directory: Directory) -> None:
    found = search(directory, Query("import", ignore_case=True))
    assert found.matches == [Match("a.py", 1, "import os"), Match("sub/b.txt", 1, "Import nothing")]
    assert (found.searched, found.skipped, found.truncated) == (2, 1, False)


def test_a_literal_is_no_pattern_and_a_pattern_is_none_by_default(directory: Directory) -> None:
    assert search(directory, Query("os.name)")).matches == [Match("a.py", 2, "print(os.name)")]
    assert search(directory, Query("^.tude$")).matches == []
    assert search(directory, Query("^.tude$", regex=True)).matches == [
        Match("sub/b.txt", 2, "étude")
    ]
    assert (
        search(directory, Query("^IMPORT .*s$", regex=True, ignore_case=True), path="a.py").matches
        == []
    )


def test_one_file_one_directory_or_files_of_one_kind_can_be_searched(directory: Directory) -> None:
    assert [m.path for m in search(directory, Query("n"), path="sub/b.txt").matches] == [
        "sub/b.txt",
        "sub/b.txt",
    ]
    assert search(directory, Query("os"), path="sub").matches == []
    assert {m.path for m in search(directory, Query("n", files="*.py")).matches} == {"a.py"}


def test_the_number_of_matches_is_bounded_and_says_so(directory: Directory) -> None:
    assert search(directory, Query("n"), limit=2).truncated is True
    exact = search(directory, Query("os"), limit=2)
    assert (len(exact.matches), exact.truncated) == (2, False)


def test_a_long_line_is_shown_around_its_match(directory: Directory, tmp_path: Path) -> None:
    (tmp_path / "long").write_text("x" * 5000 + "needle" + "y" * 5000, encoding="utf-8")
    (match,) = search(directory, Query("needle")).matches
    assert "needle" in match.text and len(match.text) == confined_search.MAX_SHOWN + 2
    assert match.text[0] == match.text[-1] == "…"


@pytest.mark.parametrize("pattern", ["(", "a{99999999999}", "*", "(?<", "x" * 600, "(" * 300])
def test_a_pattern_that_is_none_is_refused_with_a_reason(
    directory: Directory, pattern: str
) -> None:
    with pytest.raises(InvalidArguments, match="regular expression"):
        search(directory, Query(pattern, regex=True))


@pytest.mark.parametrize(("text", "why"), [("", "is empty"), ("a\nb", "several lines")])
def test_what_no_line_can_hold_is_refused(directory: Directory, text: str, why: str) -> None:
    with pytest.raises(InvalidArguments, match=why):
        search(directory, Query(text))


@pytest.mark.parametrize(
    ("pattern", "text"),
    [("^(a+)+$", "a" * 60 + "b"), (".*.*.*.*=x", "a" * 9000), ("(x+x+)+y", "x" * 200)],
)
def test_a_pattern_without_end_is_ended(
    directory: Directory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pattern: str, text: str
) -> None:
    monkeypatch.setattr(confined_search, "PATTERN_SECONDS", 0.2)
    (tmp_path / "trap").write_text(text, encoding="utf-8")
    with pytest.raises(InvalidArguments, match=r"took longer than 0\.2 s"):
        search(directory, Query(pattern, regex=True))
    assert search(directory, Query("^end$", regex=True)).matches == [Match("sub/b.txt", 3, "end")]


def test_a_pattern_is_refused_where_its_time_cannot_be_bounded(directory: Directory) -> None:
    raised: list[BaseException] = []

    def look() -> None:
        try:
            search(directory, Query("a", regex=True))
        except UsageError as error:
            raised.append(error)

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert len(raised) == 1


def test_what_is_too_large_or_cannot_be_read_is_skipped_and_counted(
    directory: Directory, tmp_path: Path
) -> None:
    (tmp_path / "large").write_text("import " * 400_000, encoding="utf-8")
    (tmp_path / "link").symlink_to("a.py")
    found = search(directory, Query("import"))
    assert [m.path for m in found.matches] == ["a.py"] and found.skipped == 2


def test_p17_searching_stays_inside(directory: Directory, tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to("/")
    for path in ("..", "/etc", "out", "sub/../.."):
        with pytest.raises(PathRefused):
            search(directory, Query("root"), path=path)
    with pytest.raises(StorageError):
        search(directory, Query("root"), path="missing")
