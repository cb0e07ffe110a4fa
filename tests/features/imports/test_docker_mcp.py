"""The Docker MCP registry's lists: shorthand arguments as schemas, and how the tools come to
run.
"""

import json
from pathlib import Path

import pytest

from vespe.errors import InvalidDocument
from vespe.features.imports import recognition, writing
from vespe.features.imports.made import Imported, Selection
from vespe.models import JsonObject

RECORDED = Path(__file__).parents[4] / "shared/corpus/tooldefs/docker-mcp-registry"


def imported(source: Path) -> Imported:
    return recognition.import_from(str(source), kit_id="kit", kind=None, selection=Selection())


@pytest.mark.parametrize(
    ("argument", "schema", "required"),
    [
        (
            {"name": "a", "type": "string", "desc": "A."},
            {"type": "string", "description": "A."},
            True,
        ),
        (
            {"name": "a", "type": "integer", "desc": "", "optional": True},
            {"type": "integer"},
            False,
        ),
        (
            {"name": "a", "type": "array", "desc": "", "items": {"type": "string"}},
            {"type": "array", "items": {"type": "string"}},
            True,
        ),
        ({"name": "a", "type": "array", "desc": ""}, {"type": "array", "items": {}}, True),
        ({"name": "a", "type": "string[]"}, {"type": "array", "items": {"type": "string"}}, True),
        ({"name": "a"}, {"type": "string"}, True),
        ({"name": "a", "type": "nonsense", "required": False}, {}, False),
    ],
)
def test_an_argument_is_a_property(
    argument: JsonObject, schema: JsonObject, required: bool, tmp_path: Path
) -> None:
    (tmp_path / "x.json").write_text(
        json.dumps([{"name": "t", "description": "T.", "arguments": [argument]}]), encoding="utf-8"
    )
    made = imported(tmp_path / "x.json").tools[0].document["schema"]["input"]
    assert (made["properties"], "required" in made) == ({"a": schema}, required)


def test_a_servers_directory_says_how_it_is_started(tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text('[{"name": "t", "description": "T."}]', encoding="utf-8")
    (tmp_path / "server.yaml").write_text(
        "name: x\nimage: mcp/x\nabout: {title: The X, description: Does x.}", encoding="utf-8"
    )
    made = imported(tmp_path)
    assert (made.title, made.description) == ("The X", "Does x.")
    assert "docker run -i --rm mcp/x" in made.notes[0]


def test_what_a_tool_says_of_itself_is_taken_over_or_named(tmp_path: Path) -> None:
    said = {"title": "T", "readOnlyHint": True, "openWorldHint": "no", "x": 1}
    (tmp_path / "x.json").write_text(
        json.dumps([{"name": "a", "annotations": said}, {"name": "b", "title": "The B"}]),
        encoding="utf-8",
    )
    first, second = imported(tmp_path / "x.json").tools
    assert first.document["annotations"] == {"title": "T", "readOnlyHint": True}
    assert [note.split(" is left out")[0] for note in first.notes] == [
        "its annotation openWorldHint",
        "its annotation x",
    ]
    assert second.document["annotations"] == {"title": "The B"}


def test_of_two_tools_with_one_name_the_second_is_a_reason(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('[{"name": "a b"}, {"name": "a_b"}]', encoding="utf-8")
    assert (
        len(imported(tmp_path / "x.json").tools),
        len(imported(tmp_path / "x.json").left_out),
    ) == (1, 1)


def test_a_list_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('[{"a": 1}]', encoding="utf-8")
    with pytest.raises(InvalidDocument, match="is not in a format that Vespe recognizes"):
        imported(tmp_path / "x.json")


def test_recorded_lists_become_tools_whole() -> None:
    if not RECORDED.is_dir():
        pytest.skip(f"NOT RUN: the recorded lists are not in {RECORDED}")
    for file in sorted(RECORDED.glob("*.json")):
        made = writing.written(imported(file), "kit")
        assert (len(made.tools), made.left_out) == (len(json.loads(file.read_bytes())), ()), (
            file.name
        )
