"""Which level there is: tried, kept until the machine starts again, and never believed when another
wrote it.
"""

import errno
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support import systems
from vespe.processes.sandbox import levels
from vespe.processes.sandbox.levels import Machine

linux = pytest.mark.skipif(os.uname().sysname != "Linux", reason="as Linux has it")


@linux
def test_what_was_tried_is_kept_and_what_is_torn_or_of_another_start_is_tried_again(
    tmp_path: Path,
) -> None:
    found = levels.machine.__wrapped__(str(tmp_path / "cache"))
    kept = tmp_path / "cache" / "sandbox"
    written = kept.read_bytes()
    assert found.level in levels.LEVELS and found.landlock != 99
    # no kernel has it, so that it was read
    told = written.replace(b"\nlandlock=%d\n" % found.landlock, b"\nlandlock=99\n")
    kept.write_bytes(told)
    assert levels.machine.__wrapped__(str(tmp_path / "cache")) == replace(found, landlock=99)
    boot = Path("/proc/sys/kernel/random/boot_id").read_bytes().strip()
    for torn in (
        b"",
        b"\xff",
        told.replace(b"3 ", b"0 ", 1),
        told.replace(boot, boot[::-1]),
        told.replace(b"user:[", b"user:[0", 1),
        told.splitlines()[0],
    ):
        kept.write_bytes(torn)
        assert levels.machine.__wrapped__(str(tmp_path / "cache")) == found
        assert kept.read_bytes() == written


@linux
def test_a_process_that_is_confined_itself_does_not_believe_what_another_found(
    tmp_path: Path,
) -> None:
    code = (
        "import sys; from vespe.processes.sandbox import levels; "
        "print(levels.machine(sys.argv[1]).level)"
    )
    words = (sys.executable, "-c", code, str(tmp_path))
    free = subprocess.run(words, capture_output=True, encoding="utf-8", check=True).stdout
    if free != "namespaces\n":
        pytest.skip(f"no namespaces here to be refused: the level is {free}")
    confined = systems.refusing(systems.NO_NAMESPACES, *words)
    held = subprocess.run(confined, capture_output=True, encoding="utf-8", check=True).stdout
    again = subprocess.run(words, capture_output=True, encoding="utf-8", check=True).stdout
    assert (held, again) == ("landlock\n", "namespaces\n")


@linux
def test_a_trial_that_itself_fails_is_made_again_by_the_next_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = str(tmp_path / "cache")
    with monkeypatch.context() as broken:
        broken.setattr(sys, "executable", "/bin/false")
        assert levels.machine.__wrapped__(place) == Machine()
    assert levels.machine.__wrapped__(place) == levels.machine.__wrapped__(str(tmp_path / "other"))
    assert (tmp_path / "cache/sandbox").exists()


@linux
@pytest.mark.parametrize("short_of", [errno.ENOMEM, errno.EAGAIN])
def test_what_a_machine_was_short_of_for_the_moment_is_not_kept(
    short_of: int, tmp_path: Path
) -> None:
    code = (
        "import sys; from vespe.processes.sandbox import levels; "
        "print(levels.machine(sys.argv[1]).namespaces)"
    )
    for number, is_kept in ((short_of, False), (errno.EPERM, True)):
        words = (sys.executable, "-c", code, str(tmp_path))
        refused = systems.refusing({"unshare": number}, *words)
        said = subprocess.run(refused, capture_output=True, encoding="utf-8", check=True).stdout
        assert said == f"{number}\n" and (tmp_path / "sandbox").exists() is is_kept


@linux
@pytest.mark.parametrize(
    ("machine", "level"),
    [
        (Machine(), "off"),
        (Machine(landlock=7, namespaces=0, filter=0), "namespaces"),
        (Machine(landlock=1, namespaces=1, filter=0), "landlock"),
        (Machine(landlock=0, namespaces=0, filter=0), "off"),
        (Machine(landlock=7, namespaces=0, filter=22), "off"),
        (Machine(seatbelt=True), "seatbelt"),
    ],
)
def test_the_best_level_is_of_what_works(machine: Machine, level: str) -> None:
    assert machine.level == level
