"""`vespe tool copy`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.ondisk import python_tool, write_kit

Command = Callable[..., Any]


def test_a_kits_tool_becomes_the_projects_own_and_shadows_it(
    command: Command, project: Any
) -> None:
    command("kit", "activate", "file_io_without_git")
    assert command("tool", "copy", "write_file").code == 0
    assert command("tool", "resolve", "write_file", "--json").document["scope"] == "project_tools"
    assert command("tool", "run", "write_file", "path=a", "content=b").code == 0
    assert (project / "a").read_text(encoding="utf-8") == "b"


def test_a_copy_may_have_another_name(command: Command) -> None:
    command("kit", "activate", "file_io_without_git")
    assert (
        command("tool", "copy", "file_io_without_git/read_file", "read_notes", "--json").document[
            "name"
        ]
        == "read_notes"
    )


def test_the_title_of_the_page_follows_the_name(command: Command, project: Path) -> None:
    command("tool", "create", "calc", "--url", "https://shop.example/{item}")
    command("tool", "copy", "calc", "calc9")
    own, copy = (
        (project / f".vespe/tools/tool-{name}/description.md").read_text(encoding="utf-8")
        for name in ("calc", "calc9")
    )
    assert copy.startswith("# calc9\n") and copy == own.replace("# calc\n", "# calc9\n")


def test_a_tool_of_an_inactive_kit_is_copied_by_its_whole_name(command: Command) -> None:
    # the example of the help, in a new project
    assert command("tool", "copy", "file_io_without_git/read_file", "read_notes").code == 0
    assert command("tool", "run", "read_notes", "path=.vespe/config.json", "--dry-run").code == 0
    assert command("tool", "list", "--json").document["tools"][0]["name"] == "read_notes"
    assert command("tool", "copy", "write_file").code == 3
    assert command("tool", "copy", "file_io_without_git/nope").code == 3
    assert command("tool", "copy", "no_kit/read_file").code == 3
    assert command("tool", "run", "file_io_without_git/read_file", "path=a").code == 3


def test_a_copy_of_a_kits_tool_names_the_secrets_that_it_has_no_value_for(
    command: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_kit(project, "shop", secrets=["SHOP_K", "HAD"])
    python_tool(project / "shop/tool-buy", "buy", "return 1", secrets=["SHOP_K", "HAD"])
    command("kit", "link", "./shop")
    monkeypatch.setenv("VESPE_SHOP__SHOP_K", "value-of-the-kit")
    monkeypatch.setenv("HAD", "value-of-all")
    said = command("tool", "copy", "shop/buy", "mine")
    assert said.code == 0 and "HAD" not in said.err
    assert "the copy needs the secret SHOP_K, which has no value" in said.err
    assert "VESPE_SHOP__SHOP_K is only looked up for tools of shop" in said.err
    assert "`vespe secret set SHOP_K`" in said.err
    monkeypatch.setenv("SHOP_K", "value-of-the-copy")
    assert "SHOP_K" not in command("tool", "copy", "shop/buy", "other").err
    assert "secret" not in command("tool", "copy", "mine", "third").err
