"""`vespe lint` as people and scripts use it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Said
from tests.support.ondisk import write_tool
from tests.support.terminal import vespe_on_a_terminal
from vespe.features.lint import FAMILIES

Command = Callable[..., Said]
MCP = {
    "tools": [
        {
            "name": "read_x",
            "description": "Read one thing from the store.",
            "inputSchema": {"type": "dict", "properties": {}},
        }
    ]
}


@pytest.fixture
def tools(project: Path) -> Path:
    file = project / "tools.json"
    file.write_text(json.dumps(MCP, indent=1), encoding="utf-8")
    return file


def test_a_new_project_has_nothing_to_find(command: Command) -> None:
    assert command("tool", "create", "hello", "--type", "python_script").code == 0
    said = command("lint")
    assert (said.code, said.out, said.err) == (0, "", "0 errors, 0 warnings in 1 tool\n")


def test_text_names_the_place_the_rule_and_what_to_do(command: Command, tools: Path) -> None:
    said = command("lint", "tools.json", "--select", "schema-unknown-type")
    assert said.code == 1
    assert said.out.splitlines() == [
        "tools.json:7:13: error schema-unknown-type: read_x: "
        'the string "dict" is not a type of JSON Schema: '
        "array, boolean, integer, null, number, object, string are",
        '    fix: write "object"',
    ]


def test_json_is_one_document_in_the_shape_that_scripts_rely_on(
    command: Command, tools: Path
) -> None:
    said = command("lint", "--json", "tools.json", "--select", "schema-root")
    assert said.err == ""
    [finding] = said.document["findings"]
    assert said.document["summary"] == {"errors": 1, "warnings": 0, "tools": 1}
    assert set(finding) == {
        "rule",
        "severity",
        "message",
        "path",
        "pointer",
        "line",
        "column",
        "tool",
        "fix",
    }
    assert (finding["pointer"], finding["tool"], finding["line"]) == (
        "/tools/0/inputSchema/type",
        "read_x",
        7,
    )
    assert (
        command("lint", "--format", "json", "tools.json", "--select", "schema-root").out == said.out
    )


def test_sarif_and_github_say_the_same(command: Command, tools: Path) -> None:
    log = json.loads(
        command("lint", "tools.json", "--format", "sarif", "--select", "schema-root").out
    )
    assert [result["ruleId"] for result in log["runs"][0]["results"]] == ["schema-root"]
    said = command("lint", "tools.json", "--format", "github", "--select", "schema-root").out
    assert said.startswith(
        "::error file=tools.json,line=7,col=13,title=vespe schema-root::read_x: the root"
    )
    assert said.count("\n") == 1 and "%0A" in said


def test_what_a_definition_says_cannot_make_a_command_or_move_the_cursor(
    command: Command, project: Path
) -> None:
    evil = {
        "tools": [
            {
                "name": "a\n::error::x\x1b[2J",
                "description": "d\r\n::set-output",
                "inputSchema": {"type": "a\n::warning::\u202e"},
            }
        ]
    }
    (project / "a,b:c.json").write_text(json.dumps(evil), encoding="utf-8")
    for form in ("github", "text"):
        said = command("lint", "a,b:c.json", "--format", form)
        assert "\x1b" not in said.out and "\u202e" not in said.out
        assert all(
            line.startswith(
                (
                    "::error file=a%2Cb%3Ac.json",
                    "::warning file=",
                    "::notice file=",
                    "a,b:c.json",
                    "    ",
                )
            )
            for line in said.out.splitlines()
        )


def test_strict_fails_on_warnings_and_severity_leaves_them_out(
    command: Command, project: Path
) -> None:
    document = {
        "tools": [
            {
                "name": "read_x",
                "description": "Read one thing from the store.",
                "inputSchema": {"type": "object"},
            }
        ]
    }
    (project / "tools.json").write_text(json.dumps(document), encoding="utf-8")
    assert command("lint", "tools.json").code == 0
    assert command("lint", "tools.json", "--strict").code == 1
    said = command("lint", "tools.json", "--strict", "--severity", "error")
    assert (said.code, said.out) == (0, "")


@pytest.mark.parametrize(
    ("text", "line"), [("{\n", 2), ('{"a": 1,\n "a": 2}', 2), ("", 1), ("\x00", 1), ("[" * 90, 1)]
)
def test_a_file_that_is_not_json_is_4_alone_and_a_finding_among_others(
    command: Command, tools: Path, text: str, line: int
) -> None:
    (tools.parent / "bad.json").write_text(text, encoding="utf-8")
    said = command("lint", "bad.json", "--json")
    assert said.code == 4
    assert said.document["error"]["code"] == "invalid_document"
    assert [finding["line"] for finding in said.document["findings"]] == [line]
    said = command("lint", "bad.json", "tools.json", "--json")
    assert said.code == 1 and "error" not in said.document
    assert "layout-unreadable" in {finding["rule"] for finding in said.document["findings"]}
    assert command("lint", "bad.json").code == 4


@pytest.mark.parametrize(
    ("arguments", "code", "hint"),
    [
        (("--select", "schema-rot"), 2, "schema-root"),
        (("--ignore", "nonsense"), 2, "known"),
        (("--target", "openia"), 2, "openai"),
        (("--explain", "schema-rot"), 2, "schema-root"),
        (("--format", "xml"), 2, "lint --help"),
        (("nowhere",), 3, "vespe lint"),
    ],
)
def test_what_is_mistyped_is_told_with_the_nearest(
    command: Command, arguments: tuple[str, ...], code: int, hint: str
) -> None:
    said = command("lint", *arguments)
    assert said.code == code
    assert hint in said.err


def test_outside_a_project_a_file_is_linted_and_nothing_is_3(
    command: Command, tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command("lint", str(tools)).code == 1
    said = command("lint", "--json")
    assert said.code == 3 and said.document["error"]["code"] == "project_not_found"


def test_selectors_and_targets_may_be_separated_by_commas(command: Command, tools: Path) -> None:
    found = command(
        "lint", "tools.json", "--json", "--select", "schema-root,schema-unknown-type"
    ).document["findings"]
    assert {finding["rule"] for finding in found} == {"schema-root", "schema-unknown-type"}
    assert (
        command(
            "lint", "tools.json", "--target", "mcp, openai", "--ignore", "schema,description"
        ).code
        == 0
    )


def test_fix_mends_and_lints_what_is_left(command: Command, tools: Path) -> None:
    said = command("lint", "tools.json", "--fix")
    assert said.code == 0
    assert said.err.splitlines()[:2] == [
        'fixed schema-unknown-type in tools.json: read_x: the type "dict" at '
        '/tools/0/inputSchema is now "object"',
        "fixed schema-open in tools.json: read_x: added `additionalProperties` at "
        "/tools/0/inputSchema",
    ]
    assert json.loads(tools.read_text(encoding="utf-8"))["tools"][0]["inputSchema"] == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }


def test_fix_changes_nothing_that_is_not_reported(command: Command, tools: Path) -> None:
    before = tools.read_text(encoding="utf-8")
    said = command("lint", "tools.json", "--fix", "--select", "portability")
    assert (
        "nothing to fix: there are no findings" in said.err
        and tools.read_text(encoding="utf-8") == before
    )
    nothing = "nothing to fix: the finding has no safe fix"
    assert nothing not in said.err
    assert (
        command("tool", "create", "x", "--type", "python_script", "--description", "X.").code == 0
    )
    said = command("lint", "--fix", "--select", "description-too-short")
    assert "description-too-short" in said.out and nothing in said.err
    assert nothing not in command("lint", "--select", "description-too-short").err


def test_a_tool_is_named_by_its_name_and_a_broken_one_too(command: Command, project: Path) -> None:
    create = ("tool", "create", "brief", "--type", "python_script", "--description", "X.")
    assert command(*create).code == 0
    said = command("lint", "brief")
    assert said.code == 0 and "description-too-short: brief" in said.out
    assert "in 1 tool" in said.err and command("lint", "project_tools/brief").out == said.out
    config = project / ".vespe/tools/tool-brief/config.json"
    config.write_text('{"name": "brief", "uid": "tool-brief"', encoding="utf-8")
    said = command("lint", "brief")
    assert said.code in (1, 4) and ".vespe/tools/tool-brief/config.json" in said.out


def test_a_rule_is_explained(command: Command) -> None:
    said = command("lint", "--explain", "schema-unknown-type")
    assert said.code == 0
    assert "schema-unknown-type (error)" in said.out and '{"type": "float"}' in said.out


def test_a_family_lists_its_rules_and_a_word_that_means_none_leads_to_the_families(
    command: Command,
) -> None:
    said = command("lint", "--explain", "zzz")
    assert (
        f"known: those of {', '.join(FAMILIES)}; `vespe lint --explain FAMILY` lists one"
        in said.err
    )
    for family, rules in FAMILIES.items():
        assert [
            line.split("\t")[0] for line in command("lint", "--explain", family).out.splitlines()
        ] == [rule.code for rule in rules]


def test_linting_needs_no_trust_and_asks_nothing(command: Command, project: Path) -> None:
    write_tool(project / ".vespe" / "tools" / "tool-a")
    command("untrust", "--yes")
    assert command("lint").code in (0, 1)


def test_a_terminal_shows_progress_and_a_pipe_does_not(command: Command, project: Path) -> None:
    tools = [
        {"name": f"tool_{number}", "description": "Do it.", "inputSchema": {"type": "object"}}
        for number in range(12000)
    ]
    (project / "tools.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")
    assert "\r\x1b[Klinting, " in vespe_on_a_terminal(
        "lint", "tools.json", "--select", "schema", cwd=project, NO_COLOR=""
    )
    assert "linting" not in command("lint", "tools.json", "--select", "schema").err
