"""`vespe secret set`: a value goes into a store, or a reference into the configuration."""

import contextlib
import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.keyrings import use_a_keyring
from tests.support.terminal import environment_of
from vespe.projects import user_config

Run = Callable[..., Any]


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    def give(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))

    return give


def test_a_value_from_stdin_goes_into_the_keyring_and_no_output(
    command: Run, home: Path, monkeypatch: pytest.MonkeyPatch, given: Callable[[bytes], None]
) -> None:
    entries = use_a_keyring(home, monkeypatch)
    given(b"hunter2\n")
    done = command("secret", "set", "TOKEN", "--from", "-", "--json")
    assert json.loads(done.out) == {
        "name": "TOKEN",
        "store": "keyring",
        "place": "keyring:vespe/TOKEN",
    }
    assert json.loads(entries.read_text(encoding="utf-8")) == {"vespe/TOKEN": "hunter2"}
    assert "hunter2" not in done.out + done.err
    assert "hunter2" not in Path(user_config.config_path()).read_text(encoding="utf-8")
    given(b"hunter3")
    # It stays where it is, although nobody says where.
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    assert command("secret", "set", "TOKEN", "--from", "-").code == 6


def test_without_a_keyring_a_private_file_is_taken_and_said(
    command: Run, home: Path, monkeypatch: pytest.MonkeyPatch, given: Callable[[bytes], None]
) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    given(b"abc\r\n")
    done = command("secret", "set", "TOKEN", "--from", "-")
    assert done.code == 0 and "this machine has no keyring" in done.err
    assert "shorter than 4 characters" in done.err
    file = home / "config/vespe/secrets/TOKEN"
    assert (file.read_text(encoding="utf-8"), file.stat().st_mode & 0o777) == ("abc", 0o600)
    given(b"abcd")
    done = command("secret", "set", "TOKEN", "--from", "-", "--store", "keyring")
    assert done.code == 6 and "no keyring is available on this machine" in done.err
    assert file.read_text(encoding="utf-8") == "abc"


def test_a_reference_takes_the_place_of_a_value_that_is_removed(
    command: Run, home: Path, given: Callable[[bytes], None]
) -> None:
    given(b"hunter2")
    assert command("secret", "set", "TOKEN", "--from", "-", "--store", "file").code == 0
    same = f"file:{home}/config/vespe/secrets/TOKEN"
    assert command("secret", "set", "TOKEN", "--ref", same).code == 0
    assert command("secret", "get", "TOKEN").out == "hunter2\n"
    given(b"hunter2")
    assert command("secret", "set", "TOKEN", "--from", "-", "--store", "file").code == 0
    done = command("secret", "set", "TOKEN", "--", "op", "read", "op://vault/item/--json")
    assert done.code == 0 and "TOKEN comes from the command op" in done.err
    assert user_config.load_user_config().secrets["TOKEN"] == {
        "command": ["op", "read", "op://vault/item/--json"]
    }
    assert not (home / "config/vespe/secrets/TOKEN").exists()
    assert command("secret", "set", "TOKEN", "--ref", "env:OTHER").code == 0
    assert user_config.load_user_config().secrets["TOKEN"] == {"ref": "env:OTHER"}
    done = command("secret", "set", "TOKEN", "--from", "-")
    assert done.code == 2 and "kept in env:OTHER, which Vespe does not change" in done.err


@pytest.mark.parametrize(
    ("words", "data", "said"),
    [
        (("A-B", "--from", "-"), b"x", "not the name of a secret"),
        (("A", "--from", "-"), b"", "it is empty"),
        (("A", "--from", "-"), b"\xff", "not UTF-8"),
        (("A", "--from", "-"), b"x" * 65537, "larger than 65536 bytes"),
        (("A", "--from", "/not/there"), b"", "cannot read /not/there"),
        (("A",), b"", "--from -"),
        (("A", "--ref", "op://x"), b"", "ref does not name a store"),
        (("A", "--ref", "env:B", "--from", "-"), b"x", "only one of"),
        (("A", "--store", "file", "--", "op"), b"x", "only one of"),
        (("A", "--", "./op"), b"", "absolute path"),
    ],
)
def test_what_cannot_be_kept_is_a_sentence_and_changes_nothing(
    command: Run, given: Callable[[bytes], None], words: tuple[str, ...], data: bytes, said: str
) -> None:
    given(data)
    done = command("secret", "set", *words)
    assert done.code in (1, 2) and said in done.err
    assert user_config.load_user_config().secrets == {}


def test_a_value_that_is_typed_is_not_shown(project: Path) -> None:
    shown = typed(project, "hunter2\n", "secret", "set", "TOKEN", "--store", "file")
    assert "stored TOKEN in file:" in shown and "hunter2" not in shown
    file = Path(os.environ["XDG_CONFIG_HOME"], "vespe/secrets/TOKEN")
    assert file.read_text(encoding="utf-8") == "hunter2"
    shown = typed(project, "     \n", "secret", "set", "TOKEN", "--store", "file")
    assert "cannot be a secret: it is empty" in shown
    assert file.read_text(encoding="utf-8") == "hunter2"


def test_an_empty_line_is_not_stored_and_asked_again(project: Path) -> None:
    shown = typed(project, "\nhunter2\n", "secret", "set", "TOKEN", "--store", "file")
    assert "an empty value is not stored; Ctrl-C cancels" in shown
    assert shown.count("Value of TOKEN") == 2 and "stored TOKEN in file:" in shown
    shown = typed(project, "\n\x03", "secret", "set", "OTHER", "--store", "file")
    assert "an empty value is not stored" in shown and "stored OTHER" not in shown


def test_a_keyring_that_is_not_there_is_named_before_a_value_is_asked_for(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    shown = typed(project, "hunter2\n", "secret", "set", "TOKEN", "--store", "keyring")
    assert "no keyring is available on this machine" in shown and "Value of" not in shown


def typed(project: Path, text: str, *words: str) -> str:
    """Run vespe on a terminal of its own, and type a line each time it asks; return what is shown."""
    ours, theirs = pty.openpty()
    lines = text.splitlines(keepends=True)
    # A session of its own, whose terminal this is: a password is asked for on /dev/tty.
    code = (
        "import fcntl, os, sys, termios\nos.setsid()\nfcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
        "from vespe.cli import main\nsys.exit(main(sys.argv[1:]))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, *words],
        cwd=project,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment_of(),
    ):
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # the other end is closed
            while chunk := os.read(ours, 65536):
                shown += chunk
                if lines and b"Value of " in shown and shown.endswith(b": "):
                    os.write(ours, lines.pop(0).encode())
    os.close(ours)
    return shown.decode("utf-8")
