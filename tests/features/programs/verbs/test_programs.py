"""Where a program is read from."""

import io
from pathlib import Path
from types import SimpleNamespace

import pytest

from vespe.errors import InvalidDocument, StorageError
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
