"""A kit that goes beyond what it states does not become active, and its tools do not run."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support import gitrepo
from tests.support.ondisk import python_tool, write_kit, write_tool
from vespe.errors import Refused
from vespe.kits.review import refuse_excess

Command = Callable[..., Any]


@pytest.fixture
def kits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VESPE_KITS_PATH", str(tmp_path / "kits"))
    return tmp_path / "kits"


def restate(kit: Path, **stated: Any) -> None:
    path = kit / "kit_config.json"
    path.write_text(
        json.dumps(json.loads(path.read_text(encoding="utf-8")) | stated), encoding="utf-8"
    )


def test_every_tool_and_all_that_it_wants_beyond_are_named(kits: Path) -> None:
    kit = write_kit(kits, "web", allow_types=["http_request"], secrets=[])
    python_tool(kit / "tool-a", "reads", "return 1", secrets=["KEY"])
    python_tool(kit / "tool-b", "fits", "return 1")
    with pytest.raises(
        Refused, match=r"'reads' is of type .* and needs the secret \"KEY\".*'fits' is of type"
    ) as refused:
        refuse_excess(str(kit), "web")
    assert set(refused.value.details["tools"]) == {"reads", "fits"}


def test_a_kit_within_its_limits_and_one_that_states_none_pass(kits: Path) -> None:
    kit = write_kit(kits, "web", allow_types=["python_script"], allow_hosts=[], secrets=["KEY"])
    python_tool(kit / "tool-a", "reads", "return 1", secrets=["KEY"])
    refuse_excess(str(kit), "web")
    restate(kit, allow_types=["python_script", "shell_command"])
    refuse_excess(str(kit), "web")


def test_activation_refuses_with_6_and_changes_nothing(
    command: Command, kits: Path, project: Path
) -> None:
    kit = write_kit(kits, "web", allow_hosts=["api.example.com"])
    details = {"type": "http_request", "path": "https://evil.example.com/x", "entrypoint": "GET"}
    write_tool(kit / "tool-a", "asks", implementation=details)
    said = command("kit", "activate", "web")
    assert said.code == 6 and "'asks' reaches \"evil.example.com\"" in said.err
    assert json.loads((project / ".vespe/config.json").read_bytes())["active_kits"] == []
    assert command("kit", "activate", "web", "--json").document["error"]["kit_id"] == "web"


def test_a_tool_of_an_active_kit_that_comes_to_go_beyond_is_broken_and_does_not_run(
    command: Command, kits: Path
) -> None:
    kit = write_kit(kits, "web", allow_types=["python_script"])
    python_tool(kit / "tool-a", "one", "return 1")
    assert (
        command("kit", "activate", "web").code == 0 and command("tool", "run", "one").out == "1\n"
    )
    command("tool", "list")  # whatever a listing keeps
    restate(kit, allow_types=["shell_command"])
    (row,) = command("tool", "list", "--all", "--json", "--kit", "web").document["tools"]
    assert row["status"] == "broken" and "`allow_types` has shell_command" in row["problem"]
    ran = command("tool", "run", "one")
    assert ran.code == 4 and "allow_types" in ran.err
    restate(kit, allow_types=["python_script"])
    assert command("tool", "run", "one").code == 0


def test_a_statement_of_the_wrong_type_makes_the_kit_unusable(command: Command, kits: Path) -> None:
    python_tool(write_kit(kits, "web", allow_types="any") / "tool-a", "one", "return 1")
    assert command("kit", "activate", "web").code == 4
    (kit,) = [
        kit for kit in command("kit", "list", "--json").document["kits"] if kit["kit_id"] == "web"
    ]
    assert 'must be a list, not the string "any" at /allow_types' in kit["problem"]


def test_two_kits_read_each_its_own_key_of_the_same_name_and_neither_the_other_s(
    command: Command, kits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "import os\nreturn os.environ[name][::-1]"
    for kit_id, names in (("a", ["TOKEN"]), ("b", ["TOKEN", "VESPE_A__TOKEN"])):
        kit = write_kit(kits, kit_id)
        for number, name in enumerate(names):
            schema = {"type": "object", "properties": {"name": {"type": "string", "default": name}}}
            python_tool(
                kit / f"tool-{kit_id}{number}",
                f"of_{kit_id}{number}",
                body,
                params="name",
                schema=schema,
                secrets=[name],
            )
    command("kit", "activate", "a", "b")
    monkeypatch.setenv("VESPE_A__TOKEN", "key-of-a")
    command("config", "set", "secrets.VESPE_B__TOKEN", "key-of-b")
    assert (command("tool", "run", "of_a0").out, command("tool", "run", "of_b0").out) == (
        "a-fo-yek",
        "b-fo-yek",
    )
    stolen = command("tool", "run", "of_b1")
    assert stolen.code == 6 and "key-of-a"[::-1] not in stolen.out
    monkeypatch.delenv("VESPE_A__TOKEN")
    missing = command("tool", "run", "of_a0")
    assert missing.code == 6 and "VESPE_A__TOKEN or TOKEN" in missing.err


def test_p36_a_kit_s_own_key_is_redacted_like_any_other(
    command: Command, kits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python_tool(
        write_kit(kits, "a") / "tool-a",
        "leak",
        "import os\nreturn os.environ['TOKEN']",
        secrets=["TOKEN"],
    )
    command("kit", "activate", "a")
    monkeypatch.setenv("VESPE_A__TOKEN", "hunter2-hunter2")
    said = command("tool", "run", "leak")
    assert said.code == 0 and "hunter2" not in said.out + said.err


def test_a_kit_that_goes_beyond_itself_is_not_installed_to_be_activated(
    command: Command, tmp_path: Path, project: Path
) -> None:
    python_tool(write_kit(tmp_path / "source", "web", allow_types=[]) / "tool-a", "one", "return 1")
    assert command("kit", "install", str(tmp_path / "source"), "--activate", "--yes").code == 6
    assert not (project / ".vespe/kits.lock.json").exists()
    said = command("kit", "install", str(tmp_path / "source"), "--yes")
    assert said.code == 0 and "the tool one of web will not run: it is of type" in said.err
    assert command("kit", "activate", "web").code == 6


def test_an_update_says_before_the_question_which_tool_of_an_active_kit_will_not_run(
    command: Command, tmp_path: Path
) -> None:
    source = gitrepo.published(tmp_path / "source", "rain")
    assert command("kit", "install", f"{source}@main", "--activate", "--yes").code == 0
    assert "will not run" not in command("kit", "update", "rain").err
    restate(source / "rain", allow_types=["shell_command"])
    gitrepo.commit(source)
    said = command("kit", "update", "rain")
    assert said.code == 6
    assert 'the tool rain_tool of rain will not run: it is of type "python_script"' in said.err
