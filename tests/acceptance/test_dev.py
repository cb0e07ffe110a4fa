"""The script that sets the repository up: what it says of itself, and that it asks for nothing
twice.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.ondisk import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "dev"
NOWHERE = "no-such-python"

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def dev(tmp_path: Path) -> Run:
    """Run a copy of the script that stands beside a pyproject.toml alone, from another
    directory.
    """
    repository = tmp_path / "a repository"
    repository.mkdir()
    shutil.copy(SCRIPT, repository)
    (repository / "pyproject.toml").touch()

    def run(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(repository / "dev"), *words],
            cwd=tmp_path,
            env={**os.environ, "PYTHON": NOWHERE, "VENV": ".venv", **variables},
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=PATIENCE_S,
            check=False,
        )

    return run


@pytest.fixture
def environment(tmp_path: Path, dev: Run) -> Path:
    """The virtual environment of that copy, with this one's command in it; nothing is installed."""
    made = tmp_path / "a repository" / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(made)], check=True)
    (made / "bin/vespe").write_text(
        f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m vespe "$@"\n', encoding="utf-8"
    )
    (made / "bin/vespe").chmod(0o755)
    return made


def test_the_usage_lists_the_commands_that_exist(dev: Run) -> None:
    script = SCRIPT.read_text(encoding="utf-8")
    said = dev("help")
    listed = re.findall(r"^  ([a-z]+)  ", said.stdout, re.MULTILINE)
    accepted = re.search(r"^    ([a-z |]+)\) ;;$", script, re.MULTILINE)
    assert said.returncode == 0 and accepted is not None
    assert listed == accepted[1].split(" | ") == re.findall(r"^do_(\w+)\(\)", script, re.MULTILINE)
    assert dev("--help").stdout == dev("-h").stdout == said.stdout


def test_a_word_that_is_no_command_is_a_usage_error_before_anything_is_done(
    dev: Run, environment: Path
) -> None:
    said = dev("clean", "demonstrate")
    assert said.returncode == 2 and said.stdout == "" and environment.exists()
    assert (
        said.stderr
        == "dev: there is no command 'demonstrate'; `./dev help` lists those that there are\n"
    )
    assert dev("").returncode == dev("--quiet").returncode == 2


def test_without_a_command_the_usage_is_an_error(dev: Run) -> None:
    said = dev()
    assert said.returncode == 2 and said.stdout == "" and said.stderr == dev("help").stdout


def test_what_was_installed_is_not_installed_again_until_what_it_was_made_from_changes(
    dev: Run, environment: Path
) -> None:
    (environment / ".installed").touch()
    said = dev("demo")
    assert said.returncode == 0, said.stderr
    assert "vespe" in said.stdout
    os.utime(environment / ".installed", (1, 1))
    said = dev("demo")
    assert said.returncode == 1 and said.stderr.startswith(f"dev: {NOWHERE} has no pip")


def test_a_python_that_is_missing_or_too_old_is_a_sentence(dev: Run, tmp_path: Path) -> None:
    said = dev("demo")
    assert said.returncode == 1
    assert (
        said.stderr == f"dev: there is no {NOWHERE}: install Python 3.11 or later, or name one, "
        "such as PYTHON=python3.13\n"
    )
    older = tmp_path / "python3.10"
    older.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    older.chmod(0o755)
    assert "is not Python 3.11 or later" in dev("test", PYTHON=str(older)).stderr


def test_cleaning_removes_a_virtual_environment_and_nothing_else(
    dev: Run, environment: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    said = dev("clean", VENV=str(tmp_path / "mine"))
    assert (
        said.returncode == 1
        and "is not a virtual environment: nothing was removed" in said.stderr
        and (tmp_path / "mine").exists()
    )
    assert dev("clean").returncode == 0 and not environment.exists()
    assert dev("clean").returncode == 0
