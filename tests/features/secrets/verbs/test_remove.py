"""`vespe secret remove`: the entry goes, and the value that Vespe kept."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.keyrings import use_a_keyring
from tests.support.terminal import vespe_on_a_terminal
from vespe.projects import user_config


def test_a_value_of_vespes_own_goes_with_its_secret_and_another_stays(
    command: Callable[..., Any], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = use_a_keyring(home, monkeypatch)
    entries.write_text('{"vespe/A": "a", "vespe/B": "b", "mine/C": "c"}', encoding="utf-8")
    for name, place in (("A", "vespe/A"), ("B", "vespe/B"), ("C", "mine/C")):
        user_config.set_value(f"secrets.{name}", {"ref": f"keyring:{place}"})
    done = command("secret", "remove", "A")
    assert done.code == 6 and "A" in user_config.load_user_config().secrets
    assert "Remove A and its value in keyring:vespe/A?" in " ".join(done.err.split())
    assert "hint: run it again with --yes" in done.err
    assert json.loads(command("secret", "remove", "A", "--yes", "--json").out) == {
        "name": "A",
        "store": "keyring",
        "place": "keyring:vespe/A",
        "removed": True,
    }
    done = command("secret", "rm", "C", "-y")
    assert "removed the reference C\n" in done.err
    assert json.loads(entries.read_text(encoding="utf-8")) == {"vespe/B": "b", "mine/C": "c"}
    assert command("secret", "remove", "A", "-y").code == 3
    # What is gone from its store already can be removed all the same.
    entries.write_text("{}", encoding="utf-8")
    assert command("secret", "remove", "B", "-y").code == 0
    assert user_config.load_user_config().secrets == {}


def test_the_question_says_that_only_the_reference_goes(home: Path, tmp_path: Path) -> None:
    user_config.set_value("secrets.C", {"command": ["echo", "hunter2"]})
    shown = vespe_on_a_terminal("secret", "remove", "C", cwd=tmp_path, typed="y\n", columns=120)
    assert "Remove the reference C? The program `echo` stays as it is. [y/N]" in shown
    assert "removed the reference C" in shown and "hunter2" not in shown
    user_config.set_value("secrets.C", {"ref": "env:D"})
    shown = vespe_on_a_terminal("secret", "remove", "C", cwd=tmp_path, typed="y\n", columns=120)
    assert "Remove the reference C? env:D stays as it is. [y/N]" in shown


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("locked", "(tests_keyring.Keyring) is locked"),
        ("", "no keyring is available on this machine"),
    ],
)
def test_what_a_keyring_does_not_answer_for_can_be_replaced_and_removed_with_a_warning(
    command: Callable[..., Any], home: Path, monkeypatch: pytest.MonkeyPatch, fault: str, said: str
) -> None:
    entries = use_a_keyring(home, monkeypatch)
    entries.write_text(json.dumps({"fault": fault}), encoding="utf-8")
    if not fault:
        monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    for name in "AB":
        user_config.set_value(f"secrets.{name}", {"ref": f"keyring:vespe/{name}"})
    done = command("secret", "set", "A", "--ref", "env:OTHER", "--json")
    assert (done.code, json.loads(done.out)["place"]) == (0, "env:OTHER")
    assert "warning: the value of A may still be in keyring:vespe/A: " in done.err
    assert said in done.err
    done = command("secret", "remove", "B", "--yes", "--json")
    assert (done.code, json.loads(done.out)["removed"]) == (0, False)
    assert "warning: the value of B may still be in keyring:vespe/B: " in done.err
    assert user_config.load_user_config().secrets == {"A": {"ref": "env:OTHER"}}
