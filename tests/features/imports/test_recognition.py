"""The kind of a source, found by looking."""

from pathlib import Path

import pytest

from vespe.errors import InvalidDocument, UsageError
from vespe.features.imports import recognition
from vespe.features.imports.made import Selection

SOURCES = {
    "a.yaml": ("openapi: 3.1.0\npaths: {}", "openapi"),
    "b.json": ('{"swagger": "2.0", "paths": {}}', "openapi"),
    "c.json": ('{"manual_version": "1.0", "tools": []}', "utcp"),
    "d.json": ('[{"name": "x", "arguments": []}]', "docker-mcp"),
    "e.sh": ("# @describe X.\nmain() {\n}\n", "llm-functions"),
}


def kind_of(source: Path, kind: str | None = None) -> str:
    return recognition.import_from(str(source), kit_id="kit", kind=kind, selection=Selection()).kind


@pytest.mark.parametrize("name", SOURCES)
def test_a_file_is_known_by_what_it_says(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(SOURCES[name][0], encoding="utf-8")
    assert kind_of(tmp_path / name) == SOURCES[name][1]


def test_a_file_of_another_kind_than_said_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"swagger": "2.0"}', encoding="utf-8")
    with pytest.raises(InvalidDocument, match="is not a UTCP manual"):
        kind_of(tmp_path / "a.json", "utcp")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"mcpServers": {}}', None),
        ('{"servers": {"a": {}}}', None),
        ('{"manifest_version": "0.3", "server": {}}', None),
        ('{"name": "x", "packages": []}', None),
        ("{}", "mcp-json"),
    ],
)
def test_servers_are_for_another_command(text: str, kind: str | None, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        kind_of(tmp_path / "a.json", kind)
    assert "add-mcp --from" in caught.value.hint


def test_a_toml_file_is_one_of_servers_and_the_line_to_type_is_quoted(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        kind_of(tmp_path / "my config.toml")
    assert f"add-mcp --from '{tmp_path}/my config.toml'`" in caught.value.hint


def test_what_is_of_no_kind_says_which_there_are(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"x": 1}', encoding="utf-8")
    with pytest.raises(InvalidDocument, match="openapi, utcp, docker-mcp"):
        kind_of(tmp_path / "a.json")
