"""Rules on files."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool, write_tool
from vespe.features.lint import subjects
from vespe.features.lint.base import Bounds, Found, Outline, Rule, SetRule, rules_in
from vespe.features.lint.rules import layout

RULES = rules_in(layout)


def found(directory: Path) -> dict[str, Found]:
    subject = subjects.of_tool(str(directory), kit_id=None)
    return {
        rule.code: one for rule in RULES if isinstance(rule, Rule) for one in rule.check(subject)
    }


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ("def greet():\n    pass\n", False),
        ("async def greet():\n    pass\n", False),
        ("greet = print\n", False),
        ("from os import getcwd as greet\n", False),
        ("if True:\n    def greet():\n        pass\n", False),
        ("class A:\n    def greet(self):\n        pass\n", True),
        ("def outer():\n    def greet():\n        pass\n", True),
        ("", True),
        ("def greet(:\n", True),
        ("\0", True),
        ("x = '''", True),
        ("(" * 3000 + ")" * 3000, True),
    ],
)
def test_an_entrypoint_is_looked_for_at_the_top_of_the_script(
    tmp_path: Path, body: str, wrong: bool
) -> None:
    directory = python_tool(tmp_path / "tool-a", "greet", "pass")
    (directory / "main.py").write_text(body, encoding="utf-8")
    assert ("layout-entrypoint" in found(directory)) is wrong


def test_a_script_that_is_no_utf8_is_told(tmp_path: Path) -> None:
    directory = python_tool(tmp_path / "tool-a", "greet", "pass")
    (directory / "main.py").write_bytes(b"\xff")
    assert found(directory)["layout-entrypoint"].file == "main.py"


def test_the_nearest_function_is_named(tmp_path: Path) -> None:
    directory = python_tool(tmp_path / "tool-a", "greet", "pass")
    (directory / "main.py").write_text("def great():\n    pass\n", encoding="utf-8")
    assert found(directory)["layout-entrypoint"].fix == "did you mean great?"


def test_a_fifo_for_a_config_is_told_and_never_waited_for(tmp_path: Path) -> None:
    directory = tmp_path / "tool-a"
    directory.mkdir()
    os.mkfifo(directory / "config.json")
    assert "not a regular file" in found(directory)["layout-unreadable"].message


@pytest.mark.parametrize(
    ("details", "slots"),
    [
        ({"type": "shell_command", "entrypoint": "cat", "args": {"argv": ["{a}", "{b}"]}}, 1),
        ({"type": "shell_command", "entrypoint": "awk", "args": {"argv": ["{print $1}", "{}"]}}, 0),
        (
            {
                "type": "http_request",
                "path": "https://example.com/{a}/{c}",
                "args": {"query": {"x": ["{d}"]}},
            },
            2,
        ),
        ({"type": "http_request", "path": "https://example.com/{a}"}, 0),
    ],
)
def test_braces_that_name_no_input_are_told(
    tmp_path: Path, details: dict[str, Any], slots: int
) -> None:
    directory = write_tool(
        tmp_path / "tool-a",
        implementation=details,
        schema={"type": "object", "properties": {"a": {}}},
    )
    subject = subjects.of_tool(str(directory), kit_id=None)
    [rule] = [rule for rule in RULES if rule.code == "layout-unknown-slot"]
    assert isinstance(rule, Rule)
    assert len(list(rule.check(subject))) == slots


def test_a_tools_own_file_is_no_program_on_path(tmp_path: Path) -> None:
    directory = write_tool(
        tmp_path / "tool-a",
        implementation={"type": "shell_command", "path": "run.sh"},
        files={"run.sh": ""},
    )
    (directory / "run.sh").chmod(0o755)
    assert "layout-program" not in found(directory)
    (directory / "run.sh").chmod(0o644)
    assert "executable" in found(directory)["layout-path"].message


def test_a_uid_that_two_scopes_have_is_told_at_the_second() -> None:
    [rule] = [rule for rule in RULES if isinstance(rule, SetRule)]
    outlines = [
        Outline(name=scope, description="", parameters=(), size=1, scope=scope, directory=directory)
        for scope, directory in (("a", "/a/tool-x"), ("b", "/b/tool-x"), ("c", None), ("d", None))
    ]
    assert [index for index, _ in rule.check(outlines, Bounds())] == [1]
    for first, second in ((True, False), (False, True)):
        beside = [replace(outlines[0], linted=first), replace(outlines[1], linted=second)]
        told = list(rule.check(beside, Bounds()))
        assert [index for index, _ in told] == [0 if first else 1]


def test_a_project_tool_that_claims_a_kit_is_noticed(tmp_path: Path) -> None:
    directory = python_tool(tmp_path / "tool-a", "greet", "pass", kit_id="elsewhere")
    assert "names the kit" in found(directory)["layout-kit-id"].message


def test_a_project_tool_of_no_kit_is_well(tmp_path: Path) -> None:
    assert "layout-kit-id" not in found(python_tool(tmp_path / "tool-a", "greet", "pass"))
