"""`vespe secret check`: each secret is proved, and none is shown."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool, write_kit
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


def test_a_secret_of_a_kit_has_one_name_in_every_command(
    command: Callable[..., Any], project: Path
) -> None:
    write_kit(project, "shop", secrets=["SHOP_K"])
    python_tool(project / "shop/tool-buy", "buy", "return 1", secrets=["SHOP_K"])
    command("kit", "link", "./shop")
    command("kit", "activate", "shop")
    missing = command("secret", "check")
    assert missing.code == 1 and "`vespe secret set VESPE_SHOP__SHOP_K`" in missing.out
    user_config.set_value("secrets.VESPE_SHOP__SHOP_K", "hunter2-and-more")
    for verb in ("list", "check"):
        assert command("secret", verb).out.startswith("VESPE_SHOP__SHOP_K\t")
    assert command("secret", "check", "--json").document["secrets"][0]["name"] == "SHOP_K"
    for words in (("get", "SHOP_K"), ("remove", "SHOP_K", "--yes")):
        said = command("secret", *words)
        assert said.code == 3 and "it is stored as VESPE_SHOP__SHOP_K" in said.err
    other = command("secret", "get", "SHOP")
    assert other.code == 3 and "`vespe secret set SHOP` stores one" in other.err
