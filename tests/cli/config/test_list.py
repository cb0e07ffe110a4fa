"""`vespe config list`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


def test_each_value_is_shown_with_the_file_that_it_came_from(
    command: Command, project: Path, home: Path
) -> None:
    command("config", "set", "sandbox", "off")
    settings = {s["key"]: s for s in command("config", "list", "--json").document["settings"]}
    assert settings["sandbox"]["origin"] == str(home / "config/vespe/config.json")
    assert settings["active_kits"]["origin"] == str(project / ".vespe/config.json")
    assert (
        str(home) in command("config", "list", "--origin").out
        and str(home) not in command("config", "list").out
    )


def test_secrets_are_masked(command: Command) -> None:
    command("config", "set", "secrets.TOKEN", "t0ken")
    said = command("config", "list", "--json")
    assert "t0ken" not in said.out and "secrets.TOKEN" in said.out


def test_p3_a_projects_configuration_never_widens_what_the_user_allows(
    command: Command, project: Path
) -> None:
    config = json.loads((project / ".vespe/config.json").read_text(encoding="utf-8"))
    widened = config | {"allow_hosts": ["10.0.0.1"], "secrets": {"TOKEN": "theirs"}}
    (project / ".vespe/config.json").write_text(json.dumps(widened), encoding="utf-8")
    settings = {
        s["key"]: s["value"] for s in command("config", "list", "--json").document["settings"]
    }
    assert settings["allow_hosts"] == [] and "secrets.TOKEN" not in settings
    warned = command("tool", "list").err
    assert "/allow_hosts" in warned and "/secrets in config.json is ignored" in warned


def test_outside_a_project_ones_own_settings_are_listed(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    assert command("config", "list").code == 0


def test_all_settings_are_listed_with_what_each_is_for(
    command: Callable[..., Any], project: Path
) -> None:
    said = command("config", "list", "--all", "--json").document["settings"]
    assert all([*one] == ["key", "value", "default", "origin", "description"] for one in said)
    (budget,) = [one for one in said if one["key"] == "tool_budget"]
    assert (budget["value"], budget["origin"]) == (None, "default") and budget["description"]
    lines = command("config", "list", "--all").out.splitlines()
    assert any(line.startswith("secrets.NAME\t\t") for line in lines)
    assert not any(line.startswith("secrets.NAME") for line in command("config", "list").out)
