"""`vespe tool test`."""

import json
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import PATIENCE_S, interruptible, python_tool
from tests.support.terminal import plain, vespe_on_a_terminal

Command = Callable[..., Any]
GOOD = {"input": {}, "output": 1}


def test_examples_that_hold_pass(command: Command, project: Path) -> None:
    python_tool(
        project / ".vespe/tools/tool-one",
        "one",
        "return 1",
        examples=[GOOD, {"input": {"x": 1}, "error": "invalid_arguments"}],
    )
    document = command("tool", "test", "--json").document
    assert document["summary"] == {"passed": 2, "failed": 0, "tools": 1, "without_examples": []}


def test_an_example_that_fails_names_its_pointer_and_both_values(
    command: Command, project: Path
) -> None:
    python_tool(project / ".vespe/tools/tool-one", "one", "return 2", examples=[GOOD])
    said = command("tool", "test", "one")
    assert said.code == 1 and "FAIL one /examples/0: gave 2, expected 1" in said.out


def test_a_tool_without_examples_is_named(command: Command, project: Path) -> None:
    python_tool(project / ".vespe/tools/tool-one", "one", "return 2")
    assert "1 without examples: one" in command("tool", "test").err


def test_update_begins_the_examples_of_a_new_tool(command: Command) -> None:
    command("tool", "create", "made", "--type", "python_script")
    assert command("tool", "test", "made", "--update").code == 0
    (example,) = command("tool", "show", "made", "--json").document["examples"]
    assert example == {
        "input": {"text": "hello, world"},
        "output": {"characters": 12, "words": 2, "lines": 1},
    }
    assert command("tool", "test", "--json").document["summary"]["passed"] == 1


def test_update_makes_no_example_of_a_call_that_fails_or_that_nobody_allowed(
    command: Command, project: Path
) -> None:
    python_tool(project / ".vespe/tools/tool-one", "one", "raise ValueError('no')")
    python_tool(
        project / ".vespe/tools/tool-two", "two", "return 1", annotations={"destructiveHint": True}
    )
    said = command("tool", "test", "--update")
    assert said.code == 0 and "one has no example yet" in said.err
    assert said.out == ""  # what failed is no example, so there is none to show
    assert "examples" not in json.loads(
        (project / ".vespe/tools/tool-two/config.json").read_text(encoding="utf-8")
    )


def test_a_broken_tool_fails_and_hides_no_other(command: Command, project: Path) -> None:
    python_tool(project / ".vespe/tools/tool-one", "one", "return 1", examples=[GOOD])
    (project / ".vespe/tools/tool-broken").mkdir()
    (project / ".vespe/tools/tool-broken/config.json").write_text("{", encoding="utf-8")
    said = command("tool", "test", "--json")
    assert said.code == 1 and (
        said.document["summary"]["passed"],
        said.document["summary"]["failed"],
    ) == (1, 1)
    assert "FAIL tool-broken: " in command("tool", "test").out


def test_outputs_may_be_expected_by_schema_and_by_pattern(command: Command, project: Path) -> None:
    examples = [
        {"input": {}, "output_schema": {"required": ["n"]}},
        {"input": {}, "output_pattern": '"n":4\\d'},
    ]
    python_tool(project / ".vespe/tools/tool-one", "one", "return {'n': 42}", examples=examples)
    assert command("tool", "test").code == 0


def test_the_summary_names_the_pointer_to_what_failed(command: Command, project: Path) -> None:
    python_tool(
        project / ".vespe/tools/tool-one",
        "one",
        "return {'n': [1, 2]}",
        examples=[{"input": {}, "output": {"n": [1, 3]}}],
    )
    said = command("tool", "test")
    assert "one /examples/0/output/n/1: gave 2 at /n/1, expected 3" in said.err
    assert (
        command("tool", "test", "--json").document["results"][0]["at"] == "/examples/0/output/n/1"
    )


def test_results_are_written_as_junit_xml(command: Command, project: Path) -> None:
    python_tool(
        project / ".vespe/tools/tool-one",
        "one",
        "return 1",
        examples=[GOOD, {"input": {}, "output": 2}],
    )
    assert command("tool", "test", "--junit", "results.xml").code == 1
    suite = ElementTree.parse(project / "results.xml").getroot()[0]
    assert [(case.attrib["classname"], len(case)) for case in suite] == [
        ("project_tools.one", 0),
        ("project_tools.one", 1),
    ]
    assert suite[1][0].attrib["message"].startswith("/examples/1/output: gave 1, expected 2")


def test_outputs_are_recorded_and_then_hold(command: Command, project: Path) -> None:
    python_tool(
        project / ".vespe/tools/tool-one",
        "one",
        "return {'n': 1}",
        examples=[{"input": {}, "output": 5}, {"input": {}}],
    )
    said = command("tool", "test", "--update")
    assert said.code == 0 and "recorded 2 outputs of one" in said.err
    lines = said.out.splitlines()
    assert "FAIL" not in said.out and "2 passed, 0 failed" in said.err
    assert lines[0].startswith("new  one /examples/0: gave") and lines[1] == "ok   one /examples/1"
    config = json.loads((project / ".vespe/tools/tool-one/config.json").read_text(encoding="utf-8"))
    assert config["examples"] == [{"input": {}, "output": {"n": 1}}] * 2
    assert command("tool", "test").code == 0


