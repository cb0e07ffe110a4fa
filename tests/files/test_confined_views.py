"""What the shipped file tools share: pages, listings and results that are never cut in silence."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from vespe.errors import InvalidArguments
from vespe.files.confined import Directory, PathRefused
from vespe.files.confined_search import Query
from vespe.files.confined_views import MAX_READ, list_entries, read_lines, search_lines


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Directory]:
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo\x0b2\nthree")
    (tmp_path / "empty").touch()
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.txt").write_text("two\n", encoding="utf-8")
    with Directory(tmp_path) as opened:
        yield opened


@pytest.mark.parametrize(
    ("start", "count", "page"),
    [
        (1, None, "one\r\ntwo\x0b2\nthree"),
        (1, 1, "one\r\n"),
        (2, 1, "two\x0b2\n"),
        (2, 9, "two\x0b2\nthree"),
        (3, None, "three"),
    ],
)
def test_lines_are_numbered_as_editors_do_and_keep_their_ends(
    directory: Directory, start: int, count: int | None, page: str
) -> None:
    assert read_lines(directory, "a.txt", start_line=start, line_count=count) == page


def test_a_page_past_the_end_says_how_many_lines_there_are(directory: Directory) -> None:
    assert read_lines(directory, "empty") == ""
    for path, start, total in (("a.txt", 4, 3), ("sub/b.txt", 2, 1), ("empty", 2, 0)):
        with pytest.raises(InvalidArguments, match=f"has {total} line"):
            read_lines(directory, path, start_line=start)


def test_a_long_file_is_read_in_pages_and_never_cut(directory: Directory, tmp_path: Path) -> None:
    (tmp_path / "long").write_text("0123456789\n" * MAX_READ, encoding="utf-8")
    with pytest.raises(
        InvalidArguments, match=f"has {MAX_READ} lines and .* start_line and line_count"
    ):
        read_lines(directory, "long")
    assert read_lines(directory, "long", start_line=MAX_READ, line_count=5) == "0123456789\n"


def test_a_listing_is_of_one_directory_or_of_all_beneath_and_says_when_it_is_cut(
    directory: Directory, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to("/")
    assert list_entries(directory) == {
        "entries": [
            {"path": "a.txt", "type": "file", "size": 16},
            {"path": "empty", "type": "file", "size": 0},
            {"path": "link", "type": "link"},
            {"path": "sub", "type": "directory"},
        ],
        "truncated": False,
    }
    assert [e["path"] for e in list_entries(directory, recursive=True, limit=5)["entries"]][
        -1
    ] == "sub/b.txt"
    assert list_entries(directory, recursive=True, limit=4)["truncated"] is True
    assert list_entries(directory, "sub")["entries"] == [
        {"path": "sub/b.txt", "type": "file", "size": 4}
    ]


def test_a_directory_that_is_too_deep_is_listed_with_its_problem(
    directory: Directory, tmp_path: Path
) -> None:
    deep = tmp_path / "/".join("d" * 65)
    deep.mkdir(parents=True)
    assert (
        list_entries(directory, recursive=True, limit=70)["entries"][65]["problem"]
        == "deeper than 64 directories"
    )


def test_search_results_are_data(directory: Directory) -> None:
    assert search_lines(directory, Query("two"), limit=1) == {
        "matches": [{"path": "a.txt", "line": 2, "text": "two\x0b2"}],
        "files_searched": 3,
        "files_skipped": 0,
        "truncated": True,
    }


def test_p17_none_of_them_leaves_the_directory(directory: Directory) -> None:
    for refused in (
        lambda: read_lines(directory, "../x"),
        lambda: list_entries(directory, "/etc"),
        lambda: search_lines(directory, Query("x"), path=".."),
    ):
        with pytest.raises(PathRefused):
            refused()
