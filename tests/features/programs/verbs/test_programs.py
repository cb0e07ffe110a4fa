"""Where a program is read from."""

import io
from pathlib import Path
from types import SimpleNamespace

import pytest

from vespe.errors import InvalidDocument, InvalidProgram, StorageError
from vespe.features.programs.verbs.programs import explain, read_code


def test_a_program_is_read_from_a_file_or_stdin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "p.py").write_bytes("é".encode())
    assert read_code(str(tmp_path / "p.py")) == "é"
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"1 + 1")))
    assert read_code("-") == "1 + 1"
    (tmp_path / "p.py").write_bytes(b"\xff")
    with pytest.raises(InvalidDocument):
        read_code(str(tmp_path / "p.py"))
    with pytest.raises(StorageError):
        read_code(str(tmp_path / "none.py"))


def test_all_that_is_wrong_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    explain([{"line": 3, "message": "a"}, {"line": 0, "message": "b"}], "p.py")
    said = capsys.readouterr().err
    assert "p.py:3: a" in said and "p.py: b" in said


@pytest.mark.parametrize("size", [1_048_577, 3_000_000])
def test_a_program_that_is_far_too_long_is_told_what_a_program_may_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    (tmp_path / "p.py").write_bytes(b"#" * size)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"#" * size)))
    for file in (str(tmp_path / "p.py"), "-"):
        with pytest.raises(InvalidProgram, match="at most 65,536 are allowed"):
            read_code(file)


def test_a_program_on_stdin_that_is_too_long_is_not_cut_within_a_character(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = "é" * 40_000
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(said.encode())))
    assert read_code("-") == said
