"""`vespe secret check`: each secret is proved, and none is shown."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool
from vespe.projects import user_config


def test_what_the_tools_here_need_is_fetched_and_never_shown(
    command: Callable[..., Any], project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "no tool here needs a secret" in command("secret", "check").err
    user_config.set_value("secrets.OTHER", {"ref": "file:/not/there"})
    # Nothing here declares it, and it is looked at all the same.
    done = command("secret", "check")
    assert done.code == 1 and done.out.startswith("OTHER\tunavailable\tfile\t\t")
    python_tool(project / ".vespe/tools/tool-a", "a", "return 1", secrets=["ONE", "TWO"])
    user_config.set_value("secrets.ONE", {"command": ["echo", "hunter2"]})
    done = command("secret", "check", "--json")
    assert done.code == 1 and "hunter2" not in done.out + done.err
    assert json.loads(done.out)["secrets"] == [
        {
            "name": "ONE",
            "tools": ["a"],
            "source": "command",
            "description": None,
            "docs_url": None,
            "state": "ok",
            "message": None,
        },
        {
            "name": "TWO",
            "tools": ["a"],
            "source": None,
            "description": None,
            "docs_url": None,
            "state": "missing",
            "message": "has no value: `vespe secret set TWO`",
        },
    ]
    assert "`vespe secret set NAME --ref …`" in command("secret", "check", "TWO").err
    assert "--ref" not in command("secret", "check", "ONE").err
    assert command("secret", "check", "ONE").out == "ONE\tok\tcommand\ta\t\n"
    done = command("secret", "check", "OTHER")
    assert done.code == 1 and "OTHER\tunavailable\tfile\t\t" in done.out
    assert command("secret", "check", "A-B").code == 2
    monkeypatch.chdir(home)
    done = command("secret", "check")
    assert done.code == 1 and [line.split("\t")[0] for line in done.out.splitlines()] == [
        "ONE",
        "OTHER",
    ]
