"""`vespe config set`."""

import io
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


def test_a_secret_stays_text_and_its_file_is_private(command: Command, home: Path) -> None:
    assert command("config", "set", "secrets.PIN", "0123").code == 0
    assert command("config", "get", "secrets.PIN").out == "0123\n"
    assert stat.S_IMODE(os.stat(home / "config/vespe/config.json").st_mode) == 0o600


def test_a_secret_can_come_from_stdin_and_never_stand_in_a_history(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"t0ken\n"), encoding="utf-8"))
    command("config", "set", "secrets.TOKEN", "-")
    assert command("config", "get", "secrets.TOKEN").out == "t0ken\n"


def test_a_setting_is_removed_by_unset(command: Command) -> None:
    command("config", "set", "sandbox", "off")
    assert command("config", "set", "sandbox", "--unset", "--json").document["key"] == "sandbox"
    assert command("config", "get", "sandbox", "--json").document["origin"] == "default"


@pytest.mark.parametrize(
    "arguments",
    [("allow_hosts", "x"), ("nonsense", "1"), ("sandbox",), ("sandbox", "off", "--unset")],
)
def test_what_cannot_be_set_is_a_usage_error(command: Command, arguments: tuple[str, ...]) -> None:
    assert command("config", "set", *arguments).code == 2


def test_a_secret_that_looks_like_a_reference_is_warned_of_and_kept(command: Command) -> None:
    said = command("config", "set", "secrets.T", '{"ref": "env:hunter2"}')
    assert said.code == 0 and "vespe secret set --ref" in said.err and "hunter2" not in said.err
    assert "shorter than 4" in command("config", "set", "secrets.T", "xyz").err
    assert command("config", "set", "secrets.T", "a long value").err.count("\n") <= 1


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("approvals.deny", '"x"'),
        ("approvals.deny", "[1]"),
        ("approvals.denny", "[]"),
        ("approvals", '{"ask": {}}'),
    ],
)
def test_what_is_no_rule_on_calls_is_refused_before_it_stands_in_the_file(
    command: Command, home: Path, key: str, value: str
) -> None:
    said = command("config", "set", key, value)
    assert (said.code, "/approvals" in said.err, (home / "config/vespe/config.json").exists()) == (
        2,
        True,
        False,
    )
    assert (
        command(
            "config", "set", "approvals.deny", '["x", {"tool": "y", "arguments": {"path": "*"}}]'
        ).code
        == 0
    )


def test_a_project_is_set_for_everybody_who_works_on_it(command: Command, project: Path) -> None:
    file = str(project / ".vespe/config.json")
    said = command("config", "set", "--project", "tool_budget", "4000", "--json")
    assert said.document == {"key": "tool_budget", "path": file}
    assert command("config", "get", "tool_budget", "--json").document == {
        "key": "tool_budget",
        "value": 4000,
        "origin": file,
    }
    said = command("config", "set", "--project", "active_kits", '["nowhere"]')
    assert said.code == 0 and "nowhere" in said.err
    said = command("config", "set", "--project", "sandbox", "require")
    assert (said.code, "warning" in said.err) == (0, False)
    assert command("config", "set", "--project", "tool_budget", "--unset").code == 0
    missing = command("config", "get", "tool_budget")
    assert missing.code == 3 and "vespe config set --project tool_budget VALUE" in missing.err


def test_what_only_the_user_says_no_project_is_set_to(command: Command, project: Path) -> None:
    before = (project / ".vespe/config.json").read_bytes()
    for key, value in (("secrets.X", "1"), ("approvals.allow", '["x"]'), ("sandbox", "off")):
        said = command("config", "set", "--project", key, value)
        assert (said.code, "only the user can" in said.err) == (6, True)
    assert command("config", "set", "--project", "approvals.deny", "[1]").code == 2
    assert command("config", "set", "--project", "tool_budget", "no").code == 2
    assert (project / ".vespe/config.json").read_bytes() == before


def test_outside_a_project_there_is_none_to_set(
    command: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    assert command("config", "set", "--project", "tool_budget", "1").code == 3
    assert command("config", "get", "tool_budget").code == 3


def test_an_allow_rule_without_a_scope_says_that_it_is_about_kits(command: Command) -> None:
    said = command("config", "set", "approvals.allow", '["files/*", "order"]').err
    assert "for a tool of the project write project_tools/order" in " ".join(said.split())
    said = command("config", "set", "approvals.allow", '["project_tools/order"]').err
    assert "project_tools/" not in said.replace("approvals", "")
