"""Which tools a file of definitions makes."""

import json
from pathlib import Path

import pytest

from vespe.errors import InvalidDocument, ToolNotFound, UsageError
from vespe.features.imports import definitions
from vespe.tools.drafts import Draft

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}


def read(*names: str, wanted: tuple[str, ...] = ()) -> tuple[list[Draft], list[str]]:
    data = json.dumps([{"name": name, "inputSchema": SCHEMA} for name in names]).encode()
    warnings: list[str] = []
    return definitions.read_drafts(data, wanted, path="tools.json", warn=warnings.append), warnings


def drafted(*names: str) -> list[Draft]:
    return [
        Draft(name=name, document={"name": name, "description": "", "schema": {"input": SCHEMA}})
        for name in names
    ]


def test_a_name_that_is_not_one_here_becomes_another_and_is_told() -> None:
    drafts, warnings = read("get.weather", "b")
    assert [draft.name for draft in drafts] == ["get_weather", "b"]
    assert warnings == ["'get.weather' is not a valid tool name here; it becomes get_weather"]


def test_names_choose_and_one_that_is_not_defined_is_refused() -> None:
    assert [draft.name for draft in read("a", "b", wanted=("b",))[0]] == ["b"]
    with pytest.raises(ToolNotFound, match="alphx"):
        read("alpha", wanted=("alphx",))


@pytest.mark.parametrize("data", [b"[]", b'{"openapi": "3.1.0"}', b"a: b"])
def test_what_defines_no_tool_says_what_takes_it(data: bytes) -> None:
    with pytest.raises(InvalidDocument) as caught:
        definitions.read_drafts(data, (), path="tools.json", warn=pytest.fail)
    assert "vespe kit import" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("d.jsonl", '{"name": "a", "inputSchema": {}}\n\n{"name": "b", "parameters": {}}\n'),
        ("stdin", '{"name": "a", "inputSchema": {}}\n{"name": "b", "parameters": {}}'),
        ("d.yaml", "- name: a\n  inputSchema: {}\n- {name: b, parameters: {}}\n"),
    ],
)
def test_lines_and_yaml_are_read_as_lint_reads_them(name: str, text: str) -> None:
    text = text.replace("{}", '{"type": "object"}')
    drafts = definitions.read_drafts(text.encode(), (), path=name, warn=pytest.fail)
    assert [draft.name for draft in drafts] == ["a", "b"]


def test_a_line_that_is_not_json_is_named() -> None:
    with pytest.raises(InvalidDocument) as caught:
        definitions.read_drafts(b'{"name": "a"}\n{"na', (), path="d.jsonl", warn=pytest.fail)
    assert caught.value.line == 2


def test_a_manual_and_a_list_of_a_registry_are_read_as_kits_of_them_are(tmp_path: Path) -> None:
    call = {"call_template_type": "http", "url": "https://api.example.com/w", "http_method": "GET"}
    tool = {"name": "get_weather", "inputs": SCHEMA, "tool_call_template": call}
    listed = {"name": "read_it", "arguments": [{"name": "a", "type": "string", "desc": "A."}]}
    seen = {}
    for name, document in (
        ("utcp.json", {"utcp_version": "1.0.1", "tools": [tool]}),
        ("docker.json", [listed, {"name": "other"}]),
    ):
        (tmp_path / name).write_text(json.dumps(document), encoding="utf-8")
        warnings: list[str] = []
        seen[name] = definitions.read_drafts(
            (tmp_path / name).read_bytes(), (), path=str(tmp_path / name), warn=warnings.append
        )
        with pytest.raises(ToolNotFound):
            definitions.read_drafts(
                (tmp_path / name).read_bytes(),
                ("nope",),
                path=str(tmp_path / name),
                warn=warnings.append,
            )
    (weather,), (first, _) = seen.values()
    assert weather.document["implementation_details"]["path"] == call["url"]
    assert first.document["schema"]["input"]["required"] == ["a"]
    assert "these are only definitions, which cannot run" in warnings[0]


def test_a_failure_midway_takes_away_what_was_made(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    with pytest.raises(UsageError, match="already a tool called 'b'"):
        definitions.make_all(str(project), drafted("a", "b", "b"))
    assert list((project / ".vespe" / "tools").glob("tool-*")) == []


def test_a_name_that_is_taken_or_there_twice_is_refused_before_anything_is_made(
    project: Path,
) -> None:
    definitions.make_all(str(project), drafted("a"))
    with pytest.raises(UsageError, match="already a tool called 'a'"):
        definitions.check_new(str(project), drafted("a"), path="tools.json")
    with pytest.raises(UsageError, match=r"tools\.json defines 'b' twice"):
        definitions.check_new(str(project), drafted("b", "b"), path="tools.json")
    definitions.check_new(str(project), drafted("b", "c"), path="tools.json")
