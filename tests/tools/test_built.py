"""What a compiled tool was built from: which difference is told, and which is none."""

from pathlib import Path
from typing import Any

import pytest

from vespe.documents import strict_json
from vespe.tools import built

RUST: dict[str, Any] = {"type": "rust_function", "path": "src/tool.rs", "entrypoint": "f"}
C: dict[str, Any] = {"type": "wasm", "path": "bin/x.wasm", "source": "x.c"}


def made(directory: Path, details: dict[str, Any] = RUST) -> Path:
    """Write a tool whose record fits."""
    for path in ("src/tool.rs", "src/vespe.rs", "x.c", "x.h", "notes.md", built.module_of(details)):
        (directory / path).parent.mkdir(exist_ok=True)
        (directory / path).write_text(path, encoding="utf-8")
    sources = built.read_sources(str(directory), details)
    record = built.record_of(
        details, sources, (directory / built.module_of(details)).read_bytes(), compiler="c 1"
    )
    (directory / built.RECORD).write_text(strict_json.dump_json(record), encoding="utf-8")
    return directory


@pytest.mark.parametrize("details", [RUST, C])
def test_a_build_that_fits_says_nothing_whatever_happens_to_other_files(
    tmp_path: Path, details: dict[str, Any]
) -> None:
    made(tmp_path, details)
    (tmp_path / "notes.md").write_text("other", encoding="utf-8")
    assert list(built.stale(str(tmp_path), details)) == []


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("src/tool.rs", "x", "is older than its source: src/tool.rs was changed"),
        ("src/more.rs", "x", "src/more.rs is new"),
        ("Cargo.toml", "x", "Cargo.toml is new"),
        ("src/vespe.rs", None, "src/vespe.rs is gone"),
        ("tool.wasm", "x", "has a tool.wasm that is not the one that was built"),
        ("tool.wasm", None, "is not compiled: there is no tool.wasm"),
        ("build.json", None, "does not say what tool.wasm was compiled from"),
        ("build.json", "{", "does not say what tool.wasm was compiled from"),
        ("build.json", '{"sources": 3}', "not the one that was built"),
    ],
)
def test_what_no_longer_holds_is_told(
    tmp_path: Path, path: str, text: str | None, said: str
) -> None:
    file = made(tmp_path) / path
    file.write_text(text, encoding="utf-8") if text is not None else file.unlink()
    assert any(said in one for one in built.stale(str(tmp_path), RUST))


def test_another_entrypoint_needs_another_build(tmp_path: Path) -> None:
    (said,) = built.stale(str(made(tmp_path)), RUST | {"entrypoint": "g"})
    assert "a function other" in said


def test_a_module_from_elsewhere_needs_no_record(tmp_path: Path) -> None:
    assert list(built.stale(str(tmp_path), {"type": "wasm", "path": "tool.wasm"})) == []
    assert list(built.stale(str(tmp_path), {"type": "python_script", "path": "a.py"})) == []
