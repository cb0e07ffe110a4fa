"""The rule on what a kit's tool states."""

from pathlib import Path
from typing import Any

import pytest

from tests.features.lint.judging import rules_of
from tests.support.ondisk import write_tool
from vespe.features.lint import subjects
from vespe.features.lint.rules import permissions

RULES = rules_of(permissions)
SHELL = {"type": "shell_command", "entrypoint": "date", "args": {}}


@pytest.mark.parametrize(
    ("kit", "implementation", "extra", "said"),
    [
        ("web", SHELL, {}, True),
        ("web", SHELL, {"permissions": {}}, True),
        ("web", SHELL, {"permissions": {"memory_mb": 5}}, True),
        ("web", SHELL, {"permissions": {"network": []}}, False),
        (None, SHELL, {}, False),
        ("web", {**SHELL, "args": {"url": "https://a.example/"}}, {}, True),
        (
            "web",
            {"type": "http_request", "entrypoint": "GET", "path": "https://a.example/"},
            {},
            False,
        ),
        (
            "web",
            {"type": "mcp_tool", "entrypoint": "x", "args": {"url": "https://a.example/"}},
            {},
            False,
        ),
        ("web", {"type": "mcp_tool", "entrypoint": "x", "args": {"command": ["server"]}}, {}, True),
    ],
)
def test_a_tool_of_a_kit_says_what_it_uses(
    tmp_path: Path, kit: str | None, implementation: Any, extra: Any, said: bool
) -> None:
    directory = write_tool(tmp_path / "tool-a", implementation=implementation, **extra)
    subject = subjects.of_tool(str(directory), kit_id=kit)
    assert bool([found for rule in RULES for found in rule.check(subject)]) is said


def test_a_stated_path_that_is_a_link_out_of_the_project_is_told(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    project = tmp_path / "project"
    (project / "docs").mkdir(parents=True)
    (project / "out").symlink_to(tmp_path / "elsewhere")
    (project / "within").symlink_to(project / "docs")

    def said(name: str, *read: str) -> list[str]:
        directory = write_tool(
            project / ".vespe/tools" / name,
            implementation=SHELL,
            permissions={"read": [*read]},
        )
        subject = subjects.of_tool(str(directory), kit_id=None)
        return [found.message for rule in RULES for found in rule.check(subject)]

    assert said("tool-a", "docs", "within", "later") == []
    (message,) = said("tool-b", "docs", "out")
    assert '"out", which is a link to' in message and "elsewhere" in message
    assert said("tool-c", "out", str(tmp_path / "elsewhere")) == []
