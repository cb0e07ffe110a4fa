"""Stores that are as they should be, missing, slow, huge, broken or somebody else's: a value, or a
sentence that names the store and what to do, and never the secret.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from vespe.errors import Interrupted, SecretUnavailable
from vespe.features.secrets.sources import MOST_BYTES, SecretRequest, fetch

SECRET = "hunter2-and-more"


def asked(reference: Any, **more: Any) -> SecretRequest:
    return SecretRequest(
        name="TOKEN", reference=reference, environment={"PATH": os.environ["PATH"], **more}
    )


def refused(reference: Any, **more: Any) -> str:
    """Return the sentence and the hint with which a reference is refused."""
    with pytest.raises(SecretUnavailable) as caught:
        fetch(asked(reference, **more))
    error = caught.value
    assert error.code == "secret_unavailable" and error.details["secret"] == "TOKEN"
    assert error.hint and str(error).startswith("the secret TOKEN cannot be read from ")
    text = f"{error} ({error.hint}) {error.details}"
    assert SECRET not in text
    return text


def program(code: str) -> dict[str, Any]:
    return {"command": [sys.executable, "-I", "-S", "-c", code]}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.touch(mode=0o600)
    return path


# Files


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (f"{SECRET}\n", SECRET),
        (f"{SECRET}\r\n", SECRET),
        (f" {SECRET} ", f" {SECRET} "),
        (f"{SECRET}\n\n", f"{SECRET}\n"),
        ("line 1\nline 2\n", "line 1\nline 2"),
        ("keyring:a/b", "keyring:a/b"),
        ("x" * MOST_BYTES, "x" * MOST_BYTES),
    ],
)
def test_a_file_is_its_content_without_one_line_end(file: Path, written: str, value: str) -> None:
    file.write_bytes(written.encode())
    assert fetch(asked({"ref": f"file:{file}"})) == value


def test_a_file_in_the_home_directory_and_behind_a_link_is_read(file: Path, home: Path) -> None:
    file.write_text(SECRET, encoding="utf-8")
    (home / "key").symlink_to(file)
    assert fetch(asked({"ref": "file:~/key"})) == SECRET


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "it is empty"),
        (b"\n", "it is empty"),
        (b"\xff\xfe", "not UTF-8"),
        (f"{SECRET}\0".encode(), "NUL"),
        (b"x" * (MOST_BYTES + 1), "larger than"),
    ],
)
def test_a_file_that_holds_no_usable_value_is_refused(file: Path, data: bytes, said: str) -> None:
    file.write_bytes(data)
    assert said in refused({"ref": f"file:{file}"})


def test_a_file_that_others_can_open_is_refused_with_the_command_that_mends_it(file: Path) -> None:
    file.write_text(SECRET, encoding="utf-8")
    for mode in (0o644, 0o640, 0o602, 0o601):
        file.chmod(mode)
        assert f"mode {mode:o}" in refused({"ref": f"file:{file}"})
    assert f"`chmod 600 {file}`" in refused({"ref": f"file:{file}"})


@pytest.mark.skipif(os.geteuid() == 0, reason="root's files are root's own")
def test_a_file_of_roots_is_not_to_be_mended_by_its_reader(home: Path) -> None:
    said = refused({"ref": "file:/etc/passwd"})
    assert "others can open the file" in said and "make your own copy" in said
    (home / "closed").touch(0o000)
    said = refused({"ref": f"file:{home}/closed"})
    assert "Permission denied" in said and "check that you can read it" in said


@pytest.mark.root
def test_a_file_of_another_user_is_refused(file: Path) -> None:
    file.write_text(SECRET, encoding="utf-8")
    os.chown(file, 12345, 12345)
    assert "another user (number 12345)" in refused({"ref": f"file:{file}"})


@pytest.mark.parametrize("behind_a_link", [False, True])
def test_p80_a_file_that_others_can_replace_is_refused(
    file: Path, tmp_path: Path, behind_a_link: bool
) -> None:
    file.write_text(SECRET, encoding="utf-8")
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    path = shared / "key"
    if behind_a_link:
        file.rename(path)
        file.symlink_to(path)
    else:
        path.symlink_to(file)
    said = refused({"ref": f"file:{file if behind_a_link else path}"})
    assert f"its directory {shared} can be written by everybody (mode 777)" in said
    assert f"`chmod go-w {shared}`" in said
    shared.chmod(0o1777)  # as /tmp: who may remove a file there is its owner alone
    assert fetch(asked({"ref": f"file:{path}"})) == SECRET


def test_what_is_no_file_is_refused_and_waits_for_nobody(file: Path, tmp_path: Path) -> None:
    assert "No such file" in refused({"ref": f"file:{tmp_path}/none"})
    assert "not a regular file" in refused({"ref": f"file:{tmp_path}"})
    os.mkfifo(tmp_path / "pipe", 0o600)
    assert "not a regular file" in refused({"ref": f"file:{tmp_path}/pipe"})
    (tmp_path / "loop").symlink_to("loop")
    assert "symbolic links" in refused({"ref": f"file:{tmp_path}/loop"})


# Variables


def test_a_variable_of_another_name_stands_in(home: Path) -> None:
    assert fetch(asked({"ref": "env:OTHER"}, OTHER=SECRET)) == SECRET
    assert "is not set" in refused({"ref": "env:OTHER"})
    assert "is empty" in refused({"ref": "env:OTHER"}, OTHER="")


# Commands


def test_a_command_is_what_it_prints_with_the_environment_of_the_user(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code = "import os; print(os.environ['VAULT'], os.getcwd(), os.read(0, 9), sep='|')"
    made = fetch(asked(program(code), VAULT=SECRET))
    assert made == f"{SECRET}|{home}|b''"


def test_of_several_lines_those_count_that_the_user_named(home: Path) -> None:
    reference = program(f"print({SECRET!r}, 'user: ada', sep=chr(10))")
    assert "printed 2 lines" in refused(reference)
    assert "secrets.TOKEN.lines first" in refused(reference)
    assert fetch(asked({**reference, "lines": "first"})) == SECRET
    assert fetch(asked({**reference, "lines": "all"})) == f"{SECRET}\nuser: ada"
    assert "first line is empty" in refused({**program("print('\\nx')"), "lines": "first"})


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise SystemExit(3)", "code 3"),
        ("import os; os.kill(os.getpid(), 9)", "signal 9"),
        ("raise SystemExit('no session: sign in first')", "no session: sign in first"),
        (f"print({SECRET!r}); raise SystemExit('+ echo {SECRET}')", "+ echo ***"),
        ("pass", "printed nothing"),
        ("print()", "printed nothing"),
        ("print('x' * 70000)", "more than 65536 bytes"),
        ("import sys; sys.stdout.buffer.write(b'\\xff')", "not UTF-8"),
        ("input('Password: ')", "EOFError"),
        ("open('/dev/tty')", "/dev/tty"),
    ],
)
def test_a_command_that_gives_no_secret_says_why(home: Path, code: str, said: str) -> None:
    assert said in refused(program(code))


def test_a_command_that_never_ends_is_ended_with_what_it_started(
    home: Path, tmp_path: Path
) -> None:
    code = (
        "import os, sys, time\n"
        "if child := os.fork():\n"
        f"    with open({str(tmp_path / 'pid')!r}, 'w') as file:\n"
        "        file.write(str(child))\n"
        "    print('waiting for a finger', file=sys.stderr, flush=True)\n"
        "time.sleep(60)"
    )
    text = refused({**program(code), "timeout_s": 1})
    assert "did not end within 1 s: waiting for a finger" in text
    assert "secrets.TOKEN.timeout_s" in text
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text(encoding="utf-8")), 0)


def test_a_command_that_is_not_there_is_named(home: Path, tmp_path: Path) -> None:
    assert "no program called 'no-such-keeper'" in refused({"command": ["no-such-keeper"]})
    (tmp_path / "plain").write_text("", encoding="utf-8")
    assert "is not executable" in refused({"command": [str(tmp_path / "plain")]})


def test_a_program_of_the_directory_is_never_taken_by_its_name(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "op").write_text("#!/bin/sh\necho planted\n", encoding="utf-8")
    (tmp_path / "op").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert "no program called 'op'" in refused({"command": ["op"]}, PATH=f".:{home}:")


def test_a_command_ends_with_the_call_that_it_is_run_for(home: Path) -> None:
    ending = threading.Event()
    ending.set()
    made = SecretRequest(
        name="TOKEN",
        reference=program("import time; time.sleep(60)"),
        environment=os.environ,
        cancel=ending,
    )
    with pytest.raises(Interrupted):
        fetch(made)


# Programs that keep secrets


def test_pass_keeps_a_secret_with_a_key_of_gnupg(home: Path, tmp_path: Path) -> None:
    for name in ("pass", "gpg"):
        if not shutil.which(name):
            pytest.skip(f"this machine has no {name}")
    # GnuPG's sockets are beside its keys, and such a path must be short.
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        there = {**os.environ, "GNUPGHOME": directory}
        gpg = ["gpg", "--batch", "--pinentry-mode", "loopback", "--passphrase"]
        reference = {"command": ["pass", "show", "github"], "lines": "first", "timeout_s": 20}
        made = SecretRequest(name="TOKEN", reference=reference, environment=there)
        try:
            for passphrase, user in (("", "ada@localhost"), ("phrase", "bob@localhost")):
                make = [*gpg, passphrase, "--quick-generate-key", user, "default", "default"]
                _ran([*make, "never"], there)
                _ran(["pass", "init", user], there)
                _ran(["pass", "insert", "-f", "-m", "github"], there, f"{SECRET}\nuser: ada\n")
                if not passphrase:
                    assert fetch(made) == SECRET
            # There is nobody to ask for the second key's passphrase.
            with pytest.raises(
                SecretUnavailable, match=r"the command pass: it (ended|did not end)"
            ):
                fetch(made)
            missing = replace(made, reference={"command": ["pass", "show", "gitlab"]})
            with pytest.raises(SecretUnavailable, match="gitlab is not in the password store"):
                fetch(missing)
        finally:
            subprocess.run(["gpgconf", "--kill", "all"], env=there, check=False)


def test_age_decrypts_a_file_and_says_when_its_key_is_another(home: Path, tmp_path: Path) -> None:
    for name in ("age", "age-keygen"):
        if not shutil.which(name):
            pytest.skip(f"this machine has no {name}")
    there = dict(os.environ)
    for key in ("key", "other"):
        _ran(["age-keygen", "-o", str(tmp_path / key)], there)
    recipient = _ran(["age-keygen", "-y", str(tmp_path / "key")], there).strip()
    _ran(["age", "-r", recipient, "-o", str(tmp_path / "kept.age")], there, SECRET)

    def reference(key: str) -> dict[str, Any]:
        kept = str(tmp_path / "kept.age")
        return {"command": ["age", "--decrypt", "-i", str(tmp_path / key), kept]}

    assert fetch(asked(reference("key"))) == SECRET
    assert "no identity matched" in refused(reference("other"))


OP = """#!/bin/sh
# As 1Password's documentation has it: `op read` prints a field, and errors begin with [ERROR].
if [ -z "$OP_SERVICE_ACCOUNT_TOKEN" ]; then
  echo '[ERROR] 2026/01/01 00:00:00 No accounts configured for use with 1Password CLI.' >&2
  exit 1
fi
[ "$1 $2" = "read op://work/github/token" ] && echo hunter2-and-more && exit
echo "[ERROR] 2026/01/01 00:00:00 could not read secret '$2': item not found" >&2
exit 1
"""


def test_op_reads_a_field_and_its_errors_are_shown(home: Path, tmp_path: Path) -> None:
    (tmp_path / "op").write_text(OP, encoding="utf-8")
    (tmp_path / "op").chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    field: dict[str, Any] = {"command": ["op", "read", "op://work/github/token"]}
    assert "No accounts configured" in refused(field, PATH=path)
    assert fetch(asked(field, PATH=path, OP_SERVICE_ACCOUNT_TOKEN="ops_x")) == SECRET
    other = {"command": ["op", "read", "op://work/gitlab/token"]}
    assert "item not found" in refused(other, PATH=path, OP_SERVICE_ACCOUNT_TOKEN="ops_x")


def _ran(argv: list[str], environment: dict[str, str], given: str = "") -> str:
    done = subprocess.run(
        argv, env=environment, input=given, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
