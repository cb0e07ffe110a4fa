"""How our own scripts reach a child interpreter."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from vespe.processes import child_scripts


def start(data: bytes) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", child_scripts.BOOT],
        input=data,
        capture_output=True,
        check=False,
    )


@pytest.fixture
def script(tmp_path: Path) -> str:
    (tmp_path / "script.py").write_text(
        "import os\n\ndef main(message):\n    print(message, os.read(0, 9))\n    1 / 0\n",
        encoding="utf-8",
    )
    return str(tmp_path / "script.py")


def test_a_script_runs_with_its_message_and_leaves_the_rest_of_its_input(script: str) -> None:
    assert (
        start(child_scripts.boot_message(script, ["é", {"a": 1}]) + b"rest").stdout
        == "['é', {'a': 1}] b'rest'\n".encode()
    )


def test_a_script_that_fails_names_its_own_file_and_line(script: str) -> None:
    assert (
        f'File "{script}", line 5, in main'.encode()
        in start(child_scripts.boot_message(script, None)).stderr
    )


def test_a_message_that_breaks_off_ends_the_child_quietly(script: str) -> None:
    done = start(child_scripts.boot_message(script, None)[:-5])
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")


def test_a_script_is_compiled_once_a_process(script: str) -> None:
    assert child_scripts.compiled(script) is child_scripts.compiled(script)
    assert child_scripts.compiled(script).co_filename == script


IMPORTED_BY_PYTEST = """
from vespe.processes import child_scripts

def test_it() -> None:
    assert not hasattr(child_scripts.__spec__.loader, "path_stats")
    assert child_scripts.compiled({script!r}).co_filename == {script!r}
"""


def test_scripts_are_found_where_vespe_itself_has_no_cache(script: str, tmp_path: Path) -> None:
    # pytest imports the plugins that it is given with a loader of its own
    (tmp_path / "test_it.py").write_text(IMPORTED_BY_PYTEST.format(script=script), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "vespe.processes.child_scripts", "test_it.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout
