"""What is mended, and what is left alone."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import write_kit, write_tool
from vespe.features.lint import fixes
from vespe.features.lint.audit import Audit
from vespe.features.lint.settings import Settings


def fixed(*paths: Path, **options: Any) -> list[fixes.FixedFinding]:
    changed, named = options.pop("changed", None), [str(path) for path in paths]
    found = list(Audit(Settings(**options), changed=changed).findings(named))
    return list(fixes.fix(found, named))


def mend(*paths: Path, **options: Any) -> list[str]:
    """Fix what stands at the paths; return the names of the files that were written."""
    files = dict.fromkeys(one.finding.path for one in fixed(*paths, **options))
    return [Path(path).name for path in files]


CLOSED = {"additionalProperties": False}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"type": "dict"}, {"type": "object", **CLOSED}),
        (
            {"type": "object", "additionalProperties": True},
            {"type": "object", "additionalProperties": True},
        ),
        (
            {
                "type": "object",
                "properties": {
                    "a": {"type": "float"},
                    "b": {"type": "Array", "items": {"type": "String"}},
                },
            },
            {
                "type": "object",
                "properties": {
                    "a": {"type": "number"},
                    "b": {"type": "array", "items": {"type": "string"}},
                },
                **CLOSED,
            },
        ),
        ({"type": "string"}, {"type": "string"}),
        ({"type": ["str", "none", "string"]}, {"type": ["string", "null"]}),
        ({"type": "any"}, {}),
        ({"type": "ArrayList<String>"}, {"type": "array"}),
        ({"type": "no-such"}, {"type": "no-such"}),
        ({"type": 3}, {"type": 3}),
        (
            {"type": "object", "properties": {"type": {"type": "int"}}},
            {"type": "object", "properties": {"type": {"type": "integer"}}, **CLOSED},
        ),
        (
            {"type": "object", "allOf": [{"properties": {"a": {}}}]},
            {
                "type": "object",
                "allOf": [{"properties": {"a": {}}}],
                "unevaluatedProperties": False,
            },
        ),
        (True, True),
    ],
)
def test_a_schema_is_mended(before: Any, after: Any, tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    tool = {"name": "a", "description": "Read a thing.", "input_schema": before}
    file.write_text(json.dumps([tool]), encoding="utf-8")
    assert mend(file) == (["tools.json"] if before != after else [])
    assert json.loads(file.read_text(encoding="utf-8")) == [{**tool, "input_schema": after}]
    assert mend(file) == []


def test_a_tool_is_written_as_vespe_writes_it_and_unknown_keys_survive(tmp_path: Path) -> None:
    directory = write_tool(
        tmp_path / "tool-a",
        schema={"type": "object", "properties": {"a": {"type": "int"}}},
        zz={"kept": [1]},
    )
    file = directory / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8"))), encoding="utf-8")
    assert mend(directory) == ["config.json"]
    text = file.read_text(encoding="utf-8")
    document = json.loads(text)
    assert text == json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    assert document["zz"] == {"kept": [1]} and document["schema"]["input"]["properties"]["a"] == {
        "type": "integer"
    }
    assert mend(directory) == []


def test_the_tools_of_a_project_and_of_a_kit_are_mended(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "int"}}}
    write_tool(tmp_path / "p" / ".vespe" / "tools" / "tool-a", schema=schema)
    write_tool(write_kit(tmp_path, "web") / "tool-b", schema=schema)
    assert mend(tmp_path / "p") == ["config.json"]
    assert mend(tmp_path / "web") == ["config.json"]
    assert mend(tmp_path / "p", tmp_path / "web", tmp_path / "web" / "kit_config.json") == []


def test_what_no_finding_is_about_stays_byte_for_byte(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "int"}}}
    directory = write_tool(tmp_path / "p/.vespe/tools/tool-a", schema=schema)
    own = tmp_path / "p/.vespe/config.json"
    own.write_text("{}", encoding="utf-8")
    file = directory / "config.json"
    compact = json.dumps(json.loads(file.read_text(encoding="utf-8")))
    file.write_text(compact, encoding="utf-8")
    assert fixed(tmp_path / "p", select=("portability",)) == []
    assert fixed(tmp_path / "p", ignore=("schema",)) == []
    assert file.read_text(encoding="utf-8") == compact
    (one,) = fixed(tmp_path / "p", select=("schema-unknown-type",))
    assert one.what == 'the type "int" at /schema/input/properties/a is now "integer"'
    file.write_text(compact.replace('"int"', '"integer"'), encoding="utf-8")
    assert fixed(tmp_path / "p") == [] and own.read_text(encoding="utf-8") == "{}"
    assert file.read_text(encoding="utf-8") == compact.replace('"int"', '"integer"')


def test_a_definition_of_gemini_keeps_its_types(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    schema = {"type": "OBJECT", "properties": {"a": {"type": "float"}}}
    tool = {"name": "a", "description": "Read a thing.", "parameters": schema}
    file.write_text(json.dumps({"functionDeclarations": [tool]}), encoding="utf-8")
    assert mend(file) == []


MCP = {
    "tools": [
        {"name": "a", "description": "d", "inputSchema": {"type": "dict"}},
        {"name": "b", "inputSchema": {"type": "object"}},
    ]
}


def test_a_foreign_file_has_only_its_schemas_mended(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(MCP), encoding="utf-8")
    assert mend(file) == ["tools.json"]
    text = file.read_text(encoding="utf-8")
    assert "\n" not in text
    assert [tool["inputSchema"] for tool in json.loads(text)["tools"]] == [
        {"type": "object", "additionalProperties": False}
    ] * 2
    assert [
        f for f in Audit(Settings(select=("schema",))).findings([str(file)]) if f.severity != "info"
    ] == []
    assert mend(file) == []


def test_only_the_lines_with_something_to_mend_change(tmp_path: Path) -> None:
    file = tmp_path / "tools.jsonl"
    good = (
        '{"name":"a",   "description": "d", "input_schema": {"type": "object", '
        '"additionalProperties": false}}'
    )
    file.write_text(
        f'{good}\n{{"name": "b", "input_schema": {{"type": "map"}}}}\n', encoding="utf-8"
    )
    assert mend(file) == ["tools.jsonl"]
    lines = file.read_text(encoding="utf-8").splitlines()
    assert lines[0] == good and json.loads(lines[1])["input_schema"]["type"] == "object"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", "{"),
        ("a.json", '{"a": 1, "a": 2}'),
        ("a.json", '{"hello":   1}'),
        ("a.jsonl", "nonsense\n"),
        ("a.yaml", "tools: [{name: a, inputSchema: {type: dict}}]  # kept\n"),
    ],
)
def test_what_cannot_be_read_or_mended_stays_byte_for_byte(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert mend(tmp_path / name) == []
    assert (tmp_path / name).read_text(encoding="utf-8") == text


def test_a_link_is_not_followed_and_the_mode_is_kept(tmp_path: Path) -> None:
    target = tmp_path / "target.json"
    target.write_text(json.dumps(MCP), encoding="utf-8")
    target.chmod(0o640)
    (tmp_path / "link.json").symlink_to(target)
    assert mend(tmp_path / "link.json") == []
    assert mend(target) == ["target.json"]
    assert target.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("linked", [".vespe/tools", ".vespe/tools/tool-a"])
def test_a_link_on_the_way_from_the_project_leads_to_nothing_that_is_mended(
    tmp_path: Path, linked: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    real = elsewhere / ".vespe/tools/tool-a"
    real.mkdir(parents=True)
    text = json.dumps({"uid": "tool-a", "schema": {"input": {"type": "dict"}}})
    (real / "config.json").write_text(text, encoding="utf-8")
    (tmp_path / "project" / linked).parent.mkdir(parents=True)
    (tmp_path / "project" / linked).symlink_to(elsewhere / linked)
    assert (
        mend(tmp_path / "project") == []
        and (real / "config.json").read_text(encoding="utf-8") == text
    )
    assert mend(elsewhere) == ["config.json"]


def test_only_what_changed_is_mended(tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text(json.dumps(MCP), encoding="utf-8")
    assert mend(tmp_path / "tools.json", changed=frozenset()) == []
