"""The table of sandbox escapes: attacks succeed only through named gaps, their twins work, and
every attack succeeds without a sandbox.
"""

import os
import shutil
import time
from typing import Any

import pytest

from tests.support import render_escapes
from vespe.features.escapes import trial
from vespe.features.escapes.canaries import PATH, canaries
from vespe.features.escapes.rows import ROWS, TITLES
from vespe.features.escapes.ways import Way
from vespe.processes.sandbox import levels
from vespe.processes.sandbox.held import Policy

MACHINE = levels.machine()
USERS = {"root": 0, "user": os.getuid() or 65534}
HERE = trial.LEVELS[trial.LEVELS.index(MACHINE.level) :] if MACHINE.level in trial.LEVELS else ()
BY_USER = pytest.mark.parametrize("user", ["user", pytest.param("root", marks=pytest.mark.root)])

pytestmark = pytest.mark.skipif(not HERE, reason=f"this machine has {MACHINE.level!r}")


@pytest.mark.parametrize("level", trial.LEVELS)
@BY_USER
def test_nothing_leads_out_but_a_gap_that_was_named_and_what_is_allowed_works_beside_each(
    user: str, level: str
) -> None:
    if level not in HERE:
        pytest.skip(f"this machine has {MACHINE.level!r}")
    found = trial.try_all(MACHINE, level, uid=USERS[user], everything=True)
    assert {one.row for one in found.rows} == set(ROWS)
    wrong = {
        one.row.name: (one.verdict, one.why)
        for one in found.rows
        if one.verdict in ("got_through", "unclear")
    }
    assert wrong == {}
    gaps = {gap.partition(":")[0] for gap in found.gaps}
    named = {one.gap.partition(":")[0] for one in found.rows if one.verdict == "gap"}
    assert named <= gaps and (level == "landlock") == ("metadata" in named)
    assert sum(one.verdict == "held" for one in found.rows) >= 110
    unasked = {one.why for one in found.rows if one.verdict == "not_tried"}
    assert not {why for why in unasked if why.startswith("if it succeeded")}


OF_OLD_KERNELS = ("signals", "truncate")
OPEN = {
    # what the machine refuses, whoever asks
    "open /etc/shadow": "user",
    "read a key after chroot": "user",
    "create a device file in the project": "user",
    "signal the parent process": "user",
    "change the priority of a process group": "user",  # root is in the group, too
    "read the parent process's limits": "user",
    "change the limits of process 1": "user",
    "mount a file system": "user",
    "unmount the home directory": "user",
    "remount the home directory without the read-only flag": "user",
    "change the root directory (pivot_root)": "user",
    "keep capabilities of root": "user",
    "open a raw socket": "user",
    "open a packet socket": "user",
    "unmount what hides the project's .ssh": "user",
    "enter the mount namespace of process 1 (setns)": "user root",
    "regain capabilities (capset)": "user root",
    "start programs that gain privileges (NoNewPrivs not set)": "user root",  # nobody can who has entered any policy
    "load a kernel module": "root",  # a kernel may have none
    "count the events of another process (perf_event_open)": "user",
    "copy the mount of a directory (open_tree)": "user",
    "open a new file system (fsopen)": "user",
    "open the kernel log for writing (/dev/kmsg)": "user",
    "open /dev/fuse": "user",
}


@BY_USER
def test_where_nothing_holds_it_each_way_is_one(user: str) -> None:
    """A row that fails whoever tries it would be held by anything."""
    uid = USERS[user]
    wrong: dict[str, str] = {}
    nothing = {"made": [], "rules": [], "handled": 0, "scoped": 0, "capabilities": (1 << 41) - 1}
    held = Policy(level="off", message={**nothing, "memory": 0, "filter": b"", "namespaces": None})
    for kind in TITLES:
        with canaries(uid) as made:
            names = made.names()
            rows = [row for row in ROWS if row.policy == kind and _can_be_tried(row, uid, names)]
            told = trial.try_rows(made, held, rows, time.monotonic() + 50)
        wrong |= {
            row.name: told[row].why
            for row in rows
            if told[row].verdict != "got_through"
            and user not in OPEN.get(row.name, "").split()
            and "Function not implemented" not in told[row].why
        }
    assert wrong == {}


def _can_be_tried(row: Way, uid: int, names: dict[str, Any]) -> bool:
    there = not row.needs or shutil.which(row.needs, path=PATH) or os.path.exists(row.needs)
    return (
        not row.touches and (uid == 0 or not row.root_only) and bool(there or names.get(row.needs))
    )


@pytest.mark.parametrize("level", trial.LEVELS)
def test_the_page_says_what_became_of_each(level: str) -> None:
    if level not in HERE:
        pytest.skip(f"this machine has {MACHINE.level!r}")
    page = render_escapes.PAGE.read_text(encoding="utf-8")
    column = 1 + trial.LEVELS.index(level)
    lines = [line.strip("| ") for line in page.splitlines() if line.startswith("| ")]
    cells = [cell for line in lines if len(cell := line.split(" | ")) == 3]
    said = {row[0].removesuffix(" (as root)"): row[column] for row in cells}
    wrong = {}
    for one in trial.try_all(MACHINE, level, everything=True).rows:
        told = said[one.row.name].partition(";")[0]
        found = f"gap `{one.gap}`" if one.gap else one.verdict.replace("_", " ")
        unasked = one.verdict == "not_tried" and (one.row.needs or one.row.root_only)
        if told != found and one.gap not in OF_OLD_KERNELS and not unasked:
            wrong[one.row.name] = told, found
    assert wrong == {}


def test_what_would_touch_the_machine_is_not_tried_unless_everything_is() -> None:
    found = {one.row.name: one for one in trial.try_all(MACHINE, HERE[-1]).rows}
    assert {name for name, one in found.items() if one.why.startswith("if it succeeded")} == {
        row.name for row in ROWS if row.touches and (os.getuid() == 0 or not row.root_only)
    }
    assert "your other processes" in found["lower the priority of all processes of the user"].why
