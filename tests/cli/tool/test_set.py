"""`vespe tool set`."""

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from tests.support.ondisk import approve_bytes, python_tool
from vespe.cli.tool import field_options
from vespe.trust import gate

Command = Callable[..., Any]


@pytest.fixture
def tool(project: Path) -> Path:
    python_tool(project / ".vespe/tools/tool-a", "a", "return 1")
    return project / ".vespe/tools/tool-a/config.json"


def test_what_changed_is_written_and_shown(command: Command, tool: Path) -> None:
    os.chmod(tool, 0o600)
    done = command("tool", "set", "a", "limits.timeout_s=30", "description=Do it")
    assert done.code == 0 and '+    "timeout_s": 30' in done.out
    said = json.loads(tool.read_text(encoding="utf-8"))
    assert (said["limits"], said["description"]) == ({"timeout_s": 30}, "Do it")
    assert stat.S_IMODE(tool.stat().st_mode) == 0o600
    assert "has that already" in command("tool", "set", "a", "limits.timeout_s=30").err
    assert command("tool", "set", "a", "--unset", "limits.timeout_s").code == 0
    assert "limits" not in json.loads(tool.read_text(encoding="utf-8"))


def test_the_page_follows_in_what_vespe_wrote(command: Command, project: Path) -> None:
    command("tool", "create", "order", "--url", "https://shop.example/{item}")
    config = project / ".vespe/tools/tool-order/config.json"
    page = config.with_name("description.md")
    words = ("tool", "set", "order", "schema.input.properties.item.description=the item")
    before = page.read_text(encoding="utf-8")
    command(*words, "--dry-run")
    assert page.read_text(encoding="utf-8") == before
    page.write_text(before + "\nMy own words.\n", encoding="utf-8")
    page.chmod(0o600)
    assert command(*words, "description=Order it").code == 0
    said = page.read_text(encoding="utf-8")
    assert said.startswith("# order\n\nOrder it\n\n## Inputs\n")
    assert "| `item` | string | yes |  | the item |\n\nMy own words.\n" in said
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    page.write_text("# My own page\n", encoding="utf-8")
    command("tool", "set", "order", "schema.input.properties.item.type=number")
    assert page.read_text(encoding="utf-8") == "# My own page\n"


@pytest.mark.parametrize("page", ["", "# order\n", b"# \xff\n", None])
def test_a_page_or_a_tool_that_is_wrong_stops_no_change(
    command: Command, project: Path, page: str | bytes | None
) -> None:
    command("tool", "create", "order", "--url", "https://shop.example/{item}")
    config = project / ".vespe/tools/tool-order/config.json"
    config.with_name("description.md").unlink()
    if page is not None:
        data = page.encode() if isinstance(page, str) else page
        config.with_name("description.md").write_bytes(data)
    wrong = {**json.loads(config.read_text(encoding="utf-8")), "schema": 7}
    config.write_text(json.dumps(wrong), encoding="utf-8")
    assert command("tool", "set", "order", "version=1").code == 0


def test_sync_updates_a_table_that_set_has_changed(command: Command, project: Path) -> None:
    source = project / "k.py"
    source.write_text("def k(a: int) -> int:\n    return a\n", encoding="utf-8")
    command("tool", "create", "k", "--from", "k.py:k")
    command("tool", "set", "k", "schema.input.properties.a.description=the a")
    source.write_text("def k(a: int, b: str) -> int:\n    return a\n", encoding="utf-8")
    command("tool", "sync", "k")
    page = (project / ".vespe/tools/tool-k/description.md").read_text(encoding="utf-8")
    assert "| `a` | integer | yes |  | the a |\n| `b` | string | yes |" in page


@pytest.mark.parametrize(
    ("option", "key"),
    [
        ("--timeout", "limits.timeout_s=SECONDS"),
        ("--not-read-only", "annotations.readOnlyHint=false"),
        ("--url=x", "implementation_details.path=URL"),
    ],
)
def test_an_option_of_create_is_answered_with_its_key(
    command: Command, tool: Path, option: str, key: str
) -> None:
    said = command("tool", "set", "a", option, "5")
    assert said.code == 2 and f"hint: `vespe tool set NAME {key}`" in said.err
    assert "--unset" in command("tool", "set", "a", "--unse", "version").err


def test_every_option_of_create_that_sets_a_key_has_one(command: Command) -> None:
    context = click.Context(field_options.field_options(click.Command("x")))
    names = [name for one in context.command.params for name in (*one.opts, *one.secondary_opts)]
    assert [name for name in names if not field_options.assignment_of(name)] == []


def test_what_is_refused_and_what_is_only_tried_writes_nothing(
    command: Command, tool: Path
) -> None:
    before = tool.read_bytes()
    assert command("tool", "set", "a", "limits.timeout_s=-1").code == 2
    assert command("tool", "set", "a", "version=2", "descripton=x").code == 2
    assert command("tool", "set", "a").code == 2
    assert command("tool", "set", "nope", "version=2").code == 3
    assert command("tool", "set", "a", "--unset", "version").code == 3
    said = command("tool", "set", "a", "version=2", "--dry-run", "--json").document
    assert (said["uid"], said["changed"], said["path"]) == ("tool-a", False, str(tool))
    assert '+  "version": "2"' in said["diff"] and tool.read_bytes() == before


def test_an_approval_goes_on_to_hold_with_this_change_alone(
    command: Command, project: Path, tool: Path
) -> None:
    def runs() -> bool:
        return bool(command("tool", "run", "a").code == 0)

    page = tool.with_name("description.md")
    page.write_text("# a\n\nDo it\n", encoding="utf-8")
    gate.untrust(project)
    command("tool", "set", "a", "version=1")
    assert not runs()
    approve_bytes(project)
    assert runs()
    command("tool", "set", "a", "description=Do it")
    command("tool", "set", "a", "description=Do that")
    assert runs() and page.read_text(encoding="utf-8") == "# a\n\nDo that\n"
    command("tool", "set", "a", "version=2")
    assert runs()
    command("tool", "set", "a", "--unset", "version")
    assert runs()
    (script,) = tool.parent.glob("*.py")
    script.write_text(script.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert not runs()
    command("tool", "set", "a", "version=3")
    assert not runs()


def test_a_secret_that_is_declared_so_reaches_the_tool(
    command: Command, project: Path, tool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "hunter2hunter2")
    gate.untrust(project)
    approve_bytes(project)
    command("tool", "set", "a", 'secrets=["TOKEN"]')
    assert command("tool", "run", "a").code == 0
