"""What rules judge, made of tools and of definitions."""

from pathlib import Path
from typing import Any

from tests.support.ondisk import write_tool
from vespe.features.lint import foreign, subjects

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "b/c": {"items": {"type": "int"}}},
}


def test_a_tool_gives_its_parts_with_the_pointers_to_them(tmp_path: Path) -> None:
    subject = subjects.of_tool(
        str(write_tool(tmp_path / "tool-a", "greet", schema=SCHEMA)), kit_id="web"
    )
    assert (subject.name, subject.api, subject.kit_id, subject.output_schema) == (
        "greet",
        "vespe",
        "web",
        None,
    )
    assert (
        subject.pointers["input_schema"] == "/schema/input"
        and "output_schema" not in subject.pointers
    )
    assert [node.pointer for node in subject.nodes] == [
        "",
        "/properties/a",
        "/properties/b~1c",
        "/properties/b~1c/items",
    ]
    assert [(problem.part, problem.pointer) for problem in subject.schema_problems] == [
        ("input_schema", "/properties/b~1c/items/type")
    ]


def test_a_root_of_the_wrong_type_does_not_hide_what_else_is_wrong(tmp_path: Path) -> None:
    subject = subjects.of_tool(
        str(write_tool(tmp_path / "tool-a", schema={**SCHEMA, "type": "array"})), kit_id=None
    )
    assert [problem.pointer for problem in subject.schema_problems] == [
        "/properties/b~1c/items/type"
    ]


def test_a_tool_that_cannot_be_read_is_a_subject_without_a_document(tmp_path: Path) -> None:
    directory = tmp_path / "tool-a"
    directory.mkdir()
    subject = subjects.of_tool(str(directory), kit_id=None)
    assert subject.document is None and subject.problems and subject.pointers == {"": ""}


def test_an_outline_is_small_and_shares_its_names(tmp_path: Path) -> None:
    subject = subjects.of_tool(
        str(write_tool(tmp_path / "tool-a", "greet", schema=SCHEMA)), kit_id=None
    )
    one = subjects.outline(subject, scope="s", linted=True, available=False)
    assert (one.name, one.parameters, one.scope, one.available) == (
        "greet",
        ("a", "b/c"),
        "s",
        False,
    )
    assert one.size == len(
        '{"name":"greet","description":"The greet tool, '
        'written by hand for a test.","input_schema":'
        '{"type":"object","properties":{"a":{"type":"string"},"b/c":{"items":{"type":"int"}}}}}'
    )


def test_what_only_yaml_can_say_has_an_outline_too() -> None:
    text = "name: a\ndescription: d\ninputSchema: {properties: {1: {default: 2020-01-01}}}\n"
    [definition] = foreign.parse(text.encode(), text, path="p", kind="yaml").definitions
    one = subjects.outline(
        subjects.of_definition(definition), scope="p", linted=True, available=True
    )
    assert one.parameters == () and one.size > 0
    infinite = f"{text}x: .inf\n"
    [trouble] = foreign.parse(infinite.encode(), infinite, path="p", kind="yaml").troubles
    assert trouble.message == "has a number that JSON cannot represent"


def test_a_configuration_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("[]", encoding="utf-8")
    assert subjects.read_config(str(tmp_path / "config.json"))[1][0].line == 1
    assert subjects.read_config(str(tmp_path / "none.json"))[0] is None
