"""The audit: cases as files, every broken tool found, pointers that lead somewhere, ignores,
severities, places.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.lint_cases import CASES, Case, case_of, cases
from tests.support.ondisk import python_tool, write_kit, write_tool
from vespe.documents.pointers import resolve_pointer
from vespe.errors import NotFound
from vespe.features.lint import RULES, foreign
from vespe.features.lint.audit import Audit
from vespe.features.lint.findings import Finding
from vespe.features.lint.settings import Settings
from vespe.tools import directory as tool_directory

BROKEN = sorted((CASES.parent / "tools" / "bad").iterdir())


def lint(*paths: Path, **settings: Any) -> list[Finding]:
    return list(Audit(Settings(**settings)).findings([str(path) for path in paths]))


def codes(findings: list[Finding]) -> list[str]:
    return [finding.rule for finding in findings]


@pytest.mark.parametrize("case", cases("bad"), ids=lambda case: case.directory.name)
def test_a_bad_case_is_found_at_its_place(case: Case) -> None:
    assert case.findings
    assert case.found() == case.findings


@pytest.mark.parametrize("case", cases("good"), ids=lambda case: case.directory.name)
def test_a_good_case_has_nothing_to_find(case: Case) -> None:
    assert case.findings == []
    assert case.found() == []


@pytest.mark.parametrize("directory", BROKEN, ids=lambda path: path.name)
def test_every_tool_that_vespe_refuses_has_an_error(directory: Path) -> None:
    _, problems = tool_directory.check(directory)
    assert problems
    found = [f for f in lint(directory) if f.severity == "error"]
    assert found and all(f.line >= 1 and f.column >= 1 for f in found)


@pytest.mark.parametrize(
    "case",
    [c for c in cases("bad") if "unreadable" not in c.directory.name],
    ids=lambda case: case.directory.name,
)
def test_every_pointer_leads_to_a_place_of_the_file(case: Case) -> None:
    for finding in lint(case.directory if case.lint == "." else case.directory / case.lint):
        text = Path(finding.path).read_text(encoding="utf-8")
        if finding.pointer:
            resolve_pointer(json.loads(text), finding.pointer)


def test_a_tool_lets_a_rule_be_and_says_why(tmp_path: Path) -> None:
    directory = write_tool(
        tmp_path / "tool-a",
        implementation={"type": "shell_command", "entrypoint": "no-such-program"},
    )
    assert "layout-program" in codes(lint(directory))
    config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
    (directory / "config.json").write_text(
        json.dumps(config | {"lint": {"ignore": {"layout-program": "only in CI"}}}),
        encoding="utf-8",
    )
    assert not {"layout-program", "layout-unused-ignore"} & set(codes(lint(directory)))


def test_an_ignore_of_a_rule_that_is_not_asked_is_not_called_unused(tmp_path: Path) -> None:
    directory = write_tool(tmp_path / "tool-a", lint={"ignore": {"schema-open": "why not"}})
    assert "layout-unused-ignore" in codes(lint(directory))
    assert lint(directory, select=("layout-unused-ignore",)) == []


@pytest.fixture
def place(tmp_path: Path, home: Path) -> Path:
    root = tmp_path / "project"
    write_tool(
        root / ".vespe" / "tools" / "tool-a",
        implementation={"type": "shell_command", "entrypoint": "no-such-program"},
    )
    return root


def configure(root: Path, **document: Any) -> None:
    (root / ".vespe" / "config.json").write_text(json.dumps(document), encoding="utf-8")


def test_a_project_lets_a_rule_be_in_all_its_tools(place: Path) -> None:
    configure(place, lint={"ignore": {"layout-program": "only in CI"}})
    assert not {"layout-program", "layout-unused-ignore"} & set(codes(lint(place)))
    assert "layout-program" not in codes(lint(place / ".vespe" / "tools" / "tool-a"))


def test_a_projects_unused_ignore_is_told_at_its_place(place: Path) -> None:
    configure(place, lint={"ignore": {"schema-bomb": "it is large"}})
    [found] = [f for f in lint(place) if f.rule == "layout-unused-ignore"]
    assert (found.path.endswith(".vespe/config.json"), found.pointer) == (
        True,
        "/lint/ignore/schema-bomb",
    )


def test_a_project_gives_a_rule_another_severity(place: Path) -> None:
    configure(place, lint={"severity": {"layout-program": "error"}})
    assert [f.severity for f in lint(place) if f.rule == "layout-program"] == ["error"]


def test_a_project_selects_rules_and_the_command_line_wins(place: Path) -> None:
    configure(place, lint={"select": ["naming"]})
    assert codes(lint(place)) == []
    assert "layout-program" in codes(lint(place, select=("layout",)))


def test_tools_of_active_kits_are_compared_with_and_not_judged(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit = write_kit(tmp_path / "kits", "web")
    write_tool(
        kit / "tool-a",
        "other",
        implementation={"type": "shell_command", "entrypoint": "no-such-program"},
    )
    monkeypatch.setenv("VESPE_KITS_PATH", str(tmp_path / "kits"))
    configure(place, active_kits=["web"], tool_resolution_order=["active_kits", "project_tools"])
    audit = Audit(Settings())
    found = list(audit.findings([str(place)]))
    assert audit.tools == 1
    assert {Path(f.path).parent.name for f in found if f.rule == "layout-program"} == {"tool-a"}
    assert "layout-same-uid" in codes(found)
    assert not [f for f in found if str(kit) in f.path]


def test_a_project_whose_configuration_cannot_be_read_is_still_judged(place: Path) -> None:
    (place / ".vespe" / "config.json").write_text("{", encoding="utf-8")
    assert {"layout-unreadable", "layout-program"} <= set(codes(lint(place)))


def test_a_directory_of_tools_and_one_of_kits_and_one_of_files_are_judged(
    place: Path, tmp_path: Path
) -> None:
    assert "layout-program" in codes(lint(place / ".vespe" / "tools"))
    assert "layout-program" in codes(lint(place / ".vespe"))
    write_kit(tmp_path / "kits", "web")
    write_tool(
        tmp_path / "kits" / "web" / "tool-b",
        implementation={"type": "shell_command", "entrypoint": "no-such-program"},
    )
    assert "layout-program" in codes(lint(tmp_path / "kits"))
    assert "layout-unreadable" in codes(lint(CASES / "bad" / "layout-unreadable"))


def test_a_file_of_a_tool_means_the_tool(tmp_path: Path) -> None:
    directory = python_tool(tmp_path / "tool-a", "greet", "return 1", params="name")
    for file in ("config.json", "main.py", "description.md"):
        assert "signature-missing" in codes(lint(directory / file)), file


def test_what_did_not_change_is_not_judged(place: Path) -> None:
    write_tool(
        place / ".vespe" / "tools" / "tool-b",
        "other",
        implementation={"type": "shell_command", "entrypoint": "no-such-program"},
    )
    changed = (place / ".vespe" / "tools" / "tool-b").resolve()
    audit = Audit(Settings(), changed={str(changed), str(changed / "config.json")})
    found = list(audit.findings([str(place)]))
    assert {Path(f.path).parent.name for f in found} == {"tool-b"}
    assert audit.tools == 1


def test_a_path_that_is_not_there_or_empty_is_not_found(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(NotFound):
            lint(path)


def test_nothing_that_is_linted_is_run(tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    directory = python_tool(tmp_path / "tool-a", "greet", "return 1")
    source = (directory / "main.py").read_text(encoding="utf-8")
    (directory / "main.py").write_text(
        f"open({str(proof)!r}, 'w').close()\n{source}", encoding="utf-8"
    )
    lint(directory)
    assert not proof.exists()


def test_what_another_api_refuses_is_a_warning_until_that_api_is_asked_for(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    file = tmp_path / "tools.json"
    file.write_text(
        json.dumps(
            {"tools": [{"name": "a.b", "description": "Read a thing.", "inputSchema": schema}]}
        ),
        encoding="utf-8",
    )
    assert {f.severity for f in lint(file, select=("portability-name",))} == {"warning"}
    assert {f.severity for f in lint(file, select=("portability-name",), targets=("openai",))} == {
        "error"
    }
    assert lint(file, select=("portability-name",), targets=("mcp",)) == []


def real_files(shared: Path) -> list[Path]:
    tooldefs = shared / "corpus" / "tooldefs"
    return [
        *sorted((tooldefs / "mcp").glob("*.json")),
        *sorted((tooldefs / "recorded").glob("*.jsonl")),
    ]


def test_definitions_that_apis_accepted_have_no_error(shared: Path) -> None:
    findings = lint(*real_files(shared))
    definitions = sum(len(foreign.read(path).definitions) for path in real_files(shared))
    wrong = [f for f in findings if f.severity == "error"]
    assert len(wrong) <= definitions * 0.005, [(f.path, f.line, f.rule, f.message) for f in wrong]


def test_every_type_of_the_leaderboard_that_json_schema_does_not_know_is_found(
    shared: Path,
) -> None:
    folder = shared / "corpus" / "tooldefs" / "bfcl"
    known = {"string", "number", "integer", "boolean", "object", "array", "null"}
    seen = 0
    for file in sorted(folder.glob("[a-z]*.jsonl")):
        found = {(f.line, f.pointer) for f in lint(file, select=("schema-unknown-type",))}
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            wrong = [
                p
                for index, function in enumerate(json.loads(line)["function"])
                for p in types(function["parameters"], f"/function/{index}/parameters")
                if p[1] not in known
            ]
            assert {(number, f"/{number - 1}{pointer}") for pointer, _ in wrong} <= found, (
                file,
                number,
            )
            seen += len(wrong)
    assert seen > 2000


def types(schema: Any, at: str) -> list[tuple[str, Any]]:
    """A second, simpler walk, to judge the first."""
    if not isinstance(schema, dict):
        return []
    found = [(f"{at}/type", schema["type"])] if "type" in schema else []
    properties = schema.get("properties")
    for name, sub in properties.items() if isinstance(properties, dict) else ():
        found += types(sub, f"{at}/properties/{name.replace('~', '~0').replace('/', '~1')}")
    return found + types(schema.get("items"), f"{at}/items")


@pytest.mark.parametrize("code", RULES)
def test_every_rule_has_a_bad_case_and_a_good_twin(code: str) -> None:
    bad, good = (case_of(CASES / kind / code) for kind in ("bad", "good"))
    assert code in {row[0] for row in bad.findings}
    assert good.findings == [] and good.select == bad.select == (code,)


def test_every_hostile_document_has_a_finding_with_a_line(tmp_path: Path) -> None:
    folder = CASES.parent / "json"
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        target = tmp_path / "tools.json"
        target.write_bytes(file.read_bytes())
        found = lint(target)
        assert found and all(f.line >= 1 for f in found), file


def test_the_kits_that_ship_have_nothing_to_find() -> None:
    kits = CASES.parent.parent.parent / "kits"
    found = [
        f
        for f in lint(*sorted(path for path in kits.iterdir() if path.is_dir()))
        if f.severity != "info"
    ]
    assert [(f.path, f.line, f.rule, f.message) for f in found if f.rule != "layout-program"] == []


def test_lines_that_wrap_definitions_are_a_set_each(tmp_path: Path) -> None:
    definition = {
        "name": "read_it",
        "description": "Read a thing from the store.",
        "input_schema": {"type": "object"},
    }
    wrapped, bare = tmp_path / "wrapped.jsonl", tmp_path / "bare.jsonl"
    wrapped.write_text(f"{json.dumps({'tools': [definition]})}\n" * 2, encoding="utf-8")
    bare.write_text(f"{json.dumps(definition)}\n" * 2, encoding="utf-8")
    assert "sets-duplicate-name" not in codes(lint(wrapped))
    assert "sets-duplicate-name" in codes(lint(bare))


def test_each_of_thousands_of_definitions_in_a_file_has_its_own_line(tmp_path: Path) -> None:
    definition = {
        "name": "read_it",
        "description": "Read a thing from the store.",
        "inputSchema": {"type": "dict"},
    }
    (tmp_path / "tools.json").write_text(
        json.dumps({"tools": [{**definition, "name": f"read_{n}"} for n in range(3000)]}, indent=1),
        encoding="utf-8",
    )
    found = lint(tmp_path / "tools.json", select=("schema-unknown-type",))
    assert [f.line for f in found] == [7 + 7 * n for n in range(3000)]


def test_a_configuration_alone_is_judged_without_its_tools(place: Path, tmp_path: Path) -> None:
    configure(place, active_kits=["no_such_kit"])
    assert codes(lint(place / ".vespe" / "config.json")) == ["layout-project-config"]
    kit = write_kit(tmp_path, "web")
    (kit / "kit_config.json").write_text("[]", encoding="utf-8")
    assert codes(lint(kit / "kit_config.json")) == ["layout-unreadable"]


def test_a_configuration_that_did_not_change_is_not_judged(place: Path, tmp_path: Path) -> None:
    configure(place, active_kits=3)
    kit = write_kit(tmp_path, "web", name=3)
    (tmp_path / "tools.json").write_text("{", encoding="utf-8")
    for path in (place, kit, tmp_path / "tools.json"):
        assert lint(path) != []
        assert list(Audit(Settings(), changed=frozenset()).findings([str(path)])) == []


def test_progress_is_told_after_each_definition(place: Path) -> None:
    told: list[int] = []
    list(Audit(Settings(), progress=told.append).findings([str(place)]))
    assert told == [1]
