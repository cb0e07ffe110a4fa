"""Tries the table of sandbox escapes on this machine, and returns the result of each row."""

import itertools
import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from vespe.errors import ToolExecutionError
from vespe.features.escapes.canaries import PATH, Canaries, canaries, guarded
from vespe.features.escapes.rows import ROWS, TITLES
from vespe.features.escapes.ways import Way
from vespe.lazy import shutil
from vespe.processes import process
from vespe.processes.child_scripts import ENTER
from vespe.processes.sandbox.held import Policy
from vespe.processes.sandbox.levels import Machine
from vespe.records import dataclass

LEVELS: Final = ("namespaces", "landlock")
"""Those that the table can be tried at."""
TIMEOUT_S: Final = 55.0
_ATTEMPTS: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "attempts.py")
_WORDS: Final = {
    "DISK": "a disk",
    "LOADER": "a dynamic loader at a known place",
    "TCP6": "IPv6",
    "SHARED": "/dev/shm",
    "X86": "an x86-64 processor",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """The result of a row. `verdict` is `held`, `gap` (it got through a known gap), `got_through`,
    `unclear` (it failed, and so did its twin) or `not_tried`; `why` says what happened, or why it
    was not tried.
    """

    row: Way
    verdict: str
    gap: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A table that was tried: at which level, with which gaps that it names in advance, and what
    became of each row.
    """

    level: str
    gaps: tuple[str, ...]
    rows: tuple[Tried, ...]


def try_all(
    machine: Machine, level: str, *, uid: int | None = None, everything: bool = False
) -> Trial:
    """Try the table at a level that the machine has, as this user, or as root as another one.

    With `everything`, it also tries rows that would change the machine if they succeeded. Removes
    all that it creates. Raises ToolExecutionError, TimedOut, StorageError.
    """
    uid = os.getuid() if uid is None else uid
    deadline = time.monotonic() + TIMEOUT_S
    found: list[Tried] = []
    gaps: list[str] = []
    with guarded() as tell:
        for kind, rows in itertools.groupby(_in_order(ROWS), key=lambda row: row.policy):
            with canaries(uid, tell=tell) as made:
                passed = {
                    row: _not_tried(row, level, uid, made.names(), everything) for row in rows
                }
                wanted = [row for row, why in passed.items() if not why]
                held = made.policy(machine, level, kind) if wanted else None
                told = {} if held is None else try_rows(made, held, wanted, deadline)
            gaps += map(_name, held.gaps) if held is not None else ()
            found += [
                told.get(row) or Tried(row=row, verdict="not_tried", why=why)
                for row, why in passed.items()
            ]
    return Trial(level=level, gaps=tuple(dict.fromkeys(gaps)), rows=tuple(found))


def nothing_tried(level: str, why: str) -> Trial:
    """Return the table of a machine on which none of it can be tried."""
    rows = (Tried(row=row, verdict="not_tried", why=why) for row in _in_order(ROWS))
    return Trial(level=level, gaps=(), rows=tuple(rows))


def _in_order(rows: Iterable[Way]) -> list[Way]:
    order = list(TITLES)
    return sorted(rows, key=lambda row: order.index(row.policy))


def _not_tried(row: Way, level: str, uid: int, names: Mapping[str, Any], everything: bool) -> str:
    """Return why a row is not tried; "" where it is."""
    if "home" in row.policy and level == "landlock":
        return "at this level a tool cannot create anything in such a project"
    if row.root_only and uid != 0:
        return "only root can try it"
    if row.needs and not _is_there(row.needs, names):
        return f"needs {_WORDS.get(row.needs, row.needs)}"
    if row.touches and not everything:
        return f"if it succeeded, it would affect {row.touches}"
    return ""


def _is_there(needed: str, names: Mapping[str, Any]) -> bool:
    if needed in names:
        return bool(names[needed])
    return shutil.which(needed, path=PATH) is not None or os.path.exists(needed)


def try_rows(
    made: Canaries, held: Policy, rows: Sequence[Way], deadline: float
) -> dict[Way, Tried]:
    """Try rows under one policy, and judge them by what was said and what came. Raises
    ToolExecutionError, TimedOut.
    """
    said = _said(made, held, rows, deadline)
    came = made.came()
    named = set(map(_name, held.gaps))
    found = {}
    for number, (row, (attack, twin)) in enumerate(zip(rows, said["rows"], strict=True)):
        arrived = number in came or (-1 in came and "TCP" in row.attack)
        left = "LEFT" in row.attack and said["left"]
        if attack.startswith("yes") or arrived or left:
            gap = next((one for one in row.gap.split(", ") if one in named), "")
            verdict = "gap" if gap else "got_through"
            found[row] = Tried(row=row, verdict=verdict, gap=gap, why=attack)
        elif not twin.startswith("yes"):
            found[row] = Tried(row=row, verdict="unclear", why=twin.partition(" ")[2])
        else:
            found[row] = Tried(row=row, verdict="held", why=attack.partition(" ")[2])
    return found


def _name(gap: str) -> str:
    """Return the name of a gap that goes on to say what it leaves open."""
    return gap.partition(":")[0]


def _said(made: Canaries, held: Policy, rows: Sequence[Way], deadline: float) -> dict[str, Any]:
    """Let a process of its own try rows; what it says is as in `attempts.py`."""
    job = {
        "enter": ENTER,
        "uid": made.uid,
        "message": dict(_plain(held)),
        "policy": rows[0].policy,
        "names": made.names(),
        "rows": [{"attack": row.attack, "twin": row.twin} for row in rows],
    }
    command = process.Command(
        argv=(sys.executable, "-I", _ATTEMPTS),
        cwd="/",
        env={"PATH": PATH},
        stdin=json.dumps(job).encode("utf-8"),
        timeout_s=max(deadline - time.monotonic(), 1.0),
        name="the attempt to escape from the sandbox",
    )
    done = process.run(command)
    why = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
    if done.returncode == 0:
        said: dict[str, Any] = json.loads(done.stdout)
        if isinstance(said["rows"], list):
            return said
        why = str(said["rows"])
    raise ToolExecutionError(
        f"the sandbox escapes could not be tried: {why}",
        hint="`vespe doctor` shows the sandbox of this machine",
    )


def _plain(held: Policy) -> Iterator[tuple[str, Any]]:
    """Return a policy's message as JSON carries it."""
    for key, value in held.message.items():
        if key == "rules":
            yield key, [(os.fsdecode(path), rights) for path, rights in value]
        elif key == "filter":
            yield key, value.hex()
        elif key == "namespaces" and value:
            yield key, {name: _decoded(one) for name, one in value.items()}
        else:
            yield key, value


def _decoded(value: Any) -> Any:
    if isinstance(value, list):
        return [os.fsdecode(one) for one in value]
    return os.fsdecode(value) if isinstance(value, bytes) else value
