"""An import on disk: whole, the same each time, and brought up to date without what its author
added.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.support.descriptions import described, imported
from vespe.documents import strict_json
from vespe.errors import UsageError
from vespe.features.imports import writing
from vespe.features.imports.made import Imported, Made

PATHS: dict[str, Any] = {
    "/a": {"get": {"operationId": "a"}},
    "/b": {"get": {"operationId": "b", "summary": "B"}},
}


def made(directory: Path, paths: dict[str, Any] = PATHS, kit_id: str = "kit") -> writing.Written:
    return writing.written(imported(described(paths), directory), kit_id)


def placed(directory: Path, paths: dict[str, Any] = PATHS, *, parent: str = "kits") -> Path:
    target = directory / parent / "kit"
    with writing.staged(made(directory, paths), str(target.parent)) as path:
        writing.place(path, str(target))
    return target


def content(directory: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(directory)): file.read_bytes()
        for file in directory.rglob("*")
        if file.is_file()
    }


def test_a_second_import_is_the_same_bytes(tmp_path: Path) -> None:
    assert content(placed(tmp_path)) == content(placed(tmp_path, parent="other"))


def test_nothing_is_left_beside_a_kit(tmp_path: Path) -> None:
    assert [entry.name for entry in placed(tmp_path).parent.iterdir()] == ["kit"]


def test_a_kit_is_not_replaced_unasked(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="exists already"):
        writing.check_target(str(placed(tmp_path)), update=False)
    with pytest.raises(UsageError, match="there is no kit"):
        writing.check_target(str(tmp_path / "none"), update=True)


def test_bringing_up_to_date_takes_away_what_is_gone_and_keeps_what_its_author_added(
    tmp_path: Path,
) -> None:
    kit = placed(tmp_path)
    (kit / "README.md").write_text("mine", encoding="utf-8")
    (kit / "tool-mine").mkdir()
    (kit / "tool-mine/config.json").write_text("{}", encoding="utf-8")
    config = strict_json.read_object(kit / "kit_config.json")
    (kit / "kit_config.json").write_text(
        strict_json.dump_json({**config, "mine": 1}), encoding="utf-8"
    )
    newer = made(tmp_path, {"/a": {"get": {"operationId": "a", "summary": "New"}}})
    writing.bring_up_to_date(newer, str(kit))
    left = sorted(entry.name for entry in kit.iterdir() if entry.name.startswith("tool-"))
    assert left == sorted([*newer.tools, "tool-mine"])
    assert (kit / "README.md").read_text(encoding="utf-8") == "mine"
    assert strict_json.read_object(kit / "kit_config.json")["mine"] == 1


def test_nothing_is_written_where_nothing_changed(tmp_path: Path) -> None:
    assert writing.bring_up_to_date(made(tmp_path), str(placed(tmp_path))) == 0


@pytest.mark.parametrize("kit_id", ["", "A", "../x", "project_tools"])
def test_what_is_no_kits_id_is_a_sentence(kit_id: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a valid kit id"):
        made(tmp_path, kit_id=kit_id)


def tool(schema: Any) -> Imported:
    document = {"name": "x", "description": "d", "schema": {"input": schema}}
    return Imported(
        kind="test",
        title="t",
        description="",
        version="1",
        tools=(Made(document=document, source="x"),),
    )


@pytest.mark.parametrize(
    "property_",
    [
        {"type": 7},
        {"pattern": "(?=a)"},
        {"$ref": "#/nowhere"},
        {"minLength": "x"},
        {"$ref": "https://example.com"},
        {"properties": []},
    ],
)
def test_a_schema_that_would_not_load_is_mended_and_that_is_said(property_: Any) -> None:
    written = writing.written(
        tool({"type": "object", "properties": {"p": property_, "q": {"type": "string"}}}), "kit"
    )
    assert (len(written.tools), len(written.left_out)) == (1, 0)
    assert written.notes["x"]


def test_references_without_end_are_left_open() -> None:
    schema = {
        "type": "object",
        "properties": {"p": {"$ref": "#/$defs/A"}},
        "$defs": {"A": {"allOf": [{"$ref": "#/$defs/A"}]}},
    }
    assert len(writing.written(tool(schema), "kit").tools) == 1


def test_what_cannot_be_mended_is_left_out_with_the_reason() -> None:
    (left,) = writing.written(tool({"type": "array"}), "kit").left_out
    assert "object" in left.reason
