"""`vespe tool run`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool, write_tool

Command = Callable[..., Any]
COUNT = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}


@pytest.fixture
def counted(project: Path) -> Path:
    return python_tool(
        project / ".vespe/tools/tool-count",
        "count",
        "print('working')\nreturn 'x' * inputs['count']",
        schema=COUNT,
    )


def test_a_string_result_is_printed_as_it_is_and_prints_go_to_stderr(
    command: Command, counted: Path
) -> None:
    said = command("tool", "run", "count", "count=3")
    assert (said.code, said.out) == (0, "xxx") and "working" in said.err


def test_json_is_the_outcome(command: Command, counted: Path) -> None:
    outcome = command("tool", "run", "count", "count=3", "--json").document
    assert {
        "ok": True,
        "result": "xxx",
        "tool": "count",
        "uid": "tool-count",
        "truncated": False,
    }.items() <= outcome.items()
    assert outcome["duration_ms"] > 0 and outcome["logs"] == "working\n"


@pytest.mark.parametrize(
    ("pair", "word"), [("count=three", "count"), ("cuont=3", "cuont"), ("count=1.5", "count")]
)
def test_p18_what_the_schema_refuses_is_5_and_names_the_argument(
    command: Command, counted: Path, pair: str, word: str
) -> None:
    said = command("tool", "run", "count", pair, "--json")
    assert said.code == 5 and said.document["error"]["retryable"] is True
    assert word in said.document["error"]["message"]


def test_p19_broken_json_never_runs_as_an_empty_object(command: Command, project: Path) -> None:
    marker = project / "ran"
    python_tool(project / ".vespe/tools/tool-mark", "mark", f"open({str(marker)!r}, 'w').close()")
    said = command("tool", "run", "mark", "--args", '{"a": ', "--json")
    assert (said.code, said.document["error"]["code"], marker.exists()) == (
        5,
        "invalid_json",
        False,
    )


def test_a_tool_that_nothing_resolves_is_3_with_the_nearest_name(
    command: Command, counted: Path
) -> None:
    said = command("tool", "run", "cuont", "--json")
    assert said.code == 3 and "count" in said.document["error"]["hint"]


def test_dry_run_shows_what_would_run_and_runs_nothing(command: Command, project: Path) -> None:
    implementation = {
        "type": "shell_command",
        "entrypoint": "touch",
        "args": {"argv": ["--", "{path}"]},
    }
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    write_tool(
        project / ".vespe/tools/tool-touch", "touch", implementation=implementation, schema=schema
    )
    plan = command("tool", "run", "touch", "path=made", "--dry-run").document
    assert plan["argv"] == ["touch", "--", "made"] and not (project / "made").exists()


def test_a_deadline_is_124(command: Command, project: Path) -> None:
    python_tool(project / ".vespe/tools/tool-slow", "slow", "import time\ntime.sleep(60)")
    said = command("tool", "run", "slow", "--timeout", "0.3", "--json")
    assert (said.code, said.document["error"]["code"]) == (124, "timed_out")
    told = " ".join(command("tool", "run", "slow", "--timeout", "0.3").err.split())
    assert "`vespe tool set slow limits.timeout_s=SECONDS`" in told


def test_the_log_keeps_arguments_only_when_asked(command: Command, counted: Path) -> None:
    command("tool", "run", "count", "count=1")
    command("tool", "run", "count", "count=2", "--log-arguments")
    first, second = command("log", "--json").document["calls"]
    assert "arguments" not in first and second["arguments"] == {"count": 2}


def test_a_call_that_succeeds_is_kept_as_an_example_once(command: Command, project: Path) -> None:
    python_tool(
        project / ".vespe/tools/tool-one",
        "one",
        "return inputs",
        schema={"type": "object", "properties": {"n": {"type": "integer"}}},
    )
    for said in (
        "added the call to the examples of one",
        "replaced the example of one that has the same arguments",
    ):
        saved = command("tool", "run", "one", "n=1", "--save-example")
        assert saved.out == '{\n  "n": 1\n}\n' and said in saved.err
    assert command("tool", "show", "one", "--json").document["examples"] == [
        {"input": {"n": 1}, "output": {"n": 1}}
    ]
    assert command("tool", "test", "one").code == 0


def test_a_call_that_fails_is_not_kept(command: Command, project: Path) -> None:
    python_tool(project / ".vespe/tools/tool-one", "one", "raise ValueError('no')")
    failed = command("tool", "run", "one", "--save-example")
    assert failed.code == 1 and "no example was saved" in failed.err
    refused = command("tool", "run", "one", "nope=1", "--save-example")
    assert refused.code == 5 and "no example was saved" in refused.err
    assert "no example was saved" not in command("tool", "run", "one").err
    assert "examples" not in command("tool", "show", "one", "--json").document


def test_a_tool_whose_configuration_is_broken_is_named_by_its_directory(
    command: Command, project: Path
) -> None:
    (project / ".vespe/tools/tool-boom").mkdir()
    (project / ".vespe/tools/tool-boom/config.json").write_text('{\n"name" "boom"}', "utf-8")
    for name in ("boom", "project_tools/boom", "Boom"):
        said = command("tool", "run", name)
        assert said.code == 4 and "config.json:2:" in said.err and "is not JSON" in said.err
    assert command("tool", "run", "bo").code == 3


def test_a_misspelt_key_of_the_project_is_told(command: Command, project: Path) -> None:
    (project / ".vespe/config.json").write_text('{"active_kit": [], "x_later": 1}', "utf-8")
    said = command("tool", "list")
    assert "/active_kit in .vespe/config.json is not a project setting" in (said.err)
    assert "x_later" not in said.err and "active_kits" in command("lint").out
