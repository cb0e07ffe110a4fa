"""P47: a full disk and a read-only one give one clear line, a failing exit code, and change
nothing; reading goes on.
"""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.ondisk import python_tool, vespe, write_kit

MUTATIONS = (
    ("kit", "install", "./source", "--yes"),
    ("kit", "create", "mine"),
    ("kit", "activate", "file_io_with_git"),
    ("tool", "create", "made", "--type", "python_script"),
    ("tool", "rename", "given", "other"),
    ("trust", "--yes"),
    ("config", "set", "sandbox", "auto"),
)


def mounted(at: Path, options: str) -> bool:
    """Mount a small file system of its own; False where not even root may."""
    at.mkdir()
    if sys.platform != "linux":
        return False
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "none", str(at)], capture_output=True, check=False
    )
    return done.returncode == 0


@pytest.fixture(params=["size=256k", "size=4m,nr_inodes=70"], ids=["no room", "no inodes"])
def small(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """A project and a home on a file system of a few pages, or of a few files."""
    disk = tmp_path / "disk"
    if not mounted(disk, request.param):
        pytest.skip("mounting a small file system takes root on Linux")
    try:
        yield on(disk, monkeypatch)
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def on(disk: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a home, a project with one tool and a kit to install there."""
    for kind in ("config", "data", "state", "cache"):
        monkeypatch.setenv(f"XDG_{kind.upper()}_HOME", str(disk / "home" / kind))
    monkeypatch.setenv("HOME", str(disk / "home"))
    (disk / "project/.vespe/tools").mkdir(parents=True)
    (disk / "home").mkdir()
    python_tool(disk / "project/.vespe/tools/tool-given", "given", "return 1")
    python_tool(write_kit(disk / "project/source", "web") / "tool-a", "one", "return 1")
    return disk


def fill(disk: Path) -> None:
    """Use up what is left: bytes, then names where they are few."""
    try:
        with open(disk / "filler", "wb", buffering=0) as stream:
            while stream.write(bytes(4096)) == 4096:
                pass
    except OSError:
        pass
    try:
        for number in range(100):
            (disk / f"filler-{number}").touch()
    except OSError:
        return


def state(disk: Path) -> dict[str, bytes]:
    """Everything that is there but what only costs time to lose."""
    found = (
        path
        for path in sorted(disk.rglob("*"))
        if not path.name.startswith("filler") and "cache" not in path.relative_to(disk).parts
    )
    return {
        str(path.relative_to(disk)): path.read_bytes() if path.is_file() else b"" for path in found
    }


def files(disk: Path) -> dict[str, bytes]:
    """The state without empty directories: one that was made for what did not come is no harm."""
    return {path: data for path, data in state(disk).items() if (disk / path).is_file()}


@pytest.mark.root
@pytest.mark.parametrize("command", MUTATIONS, ids=" ".join)
def test_p47_where_there_is_no_room_there_is_one_line_and_nothing_changed(
    small: Path, command: tuple[str, ...]
) -> None:
    fill(small)
    before = files(small)
    done = vespe(*command, cwd=small / "project")
    said = [line for line in done.stderr.splitlines() if line.startswith("vespe: error:")]
    assert done.returncode == 1 and len(said) == 1 and "No space left on device" in said[0], (
        done.stderr
    )
    assert files(small) == before


@pytest.mark.root
def test_p47_where_there_is_no_room_what_only_reads_goes_on(small: Path) -> None:
    fill(small)
    for command in (
        ("tool", "list", "--json"),
        ("kit", "list", "--json"),
        ("tool", "show", "given"),
        ("kit", "verify"),
        ("lint",),
    ):
        assert vespe(*command, cwd=small / "project").returncode == 0, command


@pytest.fixture
def read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project and a home on a file system that nobody may write to."""
    disk = tmp_path / "disk"
    if not mounted(disk, "size=8m"):
        pytest.skip("mounting a read-only file system takes root on Linux")
    try:
        on(disk, monkeypatch)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


@pytest.mark.root
@pytest.mark.parametrize("command", MUTATIONS, ids=" ".join)
def test_p47_a_read_only_disk_gives_one_line_and_nothing_changed(
    read_only: Path, command: tuple[str, ...]
) -> None:
    before = state(read_only)
    done = vespe(*command, cwd=read_only / "project")
    assert (
        done.returncode == 1
        and "Read-only file system" in done.stderr
        and "Traceback" not in done.stderr
    ), done.stderr
    assert state(read_only) == before


@pytest.mark.root
def test_p47_on_a_read_only_disk_what_only_reads_goes_on(read_only: Path) -> None:
    for command in (("tool", "list"), ("kit", "list"), ("tool", "show", "given")):
        assert vespe(*command, cwd=read_only / "project").returncode == 0, command


@pytest.mark.parametrize(
    "command",
    [
        ("tool", "create", "made", "--type", "python_script"),
        ("kit", "activate", "file_io_with_git"),
    ],
    ids=" ".join,
)
def test_p47_a_limit_on_file_sizes_is_met_without_a_half_written_file(
    project: Path, command: tuple[str, ...]
) -> None:
    config = project / ".vespe/config.json"
    config.write_text(json.dumps({"active_kits": [], "note": "x" * 5000}), encoding="utf-8")
    before = files(project)
    done = subprocess.run(
        [sys.executable, "-m", "vespe", *command],
        cwd=project,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (40, 40)),
    )
    assert (
        done.returncode == 1 and "File too large" in done.stderr and "Traceback" not in done.stderr
    ), done.stderr
    assert files(project) == before


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_p47_an_output_that_is_full_is_a_failure_and_no_traceback(project: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "vespe", "tool", "list", "--all", "--json"],
            cwd=project,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (
        done.returncode == 1 and b"Traceback" not in done.stderr and b"No space left" in done.stderr
    )
