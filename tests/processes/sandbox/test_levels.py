"""Which level there is: tried, kept until the machine starts again, and never believed when another
wrote it.
"""

import os
from pathlib import Path

import pytest

from vespe.processes.sandbox import levels
from vespe.processes.sandbox.levels import Machine


def test_what_was_tried_is_kept_and_what_is_torn_or_of_another_start_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = levels.machine.__wrapped__(str(tmp_path / "cache"))
    kept = tmp_path / "cache" / "sandbox"
    assert kept.is_file() and found.level in levels.LEVELS
    monkeypatch.setattr(levels, "tried", lambda: Machine(landlock=99))
    assert levels.machine.__wrapped__(str(tmp_path / "cache")) == found
    for torn in (
        b"",
        b"\xff",
        kept.read_bytes().replace(b"1 ", b"0 ", 1),
        kept.read_bytes().splitlines()[0],
    ):
        kept.write_bytes(torn)
        assert levels.machine.__wrapped__(str(tmp_path / "cache")).landlock == 99


@pytest.mark.skipif(os.uname().sysname != "Linux", reason="as Linux has it")
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
