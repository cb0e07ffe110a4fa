"""The process that asks a keyring, with the library `keyring` itself and a store of the tests' own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.keyrings import use_a_keyring
from vespe.features.secrets import keyring_child


def ask(do: str, **more: Any) -> dict[str, Any]:
    asked = {"do": do, "service": "vespe", "user": "A", "value": None, "path": [], **more}
    done = subprocess.run(
        [sys.executable, "-I", keyring_child.__file__],
        input=json.dumps(asked),
        capture_output=True,
        check=True,
        encoding="utf-8",
        env=dict(os.environ),
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_an_entry_is_written_read_and_deleted(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_a_keyring(home, monkeypatch)
    assert ask("get")["value"] is None
    ask("set", value="a välue")
    assert ask("get")["value"] == "a välue"
    assert ask("probe") == {"backend": "tests_keyring.Keyring", "usable": True}
    assert [ask("delete")["value"], ask("delete")["value"]] == ["a välue", None]


def test_a_keyring_that_only_seems_to_keep_is_none(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for backend in ("null", "fail"):
        monkeypatch.setenv("PYTHON_KEYRING_BACKEND", f"keyring.backends.{backend}.Keyring")
        assert ask("probe")["usable"] is False
        assert ask("set", value="x")["fault"] == "none"
