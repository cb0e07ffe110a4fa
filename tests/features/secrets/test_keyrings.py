"""Keyrings that are there, locked, slow, killed, broken and missing; and GNOME's own."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.installs import install_without
from tests.support.keyrings import in_gnomes_session, use_a_keyring
from vespe.errors import SecretUnavailable
from vespe.features.secrets import keyrings
from vespe.features.secrets.sources import MOST_BYTES, SecretRequest, fetch

SECRET = "hunter2-and-more"


@pytest.fixture
def entries(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return use_a_keyring(home, monkeypatch)


def asked() -> SecretRequest:
    reference = {"ref": "keyring:my/app/ada"}
    return SecretRequest(name="TOKEN", reference=reference, environment=os.environ)


def refused() -> str:
    with pytest.raises(SecretUnavailable) as caught:
        fetch(asked())
    text = f"{caught.value} ({caught.value.hint})"
    assert "keyring:my/app/ada" in text and caught.value.hint and SECRET not in text
    return text


def test_an_entry_is_the_value(entries: Path) -> None:
    keyrings.write("my/app/ada", SECRET, os.environ, fails=asked().fails)
    assert json.loads(entries.read_text(encoding="utf-8")) == {"my/app/ada": SECRET}
    assert fetch(asked()) == SECRET
    assert keyrings.is_usable(os.environ)
    assert keyrings.delete("my/app/ada", os.environ, asked().fails)
    assert not keyrings.delete("my/app/ada", os.environ, asked().fails)
    text = refused()
    assert "has no such entry" in text and "`keyring set my/app ada` puts one there" in text


def test_what_puts_an_entry_there_is_said_with_the_secrets_own_name(
    entries: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SecretUnavailable) as caught:
        fetch(replace(asked(), reference={"ref": "keyring:vespe/OTHER"}))
    assert caught.value.hint == "`vespe secret set OTHER` puts one there"
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    assert f"`vespe secret set {asked().name} --store file`" in refused()


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("locked", "(tests_keyring.Keyring) is locked"),
        ("slow", "did not answer within 1 s: it may be asking"),
        ("killed", "ended with signal 9"),
        ("broken", "ended with code 1: RuntimeError: the bus is gone"),
    ],
)
def test_a_keyring_that_gives_nothing_says_why(
    entries: Path, monkeypatch: pytest.MonkeyPatch, fault: str, said: str
) -> None:
    monkeypatch.setattr(keyrings, "TIMEOUT_S", 1.0 if fault == "slow" else 30.0)
    entries.write_text(json.dumps({"fault": fault, "my/app/ada": SECRET}), encoding="utf-8")
    text = refused()
    assert said in text and ("--store file" in text or fault != "locked")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("", "empty"),
        ("x" * (MOST_BYTES + 1), "larger than"),
        ("x" * 2**20, "large"),
        ("a\0", "NUL"),
    ],
)
def test_an_entry_that_is_no_usable_value_is_refused(entries: Path, value: str, said: str) -> None:
    entries.write_text(json.dumps({"my/app/ada": value}), encoding="utf-8")
    assert said in refused()


def test_a_machine_without_a_keyring_says_what_else_there_is(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    text = refused()
    assert "no keyring is available on this machine" in text and "--store file" in text
    assert not keyrings.is_usable(os.environ)


def test_without_the_library_the_extra_is_named(home: Path, tmp_path: Path) -> None:
    code = (
        "import os\nfrom vespe.features.secrets import keyrings\n"
        "assert not keyrings.is_usable(os.environ)\n"
        "keyrings.read('a/b', os.environ, None)"
    )
    done = install_without(tmp_path / "bare", "keyring").run("-c", code, cwd=tmp_path)
    assert "MissingExtra: the keyring needs the extra vespe[keyring]" in done.stderr


GNOME = f"""
import os
import secretstorage
from vespe.features.secrets import keyrings
from vespe.features.secrets.sources import SecretRequest, fetch

asked = SecretRequest(name="T", reference={{"ref": "keyring:vespe/T"}}, environment=os.environ)
keyrings.write("vespe/T", {SECRET!r}, os.environ, fails=asked.fails)
print(fetch(asked) == {SECRET!r}, keyrings.is_usable(os.environ))
secretstorage.get_default_collection(secretstorage.dbus_init()).lock()
try:
    fetch(asked)
except Exception as error:
    print(error)
"""


def test_gnomes_keyring_keeps_a_secret_and_says_when_it_is_locked(
    home: Path, tmp_path: Path
) -> None:
    done = in_gnomes_session(GNOME, tmp_path)
    first, second = done.stdout.splitlines()
    assert first == "True True", done.stderr
    assert second == (
        "the secret T cannot be read from keyring:vespe/T: "
        "the keyring (SecretService.Keyring) is locked"
    )
