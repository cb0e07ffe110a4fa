"""`mcp serve --tools-mode code`: a client's model writes programs, whose calls go the one path."""

from pathlib import Path

import pytest

from tests.support.ondisk import python_tool
from vespe.calls import log
from vespe.errors import ToolNotFound
from vespe.features.mcp.server.call_client import CallClient
from vespe.features.mcp.server.selection import Selection
from vespe.features.mcp.server.served_client import ServedClient
from vespe.features.mcp.server.tools import ServedTools
from vespe.features.programs.running import PROGRAM_TOOL
from vespe.models import Outcome
from vespe.projects import user_config
from vespe.projects.workspace import open_workspace

pytest.importorskip("pydantic_monty")


def test_programs_run_over_the_tools_that_are_served(project: Path, home: Path) -> None:
    python_tool(project / ".vespe/tools/tool-one", "one", "return 1")
    python_tool(project / ".vespe/tools/tool-two", "two", "return 2")
    user_config.set_value("approvals.deny", ["two"])
    with ServedTools(
        open_workspace(str(project)), trusted=True, selection=Selection(mode="code")
    ) as tools:
        assert tools.names == ("describe_tool", "run_code", "search_tools")

        def run(code: str) -> Outcome:
            return tools.call("run_code", {"code": code}, cancel=None, progress=None)[0]

        assert run("print('x')\none() + 1").result == {"result": 2, "printed": "x\n"}
        denied = run("two()").error
        assert denied is not None and "there is no tool or variable called 'two'" in denied.message
        wrong = tools.call("run_code", {"cod": 1}, cancel=None, progress=None)[0].error
        assert wrong is not None and wrong.code == "invalid_arguments"
        found = tools.call("search_tools", {"query": "one"}, cancel=None, progress=None)[0].result
        assert found["tools"][0]["function"].startswith("def one(")
        with pytest.raises(ToolNotFound):
            tools.call("call_tool", {"name": "one"}, cancel=None, progress=None)
    lines = log.read(str(project))
    assert [line["tool"] for line in lines] == ["one", "run_code", "run_code"]
    assert lines[0]["parent"] == lines[1]["call"]


def test_a_program_passes_what_its_client_was_shown_in_part_to_a_tool(
    project: Path, home: Path
) -> None:
    text = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    body = "return len(text)"
    python_tool(project / ".vespe/tools/tool-one", "one", body, schema=text, params="text")
    with ServedTools(
        open_workspace(str(project)), trusted=True, selection=Selection(mode="code")
    ) as tools:
        client = ServedClient()

        def run(code: str) -> Outcome:
            by = CallClient(client)
            return tools.call("run_code", {"code": code}, cancel=None, progress=None, by=by)[0]

        client.results.shown(PROGRAM_TOOL, run("'x' * 100_000"))
        [handle] = client.results.known
        found = run(f'one(text={{"$result": "{handle}"}})')
        assert found.result == 100_000
        unknown = run('one(text={"$result": "r99"})').error
        assert unknown is not None and "r99" in unknown.message
    lines = log.read(str(project))
    assert [(line["tool"], line["outcome"]) for line in lines if line["tool"] == "one"] == [
        ("one", "ok")
    ]


def test_what_a_rule_asks_for_is_denied_in_the_program(project: Path, home: Path) -> None:
    given = {"input": {"type": "object", "properties": {"n": {"type": "integer"}}}}
    python_tool(project / ".vespe/tools/tool-one", "one", "return 1", schema=given["input"])
    user_config.set_value("approvals.ask", [{"tool": "one", "arguments": {"n": "2"}}])
    with ServedTools(
        open_workspace(str(project)), trusted=True, selection=Selection(mode="code")
    ) as tools:
        code = "try:\n    one(n=2)\nexcept PermissionError as e:\n    r = str(e)\nr"
        outcome = tools.call("run_code", {"code": code}, cancel=None, progress=None)[0]
        assert "approval" in outcome.result


def test_a_tool_that_breaks_while_a_program_runs_takes_nothing_from_its_result(
    project: Path, home: Path
) -> None:
    user_config.set_value("sandbox", "off")  # it writes where a tool may not
    config = project / ".vespe/tools/tool-two/config.json"
    python_tool(
        project / ".vespe/tools/tool-one",
        "one",
        f"open({str(config)!r}, 'w').write('{{')\nreturn 1",
    )
    python_tool(project / ".vespe/tools/tool-two", "two", "return 2")
    with ServedTools(
        open_workspace(str(project)), trusted=True, selection=Selection(mode="code")
    ) as tools:
        outcome = tools.call("run_code", {"code": "one()"}, cancel=None, progress=None)[0]
    assert config.read_text(encoding="utf-8") == "{" and outcome.result == 1
    assert [line["outcome"] for line in log.read(str(project))] == ["ok", "ok"]


def test_the_code_of_a_program_that_is_refused_is_logged_without_secrets(
    project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "s3cr3t-value")
    python_tool(project / ".vespe/tools/tool-one", "one", "return 1", secrets=["TOKEN"])
    python_tool(project / ".vespe/tools/tool-two", "two", "return 2")
    with ServedTools(
        open_workspace(str(project)),
        trusted=True,
        selection=Selection(mode="code"),
        keep_arguments=True,
    ) as tools:
        for code in ("one('s3cr3t-value')", "x = 's3cr3t-value' +", "one_('s3cr3t-value')"):
            error = tools.call("run_code", {"code": code}, cancel=None, progress=None)[0].error
            assert error is not None and error.code == "invalid_program"
    lines = log.read(str(project))
    assert [line["outcome"] for line in lines] == ["invalid_program"] * 3
    assert "s3cr3t-value" not in str(lines) and "one('***')" in str(lines)
