"""Writing locks: by pip's report, and by uv where there is one."""

import hashlib
import os
import shutil
from pathlib import Path

import pytest

from tests.types.python_script.test_environments import OFFLINE, distribution
from vespe.errors import InvalidDocument, ToolExecutionError
from vespe.tools.python.script_lock import Lock, read_requirements
from vespe.tools.python.script_metadata import Metadata
from vespe.types.python_script.environments import interpreter
from vespe.types.python_script.locking import digest_of, lock_of

SOURCE = b"# /// script\n# dependencies = ['greeting']\n# ///\n"
ASKED = Metadata(dependencies=("greeting",))


def test_pip_locks_and_the_lock_is_what_is_installed(home: Path, tmp_path: Path) -> None:
    distribution(tmp_path, "greeting")
    environment = OFFLINE | {"PIP_FIND_LINKS": str(tmp_path)}
    made = lock_of(SOURCE, ASKED, environment=environment)
    lines = read_requirements(made, ASKED, path="l")
    assert lines[0].startswith("greeting==1.0 --hash=sha256:") and len(lines) == 1
    python = interpreter(
        ASKED.dependencies, lock=Lock(data=made, metadata=ASKED, path="l"), environment=environment
    )
    assert os.path.exists(python)
    (tmp_path / "greeting-1.0-py3-none-any.whl").write_bytes(
        (tmp_path / "greeting-1.0-py3-none-any.whl").read_bytes() + b"\0"
    )
    other = Lock(data=made + b"# another", metadata=ASKED, path="l")
    with pytest.raises(InvalidDocument, match=r"l: has another hash .*: greeting==1\.0") as caught:
        interpreter(ASKED.dependencies, lock=other, environment=environment)
    assert "`vespe tool lock`" in caught.value.hint and "network" not in caught.value.hint


def test_what_an_older_pip_says_of_a_file_is_enough(tmp_path: Path) -> None:
    file = tmp_path / "a b.whl"
    file.write_bytes(b"bytes")
    here, digest = file.as_uri(), hashlib.sha256(b"bytes").hexdigest()
    said = [
        {"hashes": {"sha256": "1", "md5": "2"}, "hash": "md5=2"},
        {"hash": "sha256=3"},
        {"hash": "md5=2"},
        {},
        None,
    ]
    assert [digest_of({"url": "https://a.example/a.whl", "archive_info": one}) for one in said] == [
        "1",
        "3",
        "",
        "",
        "",
    ]
    assert [digest_of({"url": here, "archive_info": one}) for one in said] == [
        "1",
        "3",
        digest,
        digest,
        "",
    ]


def test_a_lock_that_does_not_fit_its_script_installs_nothing(home: Path) -> None:
    other = Lock(
        data=b'version = 1\n[manifest]\nrequirements = [{ name = "other" }]\n',
        metadata=ASKED,
        path="main.py.lock",
    )
    with pytest.raises(InvalidDocument, match=r"main\.py\.lock: locks something else"):
        interpreter(ASKED.dependencies, lock=other, environment=OFFLINE)


def test_what_cannot_be_locked_is_named(home: Path) -> None:
    with pytest.raises(
        ToolExecutionError, match="the dependency no-such-thing cannot be installed"
    ):
        lock_of(SOURCE, Metadata(dependencies=("no-such-thing",)), environment=OFFLINE)


@pytest.mark.skipif(shutil.which("uv") is None, reason="uv is not on PATH")
def test_uv_locks_where_it_is_and_is_told_where_packages_are(home: Path, tmp_path: Path) -> None:
    distribution(tmp_path, "greeting")
    uv = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "UV_FIND_LINKS": str(tmp_path),
        "UV_NO_INDEX": "1",
        "UV_OFFLINE": "1",
    }
    python = interpreter(("greeting",), environment=uv)
    assert os.path.exists(python)
    with pytest.raises(
        ToolExecutionError,
        match=r"the dependency no-such-thing cannot be installed: .*no-such-thing",
    ):
        interpreter(("no-such-thing",), environment=uv)
