"""The rules that every kit's entries keep, wherever they come from."""

import pytest

from vespe.errors import Refused
from vespe.files.entries import DIRECTORY, EXECUTABLE, FILE, TreeEntry
from vespe.kits import entry_rules
from vespe.kits.entry_rules import checked


def entry(path: str, mode: int = FILE, size: int = 1) -> TreeEntry:
    return TreeEntry(path=path, mode=mode, size=size)


def test_files_come_back_by_path_without_their_directories() -> None:
    entries = [entry("z"), entry("a", DIRECTORY, 0), entry("a/b", EXECUTABLE)]
    assert [(e.path, e.executable) for e in checked("it", entries)] == [("a/b", True), ("z", False)]


@pytest.mark.parametrize(
    "mode", [0o120000, 0o160000, 0o010000, 0o140000, 0o020000, 0o060000, 0o100664, 0o100777]
)
def test_p9_what_is_no_regular_file_is_refused_by_name(mode: int) -> None:
    with pytest.raises(Refused, match="'x'"):
        checked("it", [entry("x", mode)])


def test_p9_a_directory_that_was_not_listed_is_a_slash_in_a_name() -> None:
    with pytest.raises(Refused, match="a name with a / in it"):
        checked("it", [entry("a/b")])


@pytest.mark.parametrize("other", ["x", "X"])
def test_p9_one_name_twice_is_refused(other: str) -> None:
    with pytest.raises(Refused):
        checked("it", [entry("x"), entry(other)])


def test_p10_a_file_a_kit_and_a_listing_have_bounds() -> None:
    with pytest.raises(Refused, match="a file may have"):
        checked("it", [entry("x", size=entry_rules.MAX_ENTRY_BYTES + 1)])
    with pytest.raises(Refused, match="holds more than"):
        checked("it", [entry(f"f{n}", size=entry_rules.MAX_ENTRY_BYTES) for n in range(21)])
    with pytest.raises(Refused, match="files and directories"):
        checked("it", [entry(f"f{n}", size=0) for n in range(entry_rules.MAX_ENTRIES + 1)])
