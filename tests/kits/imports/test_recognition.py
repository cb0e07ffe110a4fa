"""The kind of a source, found by looking."""

from pathlib import Path

from vespe.kits.imports import recognition
from vespe.kits.imports.made import Selection


def test_a_description_is_known_by_its_first_key(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("openapi: 3.1.0\npaths: {}", encoding="utf-8")
    assert recognition.import_from(str(tmp_path / "a.yaml"), kit_id="kit", kind=None, selection=Selection()).kind == "openapi"