def test_ctrl_c_ends_what_runs_at_once(project: Path) -> None:
    body = "import pathlib, time\npathlib.Path(place).write_text('begun')\ntime.sleep(60)"
    begun = project / "begun"
    examples = [{"input": {"place": str(begun)}}] * 3
    schema = {"type": "object", "properties": {"place": {"type": "string"}}}
    permissions = {"write": [str(project)]}
    python_tool(
        project / ".vespe/tools/tool-slow",
        "slow",
        body,
        params="place",
        schema=schema,
        examples=examples,
        permissions=permissions,
    )
    running = subprocess.Popen(
        [sys.executable, "-m", "vespe", "tool", "test"],
        cwd=project,
        stderr=subprocess.PIPE,
        env=interruptible(),
    )
    while not begun.exists():
        assert running.poll() is None
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    assert running.wait(timeout=PATIENCE_S) == 130 and b"interrupted" in running.communicate()[1]


def test_a_failing_call_or_another_expectation_is_not_recorded_away(
    command: Command, project: Path
) -> None:
    examples = [{"input": {}, "error": "timed_out"}, {"input": {}, "output_pattern": "^x"}]
    python_tool(project / ".vespe/tools/tool-one", "one", "return 'y'", examples=examples)
    said = command("tool", "test", "--update", "--json")
    assert said.code == 1 and said.document["summary"]["failed"] == 2


def test_the_examples_of_a_shadowed_tool_are_run_on_what_shadows_it(
    command: Command, project: Path
) -> None:
    command("kit", "activate", "file_io_without_git")
    python_tool(project / ".vespe/tools/tool-mine", "read_file", "return {}", params="path, **more")
    said = command("tool", "test", "--against", "file_io_without_git/read_file", "--json")
    assert said.code == 1 and {row["uid"] for row in said.document["results"]} == {"tool-mine"}
    same = command(
        "tool",
        "test",
        "file_io_without_git/read_file",
        "--against",
        "file_io_without_git/read_file",
    )
    assert same.code == 2 and "against itself" in same.err
    assert command("tool", "test", "--against", "read_file", "--update").code == 2


def test_examples_with_two_kinds_of_expectations_that_exclude_each_other_break_the_tool(
    command: Command, project: Path
) -> None:
    python_tool(
        project / ".vespe/tools/tool-one",
        "one",
        "return 1",
        examples=[{"input": {}, "output_pattern": "x", "error": "tool_error"}],
    )
    assert "has both `output_pattern` and `error`" in command("tool", "test").err


def test_a_person_sees_what_each_example_was_given_and_how_long_it_took(project: Path) -> None:
    examples = [{"input": {}, "output": 1}, {"input": {}, "output": 2}]
    python_tool(project / ".vespe/tools/tool-one", "one", "return 1", examples=examples)
    shown = vespe_on_a_terminal("tool", "test", cwd=project, NO_COLOR="")
    assert (
        "\x1b[32mok  \x1b[0m \x1b[1mone\x1b[0m {}  \x1b[2m" in shown
        and "\x1b[31m\x1b[1mFAIL\x1b[0m" in shown
    )
    assert plain(shown).count("gave 1, expected 2") == 1
    assert "error:" not in plain(shown) and "1 passed, 1 failed" in plain(shown)


def test_a_linked_kit_is_tested_without_a_project(
    command: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project.parent / "kits").mkdir()
    monkeypatch.chdir(project.parent / "kits")
    command("kit", "create", "team", "--in", ".")
    monkeypatch.chdir("team")
    lost = command("tool", "test")
    assert lost.code == 3 and "`vespe tool test --kit .`" in lost.err
    refused = command("tool", "test", "--kit", ".")
    assert refused.code == 6 and "`vespe kit link .`" in refused.err
    assert command("tool", "test", "--kit", ".", "--trust").code == 0
    command("kit", "link", ".")
    for name in (".", "team"):
        done = command("tool", "test", "--kit", name, "--json")
        assert done.code == 0 and done.document["summary"]["passed"] == 1
    assert command("tool", "test", "--kit", ".", "example_of_team").code == 0
    assert command("tool", "fuzz", "--kit", ".", "example_of_team", "--seconds", "0.2").code == 0
    assert command("tool", "test", "--kit", ".", "--project", str(project)).code == 2
    config = Path("tool-example_of_team/config.json")
    config.write_text("{", encoding="utf-8")
    assert command("tool", "test", "--kit", ".").code == 1
    monkeypatch.chdir(project)
    assert command("tool", "test", "--kit", "nowhere").code == 2
