"""Keyrings for tests: one of the tests' own, which the library `keyring` finds by the user's
settings as any other; and GNOME's, in a session of its own.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_BACKEND = """
import json, os, time
from keyring import backend, errors

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "entries.json")


class Keyring(backend.KeyringBackend):
    priority = 1

    def _entries(self):
        with open(FILE, encoding="utf-8") as file:
            entries = json.load(file)
        fault = entries.get("fault")
        if fault == "locked":
            raise errors.KeyringLocked("Failed to unlock the collection!")
        if fault == "slow":
            time.sleep(60)
        if fault == "killed":
            os.kill(os.getpid(), 9)
        if fault == "broken":
            raise RuntimeError("the bus is gone")
        return entries

    def _write(self, entries):
        with open(FILE, "w", encoding="utf-8") as file:
            json.dump(entries, file)

    def get_password(self, service, username):
        return self._entries().get(f"{service}/{username}")

    def set_password(self, service, username, password):
        self._write({**self._entries(), f"{service}/{username}": password})

    def delete_password(self, service, username):
        entries = self._entries()
        del entries[f"{service}/{username}"]
        self._write(entries)
"""


def use_a_keyring(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the library `keyring` find a keyring that is a file; return its path. A `fault` in there
    (locked, slow, killed, broken) is what is wrong with it.
    """
    directory = home / "keyring"
    directory.mkdir()
    (directory / "tests_keyring.py").write_text(_BACKEND, encoding="utf-8")
    (directory / "entries.json").write_text("{}", encoding="utf-8")
    settings = home / "config/python_keyring/keyringrc.cfg"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(
        f"[backend]\ndefault-keyring=tests_keyring.Keyring\nkeyring-path={directory}\n",
        encoding="utf-8",
    )
    monkeypatch.delenv("PYTHON_KEYRING_BACKEND", raising=False)
    return directory / "entries.json"


def in_gnomes_session(code: str, place: Path) -> "subprocess.CompletedProcess[str]":
    """Run Python in a session of D-Bus whose keyring is GNOME's, unlocked; skips the test where
    this machine has none.
    """
    for program in ("dbus-run-session", "gnome-keyring-daemon"):
        if not shutil.which(program):
            pytest.skip(f"this machine has no {program}")
    script = place / "gnome.py"
    script.write_text(code, encoding="utf-8")
    runtime = place / "run"
    runtime.mkdir(mode=0o700)
    unlocked = "printf pw | gnome-keyring-daemon --unlock --components=secrets >&2 && exec "
    return subprocess.run(
        ["dbus-run-session", "--", "sh", "-c", f'{unlocked} "$@"', "sh", sys.executable, script],
        capture_output=True,
        encoding="utf-8",
        cwd=Path(__file__).parents[2],
        env={
            **os.environ,
            "XDG_RUNTIME_DIR": str(runtime),
            "PYTHONPATH": str(Path(__file__).parents[2]),
        },
        timeout=120,
        check=False,
    )
