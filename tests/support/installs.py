"""Installations of Vespe other than this one: a copy of the package, whole or without a part, and
an environment without some libraries.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import vespe
from tests.support.ondisk import PATIENCE_S

PACKAGE = Path(vespe.__file__).parent
CHECKOUT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Install:
    """An interpreter, and the directory that it imports `vespe` from."""

    directory: Path
    python: str = sys.executable

    def run(self, *arguments: str, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
        """Run Python with these arguments; it must end within PATIENCE_S."""
        return subprocess.run(
            [self.python, "-B", *arguments],
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": str(self.directory), "PYTHONSAFEPATH": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE_S,
            check=False,
        )

    def printed(self, code: str, *arguments: str) -> str:
        """Run a program that must not fail, and return what it printed."""
        done = self.run("-c", code, *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


def copy_package(
    place: Path, *, without: Collection[str] = (), copy: Callable[[str, str], Any] = shutil.copy2
) -> Install:
    """Copy the package to `place/vespe`, without the files and directories at those paths in it.

    Its files may be changed, unless `copy` is `os.link`, which is quicker. What was compiled comes
    along: without it each process would take two seconds of work to compile the package again.
    """
    gone = {PACKAGE / path for path in without}

    def ignored(directory: str, names: list[str]) -> set[str]:
        return {name for name in names if Path(directory, name) in gone}

    shutil.copytree(PACKAGE, place / "vespe", copy_function=copy, ignore=ignored)
    return Install(place)


def install_without(place: Path, *modules: str) -> Install:
    """Make a virtual environment at `place` with all that this one has, but some modules."""
    venv.create(place, symlinks=True)
    packages = next(place.glob("lib/python*/site-packages"))
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if entry.name not in modules:
            (packages / entry.name).symlink_to(entry)
    return Install(CHECKOUT, str(place / "bin/python"))
