"""`vespe secret list`: names and places, and never a value."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool
from vespe.projects import user_config


def test_configured_and_needed_secrets_are_listed_and_none_is_fetched(
    command: Callable[..., Any], project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command("secret", "list", "--json").out.split() == ["{", '"secrets":', "[]", "}"]
    one = {"name": "ONE", "description": "it pays"}
    python_tool(project / ".vespe/tools/tool-a", "a", "return 1", secrets=[one, "PLAIN"])
    user_config.set_value("secrets.PLAIN", "hunter2")
    user_config.set_value("secrets.RUN", {"command": ["touch", str(project / "ran")]})
    done = command("secret", "list", "--json")
    assert json.loads(done.out)["secrets"] == [
        {
            "name": "ONE",
            "tools": ["a"],
            "store": None,
            "place": None,
            "environment": False,
            "description": "it pays",
            "docs_url": None,
        },
        {
            "name": "PLAIN",
            "store": "value",
            "place": "your configuration",
            "tools": ["a"],
            "environment": False,
            "description": None,
            "docs_url": None,
        },
        {
            "name": "RUN",
            "store": "command",
            "place": "the command touch",
            "tools": [],
            "environment": False,
            "description": None,
            "docs_url": None,
        },
    ]
    monkeypatch.setenv("PLAIN", "hunter3")
    text = command("secret", "list").out
    assert text.splitlines() == [
        "ONE\tnowhere\ta\tit pays",
        "PLAIN\tthe environment (then your configuration)\ta\t",
        "RUN\tthe command touch\t\t",
    ]
    monkeypatch.chdir(home)
    assert "RUN" in command("secret", "list").out
    assert not (project / "ran").exists()
