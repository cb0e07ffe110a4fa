"""Kits, by the clock: an install beside `git clone`, and `kit sync` where there is nothing to do."""

import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.axes import Axis, bounded, compared
from tests.benchmarks.kit_install import GIT, install, repository, timed
from tests.support.ondisk import python_tool, write_kit

_KITS = 50
_ROUNDS = 5


def axes(scratch: Path) -> Iterator[Axis]:
    """Measure a large kit, then many small ones."""
    yield _install(scratch / "large")
    yield _sync(scratch / "many")


def _install(root: Path) -> Axis:
    root.mkdir()
    source, clones, installs = repository(root, 1000), [], []
    for number in range(_ROUNDS):
        clone = [*GIT, "clone", "-q", f"file://{source}", str(root / f"clone-{number}")]
        clones.append(timed(clone, cwd=root, home=root / "home")[0] * 1000)
        seconds, code = install(root, source, number)
        if code:
            raise RuntimeError(f"vespe kit install ended with {code}")
        installs.append(seconds * 1000)
    _writable(root)
    return compared(
        "vespe kit install of 1,000 tools",
        "ms",
        (installs, clones),
        peer="git clone",
        goal=2,
        more=False,
    )


def _sync(root: Path) -> Axis:
    project, home = root / "project", root / "home"
    (project / ".vespe").mkdir(parents=True)
    for number in range(_KITS):
        source = root / f"source-{number}"
        kit = write_kit(source, f"kit_{number}")
        python_tool(kit / "tool-one", f"one_{number}", "return 1")
        for arguments in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-qm", "first")):
            subprocess.run([*GIT, "-C", str(source), *arguments], check=True)
        _vespe(project, home, "kit", "install", str(source), "--yes")
    taken = [_vespe(project, home, "kit", "sync") for _ in range(_ROUNDS)]
    _writable(root)
    name = f"vespe kit sync of {_KITS} kits, nothing to do"
    return bounded(name, "ms", statistics.median(taken) * 1000, at_most=300)


def _vespe(project: Path, home: Path, *arguments: str) -> float:
    seconds, code = timed([sys.executable, "-m", "vespe", *arguments], cwd=project, home=home)
    if code:
        raise RuntimeError(f"vespe {' '.join(arguments)} ended with {code}")
    return seconds


def _writable(root: Path) -> None:
    """Let what was installed be removed."""
    subprocess.run(["chmod", "-R", "u+w", str(root)], check=True)
    shutil.rmtree(root)
