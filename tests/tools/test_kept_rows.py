"""Rows that are kept about the tools of a directory."""

from pathlib import Path

import pytest

from vespe.tools.kept_rows import KeptRows

ROWS = {"tool-a": (b"digest", "a", None, (1, 2, 3, 4, 5))}


@pytest.fixture
def kept(home: Path) -> KeptRows:
    made = KeptRows("words", "/tools", [1])
    made.save(ROWS)
    return made


def test_rows_are_believed_for_their_kind_their_directory_and_what_they_depend_on(
    kept: KeptRows,
) -> None:
    assert kept.load() == ROWS == KeptRows("words", "/tools/../tools", [1]).load()
    for other in (("scan", "/tools", [1]), ("words", "/tool", [1]), ("words", "/tools", [2])):
        assert KeptRows(*other).load() == {}


def test_rows_that_were_changed_by_others_are_not_believed(kept: KeptRows) -> None:
    path = Path(kept.path)
    data = path.read_bytes()
    for changed in (b"", b"\n", data[:-1], data[:70] + b"x" + data[71:], b"0" * 64 + data[64:]):
        path.write_bytes(changed)
        assert kept.load() == {}
    path.write_bytes(data)
    assert kept.load() == ROWS and path.stat().st_mode & 0o077 == 0


def test_many_rows_are_kept_as_few_are(kept: KeptRows) -> None:
    rows = {f"tool-{number}": (b"x" * 500, "a") for number in range(4_000)}
    kept.save(rows)
    assert kept.load() == rows
