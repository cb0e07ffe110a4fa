"""`vespe secret move`: plain values leave the configuration."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.keyrings import use_a_keyring
from vespe.projects import user_config


def test_all_plain_values_go_into_a_store_and_the_rest_stays(
    command: Callable[..., Any], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = use_a_keyring(home, monkeypatch)
    for name, said in (("A", "hunter2"), ("B", "hunter3"), ("C", {"ref": "env:D"})):
        user_config.set_value(f"secrets.{name}", said)
    done = command("secret", "move", "--json")
    assert json.loads(done.out)["moved"] == [
        {
            "name": name,
            "from": "your configuration",
            "store": "keyring",
            "place": f"keyring:vespe/{name}",
        }
        for name in "AB"
    ]
    assert user_config.load_user_config().secrets == {
        "A": {"ref": "keyring:vespe/A"},
        "B": {"ref": "keyring:vespe/B"},
        "C": {"ref": "env:D"},
    }
    user_config.set_value("secrets.E", "  ")
    assert "contains no secrets" in command("secret", "move").err
    assert (
        "moved A from keyring:vespe/A to file:"
        in command("secret", "move", "A", "--store", "file").err
    )
    assert json.loads(entries.read_text(encoding="utf-8")) == {"vespe/B": "hunter3"}
    assert command("secret", "get", "A").out == "hunter2\n"
    user_config.set_value("secrets.A.docs_url", "https://a.example")
    assert command("secret", "move", "A", "--store", "file").code == 0
    assert (home / "config/vespe/secrets/A").read_text(encoding="utf-8") == "hunter2"
    for name, code in (("C", 2), ("NONE", 3)):
        assert command("secret", "move", name, "--store", "file").code == code
    assert command("secret", "move", "A", "B", "--store", "config").code == 0
    secrets = user_config.load_user_config().secrets
    assert (secrets["A"], secrets["B"]) == ("hunter2", "hunter3")


def test_a_name_that_no_variable_has_is_not_moved_and_leaves_no_copy(
    command: Callable[..., Any], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = use_a_keyring(home, monkeypatch)
    secrets = {"a.b": "hunter2", "../c": "hunter3", "D": "hunter4"}
    user_config.set_value("secrets", secrets)
    for name in ("a.b", "../c"):
        for store in ("file", "keyring"):
            done = command("secret", "move", "D", name, "--store", store)
            assert done.code == 2 and "is not the name of a secret" in done.err
    assert entries.read_text(encoding="utf-8") == "{}"
    assert not (home / "config/vespe/secrets").exists()
    assert user_config.load_user_config().secrets == secrets
    # The others go all the same.
    assert command("secret", "move").code == 0
    assert json.loads(entries.read_text(encoding="utf-8")) == {"vespe/D": "hunter4"}
    assert command("secret", "remove", "a.b", "--yes").code == 0
    assert command("secret", "remove", "a.b", "--yes").code == 3
    assert user_config.load_user_config().secrets == {
        "../c": "hunter3",
        "D": {"ref": "keyring:vespe/D"},
    }


def test_the_key_of_a_provider_is_moved_as_secrets_are(
    command: Callable[..., Any], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = use_a_keyring(home, monkeypatch)
    user_config.set_value("providers.groq", {"api": "openai", "api_key": "gsk-0123456789"})
    done = command("secret", "move")
    assert done.out == "" and "moved providers.groq.api_key" in done.err
    assert user_config.load_user_config().providers == {
        "groq": {"api": "openai", "api_key": {"ref": "keyring:vespe/providers.groq.api_key"}}
    }
    assert "gsk-0123456789" in entries.read_text(encoding="utf-8")
    assert command("secret", "get", "providers.groq.api_key").out == "gsk-0123456789\n"
    done = command("config", "get", "providers.groq.api_key")
    assert "keyring:vespe/providers.groq.api_key" in done.out
    assert command("secret", "move", "providers.groq.api_key", "--store", "file").code == 0
    assert (home / "config/vespe/secrets").is_dir() and entries.read_text("utf-8") == "{}"
    assert command("secret", "remove", "providers.groq.api_key", "--yes").code == 0
    assert user_config.load_user_config().providers == {"groq": {"api": "openai"}}
    assert list((home / "config/vespe/secrets").iterdir()) == []
